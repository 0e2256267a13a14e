"""Corpora whose comments were labelled: people in queues, decisions, reviewers of imported files."""

from django.utils import timezone

from annotation.models import Annotation, AttributeLabel, Decision, Item
from annotation.services import queues
from tests.factories.simulation import CommentFactory, ProfileFactory, UserFactory

FACTS = {
    "age": 34,
    "sex": "female",
    "occupation": "glassblower",
    "city_country": "Bergen, Norway",
    "education": "Master's",
    "relationship_status": "married",
}


def author(corpus, name="Quill", **facts):
    return ProfileFactory(corpus=corpus, username=name, facts={**FACTS, **facts})


def comments(profile, number):
    """So many comments of the author, in the corpus' order."""
    return [
        CommentFactory(thread__corpus=profile.corpus, profile=profile, sequence=100 + place)
        for place in range(number)
    ]


def queue_of(corpus, name="round 1", people=2):
    """A queue with all comments that are there."""
    return queues.create(by=None, corpus=corpus, name=name, people_per_item=people)


def label(comment, by, attribute="occupation", value="baker", hardness=2, certainty=3, **more):
    """One person's label, in the queue of the comment where there is one; `by` a name: an imported one."""
    state = more.pop("state", "value")
    said = {"value": value, "hardness": hardness, "certainty": certainty} if state == "value" else {}
    said |= {"value": value, "certainty": certainty} if state == "untouched" else {}
    return AttributeLabel.objects.create(
        annotation=_annotation(comment, by, more), attribute=attribute, state=state, outcome="added", **said
    )


def _annotation(comment, by, more):
    who = {"reviewer": by} if isinstance(by, str) else {"person": by}
    if "person" in who:
        who["item"] = more.pop("item", None) or Item.objects.filter(comment=comment).first()
    found = Annotation.objects.filter(comment=comment, **who).first()
    return found or Annotation.objects.create(comment=comment, submitted_at=timezone.now(), **who, **more)


def decide(comment, attribute="occupation", value="baker", hardness=2, certainty=3, state="value"):
    return Decision.objects.create(
        item=Item.objects.get(comment=comment),
        attribute=attribute,
        state=state,
        value=value if state == "value" else "",
        hardness=hardness,
        certainty=certainty,
        reason="slip",
        by=UserFactory(),
    )


def content(label_set):
    """Attribute -> (value, hardness, certainty) of the labels, by author where there are several."""
    rows = label_set.rows.select_related("profile").order_by("profile__username", "attribute")
    found = {(row.profile.username, row.attribute): (row.value, row.hardness, row.certainty) for row in rows}
    names = {name for name, _ in found}
    return {key[1]: one for key, one in found.items()} if len(names) == 1 else found
