"""The labeler's way in two statements stores and takes exactly what the steps would."""

import uuid

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, Quote, State
from annotation.models import Annotation, Draft, Queue, Slot, Submission
from annotation.selectors import tallies
from annotation.services import at_once, claims, drafts, review
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, MembershipFactory

pytestmark = pytest.mark.database
NONE = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}


@pytest.fixture
def queue(corpus):
    for number in range(4):
        SuggestionFactory(comment=CommentFactory(thread__corpus=corpus, text=f"Number {number}."))
    return queue_over(corpus)


def labels(item):
    quote = Quote(item.comment.public_id, 0, 6, "Number")
    return {
        **NONE,
        "age": Label(State.VALUE, Outcome.CONFIRMED, "30", 2, 4, (quote,), bulk=True),
        "occupation": Label(State.UNSURE, Outcome.UNSURE),
    }


def submit(person, item, **more):
    given = {
        "submission_id": uuid.uuid4(),
        "labels": labels(item),
        "suggestions": {row.attribute: row for row in item.comment.suggestions.all()},
        "now": timezone.now(),
        "base_version": 0,
        "note": "a note with “signs” 👩‍👩‍👧",
        "active_ms": 1200,
        "wall_ms": 3400,
        "arm": "assisted",
    }
    return review.submit(by=person, item=item, **{**given, **more})


def rows_of(annotation):
    """Everything that is stored about an answer, without keys and times."""
    skipped = {"id", "public_id", "annotation_id", "item_id", "comment_id", "person_id", "at", "submitted_at"}

    def plain(row):
        values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
        return {name: value for name, value in values.items() if name not in skipped}

    annotation.refresh_from_db()
    label_rows = [plain(row) for row in annotation.labels.order_by("id")]
    for row in label_rows:
        row["suggestion_id"] = row["suggestion_id"] is not None
        row["evidence"] = [{**quote, "comment": "…"} for quote in row["evidence"]]
    events = [plain(row) for row in annotation.events.order_by("id")]
    for row in events:
        if "evidence" in row["new"]:
            row["new"]["evidence"] = [{**quote, "comment": "…"} for quote in row["new"]["evidence"]]
    slot = Slot.objects.get(item=annotation.item_id)
    return plain(annotation), label_rows, events, (slot.state, slot.leased_until, slot.lease_token)


def test_both_ways_store_the_same_rows(labeler, queue, monkeypatch):
    one = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    quick = submit(labeler, one)
    two = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    monkeypatch.setattr(at_once, "store", lambda **_: False)
    by_steps = submit(labeler, two)
    assert rows_of(quick.annotation) == rows_of(by_steps.annotation)
    assert (quick.replayed, quick.changed) == (by_steps.replayed, 8)
    assert tallies.standing(labeler, queue).own.done == 2
    assert Submission.objects.count() == 2


def test_the_quick_way_is_the_one_that_is_taken(labeler, queue, monkeypatch):
    item = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    drafts.save(by=labeler, item=item, base_version=0, stamp=1, fields={"note": "x"}, now=timezone.now())
    monkeypatch.setattr(review, "_step_by_step", None)
    monkeypatch.setattr(claims, "_claim_step_by_step", None)
    submit(labeler, item)
    assert not Draft.objects.exists()
    following = claims.claim_next(by=labeler, queue=queue, now=timezone.now(), after=item.position)
    assert following.position == item.position + 1


def test_both_ways_take_the_same_slot_with_the_same_fields(labeler, queue, monkeypatch):
    now = timezone.now()
    quick = claims.claim_next(by=labeler, queue=queue, now=now, after=1)
    assert (quick.item.comment.text, quick.item.queue, quick.has_draft) == ("Number 1.", queue, False)
    assert [row.words[0] for row in quick.suggested] == ["30"]
    kept = Slot.objects.get(pk=quick.pk)
    assert (kept.state, kept.person, kept.leased_until) == ("leased", labeler, now + claims.LEASE)
    assert kept.lease_token == quick.lease_token
    other = MembershipFactory().person
    monkeypatch.setattr(at_once, "take", lambda **_: None)
    assert claims.claim_next(by=other, queue=queue, now=now, after=1).position == quick.position + 1


def test_who_holds_one_already_gets_that_one(labeler, queue):
    held = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    again = claims.claim_next(by=labeler, queue=queue, now=timezone.now(), after=held.position)
    assert again.pk == held.pk


def test_a_queue_shows_the_suggestions_of_its_own_tagger_or_none(labeler, queue):
    comment = queue.items.order_by("position")[1].comment
    SuggestionFactory(comment=comment, tagger="other", guesses=["60"])
    for changes, words in (({"tagger": "other"}, ["60"]), ({"assisted": False, "tagger": ""}, [])):
        Queue.objects.update(**changes)
        queue.refresh_from_db()
        Slot.objects.update(state="open", person=None, leased_until=None, lease_token=None)
        slot = claims.claim_next(by=labeler, queue=queue, now=timezone.now(), after=1)
        assert [row.words[0] for row in slot.suggested] == words


def test_a_known_submission_id_of_another_item_stores_nothing(labeler, queue):
    press = uuid.uuid4()
    first = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    submit(labeler, first, submission_id=press)
    second = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    with pytest.raises(PermissionError):
        submit(labeler, second, submission_id=press)
    assert Annotation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("people", [1, 2])
def test_submitting_and_getting_the_next_comment_takes_few_queries(
    client_of, labeler, queue, django_assert_max_num_queries, people
):
    Queue.objects.update(people_per_item=people)
    browser = client_of(labeler)
    page = browser.get(reverse("review", args=[queue.public_id])).context
    for _ in range(2):
        names = ("submission_id", "ticket", "lease_token", "base_version", "stage")
        sent = {**{name: str(page[name]) for name in names}, "act": "rest", "age-choice": "none"}
        url = reverse("review_item", args=[queue.public_id, page["item"].public_id])
        # Session, person, queue, item; store; take; numbers, tree. Comparing with others takes five more.
        with django_assert_max_num_queries(8 if people == 1 else 13):
            page = browser.post(url, sent, headers={"HX-Request": "true"}).context
    assert page["stage"] == "final"
