"""Labels of profiles from what people said of comments: every policy, and what counts."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, AttributeLabel, Queue
from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet
from evaluation.selectors.label_sources import Sources
from evaluation.services import label_sets
from evaluation.services.label_sets import BadLabels, Several
from simulation.models import AuditEntry, Comment
from tests.evaluation.label_ground import author, comments, content, decide, label, queue_of
from tests.factories.simulation import CommentFactory, UserFactory

pytestmark = pytest.mark.django_db
LEAST = Policy.MINIMUM_HARDNESS


def rolled(corpus, policy=LEAST, name="ours", **options):
    return label_sets.roll_up_corpus(corpus, name=name, policy=policy, **options)


@pytest.fixture
def lea():
    return UserFactory(username="lea")


@pytest.fixture
def max_():
    return UserFactory(username="max")


@pytest.mark.parametrize(
    ("policy", "chosen"),
    [
        (Policy.MINIMUM_HARDNESS, ("weaver", 1, 2)),
        (Policy.FIRST_COMMENT_BLOCKS, ("dyer", None, 5)),
        (Policy.MOST_CERTAIN, ("tailor", 3, 5)),
        (Policy.LATEST, ("baker", 4, 1)),
        (Policy.MOST_FREQUENT, ("baker", 2, 1)),
    ],
)
def test_every_policy_chooses_its_comment(corpus, policy, chosen):
    profile = author(corpus)
    said = comments(profile, 6)
    label(said[0], "file", value="dyer", certainty=5, state="untouched")
    label(said[1], "file", value="tailor", hardness=3, certainty=5)
    label(said[2], "file", value="weaver", hardness=1, certainty=2)
    label(said[3], "file", value="baker", hardness=2, certainty=1)
    label(said[4], "file", value="dyer", certainty=5, state="untouched")
    label(said[5], "file", value="Baker", hardness=4, certainty=1)
    label(said[1], "file", "age", "30")
    made = rolled(corpus, policy)
    found = content(made)
    assert (found["occupation"][0].lower(), *found["occupation"][1:]) == chosen
    assert found["age"] == ("30", 2, 3)
    is_blocked = chosen[1] is None
    assert (made.labels, made.profiles, made.kind, made.policy) == (2 - is_blocked, 1, "rolled_up", policy)
    assert made.recipe["counts"].get("blocked", 0) == is_blocked
    places = {"dyer": 0, "tailor": 1, "weaver": 2, ("baker", 2, 1): 3, ("baker", 4, 1): 5}
    place = places.get(chosen, places.get(chosen[0]))
    assert made.rows.get(attribute="occupation").comment == said[place]


def test_an_untouched_suggestion_blocks_in_the_first_comment_only(corpus):
    profile = author(corpus)
    _, second, third = comments(profile, 3)
    label(second, "file", value="dyer", state="untouched")
    label(third, "file", value="weaver")
    assert content(rolled(corpus, Policy.FIRST_COMMENT_BLOCKS)) == {"occupation": ("weaver", 2, 3)}


def test_a_decision_without_hardness_on_a_later_comment_blocks_nothing(corpus, lea):
    _, second, third = comments(author(corpus), 3)
    queue_of(corpus)
    decide(second, value="dyer", hardness=None)
    label(third, lea, value="weaver")
    for policy in (LEAST, Policy.FIRST_COMMENT_BLOCKS):
        assert content(rolled(corpus, policy, name=policy)) == {"occupation": ("weaver", 2, 3)}


def test_the_order_of_the_corpus_counts_and_not_that_of_the_answers(corpus, lea):
    profile = author(corpus)
    first, second = comments(profile, 2)
    queue_of(corpus)
    label(second, lea, value="weaver")
    label(first, lea, value="dyer")
    made = rolled(corpus)
    assert content(made) == {"occupation": ("dyer", 2, 3)}
    assert made.rows.get().comment == first


def test_a_decision_stands_in_place_of_the_labels_of_its_item(corpus, lea, max_):
    (comment,) = comments(author(corpus), 1)
    queue_of(corpus)
    label(comment, lea, value="dyer", hardness=1)
    label(comment, max_, value="weaver")
    decide(comment, value="baker", hardness=3)
    assert content(rolled(corpus)) == {"occupation": ("baker", 3, 3)}
    assert content(rolled(corpus, name="people", use_decisions=False)) == {"occupation": ("dyer", 1, 3)}


def test_a_decision_that_there_is_no_evidence_leaves_no_label(corpus, lea):
    (comment,) = comments(author(corpus), 1)
    queue_of(corpus)
    label(comment, lea, value="dyer")
    label(comment, lea, "age", "30")
    decide(comment, state="none", hardness=None, certainty=None)
    assert content(rolled(corpus)) == {"age": ("30", 2, 3)}


def test_answers_that_came_too_many_do_not_count(corpus, lea):
    (comment,) = comments(author(corpus), 1)
    queue_of(corpus)
    label(comment, lea, value="dyer", over_quota=True)
    with pytest.raises(BadLabels, match="No label"):
        rolled(corpus)
    assert not LabelSet.objects.exists()


def test_queues_in_the_trash_and_withdrawn_comments_do_not_count(corpus, lea):
    one, two = comments(author(corpus), 2)
    queue = queue_of(corpus)
    label(one, lea, value="dyer", hardness=1)
    label(two, lea, value="weaver")
    decide(one, "age", "30")
    Comment.objects.filter(pk=one.pk).update(state="withdrawn")
    made = rolled(corpus)
    assert content(made) == {"occupation": ("weaver", 2, 3)}
    assert made.recipe["counts"]["withdrawn"] == 2
    Queue.objects.filter(pk=queue.pk).update(trashed_at=timezone.now())
    with pytest.raises(BadLabels):
        rolled(corpus, name="again")


def three_say(corpus, *answers):
    """Each answer: value and hardness, or a state. All of one comment."""
    (comment,) = comments(author(corpus), 1)
    queue_of(corpus, people=len(answers))
    for place, one in enumerate(answers):
        said = {"state": one} if isinstance(one, str) else {"value": one[0], "hardness": one[1]}
        label(comment, UserFactory(username=f"person-{place}"), **said)
    label(comment, "file", "age", "30")


@pytest.mark.parametrize(
    ("answers", "majority", "first", "all_agree"),
    [
        ([("dyer", 3), ("weaver", 2), ("Weaver", 4)], ("weaver", 2), ("dyer", 3), None),
        ([("dyer", 3), ("weaver", 2)], ("weaver", 2), ("dyer", 3), None),
        ([("dyer", 2), ("weaver", 2)], ("dyer", 2), ("dyer", 2), None),
        ([("dyer", 3), ("Dyer", 2)], ("Dyer", 2), ("dyer", 3), ("Dyer", 2)),
        ([("dyer", 3), "none", "none"], ("dyer", 3), ("dyer", 3), None),
        ([("dyer", 3), "unsure"], ("dyer", 3), ("dyer", 3), None),
    ],
)
def test_several_people_on_one_comment(corpus, answers, majority, first, all_agree):
    three_say(corpus, *answers)
    for rule, wanted in (("majority", majority), ("first", first), ("all agree", all_agree)):
        found = content(rolled(corpus, name=rule, several=rule)).get("occupation")
        assert (found and found[:2]) == wanted, rule


def test_what_differed_is_counted(corpus):
    three_say(corpus, ("dyer", 3), ("weaver", 2))
    counts = rolled(corpus).recipe["counts"]
    assert (counts["differing"], counts["tied"], counts["comment_labels"]) == (1, 1, 2)
    strict = rolled(corpus, name="strict", several=Several.ALL_AGREE).recipe["counts"]
    assert (strict["undecided"], strict["comment_labels"]) == (1, 1)


def test_one_person_in_two_queues_has_one_voice(corpus, lea, max_):
    (comment,) = comments(author(corpus), 1)
    first, second = queue_of(corpus), queue_of(corpus, "round 2")
    label(comment, lea, value="dyer", item=first.items.get())
    label(comment, max_, value="weaver", hardness=1, item=first.items.get())
    again = Annotation.objects.create(
        comment=comment, item=second.items.get(), person=lea, submitted_at=timezone.now()
    )
    AttributeLabel.objects.create(
        annotation=again, attribute="occupation", state="value", outcome="added", value="dyer", hardness=3
    )
    assert content(rolled(corpus)) == {"occupation": ("weaver", 1, 3)}


def test_people_queues_reviewers_and_arms_can_be_chosen(corpus, lea, max_):
    (comment,) = comments(author(corpus), 1)
    queue = queue_of(corpus)
    label(comment, lea, value="dyer", arm="blind")
    label(comment, max_, value="weaver", arm="assisted")
    label(comment, "file a", value="baker", hardness=1)
    label(comment, "file b", value="miller", hardness=4)

    def value(**options):
        name = " ".join(map(str, options)) + str(LabelSet.objects.count())
        return rolled(corpus, name=name, **options).rows.get().value

    assert value() == "baker"
    assert value(reviewers=["file b"]) == "dyer"
    assert value(people=[], reviewers=["file b"]) == "miller"
    assert value(people=[max_], reviewers=[]) == "weaver"
    assert value(arm="assisted", reviewers=[]) == "weaver"
    assert value(queues=[queue], reviewers=[]) == "dyer"
    with pytest.raises(BadLabels):
        value(queues=[], reviewers=[])


def test_a_decision_counts_only_where_the_chosen_people_answered(corpus, lea, max_):
    one, two = comments(author(corpus), 2)
    queue_of(corpus)
    label(one, lea, value="dyer", hardness=3)
    label(two, max_, value="weaver")
    decide(two, value="baker", hardness=1)
    assert rolled(corpus, people=[lea]).rows.get().value == "dyer"
    assert rolled(corpus, name="max", people=[max_]).rows.get().value == "baker"


def test_authors_without_a_profile_are_counted_and_said(corpus, lea):
    comments(author(corpus), 1)
    stray = CommentFactory(thread__corpus=corpus, username="Nobody")
    known = Comment.objects.get(profile__isnull=False)
    queue_of(corpus)
    label(stray, lea, value="dyer", hardness=1)
    label(stray, lea, "age", "30")
    with pytest.raises(BadLabels, match="2 values are about comments of 1 authors without a profile"):
        rolled(corpus)
    label(known, lea, value="weaver")
    made = rolled(corpus)
    assert content(made) == {"occupation": ("weaver", 2, 3)}
    assert (made.recipe["counts"]["no_profile"], made.recipe["counts"]["authors"]) == (2, 1)


def test_looking_keeps_nothing_and_says_what_would_come_of_it(corpus, lea):
    for profile in (author(corpus), author(corpus, "Rune")):
        for comment in comments(profile, 2):
            label(comment, lea, hardness=3)
            label(comment, "file", "age", "30", hardness=2)
    found = label_sets.forecast(corpus, Sources(), policy=LEAST, several="majority")
    assert (found.labels, found.profiles) == (4, 2)
    assert found.by_attribute == {"occupation": [0, 0, 2, 0, 0], "age": [0, 2, 0, 0, 0]}
    assert not LabelSet.objects.exists()
    made = rolled(corpus)
    assert (made.labels, made.profiles) == (4, 2)


def test_a_name_is_taken_once_and_nothing_is_kept_of_the_second(corpus, lea):
    label(comments(author(corpus), 1)[0], lea)
    made = rolled(corpus, name="  ours ")
    with pytest.raises(BadLabels, match="choose another name") as problem:
        rolled(corpus, name="ours")
    assert problem.value.field == "name"
    for wrong in ({"name": " "}, {"name": "x" * 121}):
        with pytest.raises(BadLabels) as problem:
            rolled(corpus, **wrong)
        assert problem.value.field == "name"
    for wrong in ({"policy": "odd"}, {"several": "odd"}):
        with pytest.raises(BadLabels, match="there are"):
            rolled(corpus, name="other", **wrong)
    assert list(LabelSet.objects.all()) == [made]


def test_it_is_written_down_who_made_it(corpus, lea, researcher):
    label(comments(author(corpus), 1)[0], lea)
    made = rolled(corpus, by=researcher, people=[lea])
    entry = AuditEntry.objects.get(action="labels.rolled_up")
    assert (entry.actor, entry.object_id) == (researcher, made.public_id)
    assert entry.details == {"policy": "minimum hardness", "labels": 1, "profiles": 1}
    assert (made.created_by, made.recipe["people"]) == (researcher, ["lea"])


def test_an_education_of_the_vocabulary_has_its_category(corpus):
    for name, value in (("Quill", "PhD"), ("Rune", "studied law in Oslo")):
        label(comments(author(corpus, name), 1)[0], "file", "education", value)
    assert list(rolled(corpus).rows.order_by("profile__username").values_list("category", flat=True)) == [
        "PhD",
        "",
    ]


def test_the_number_of_queries_does_not_grow_with_the_corpus(corpus, lea):
    numbers = []
    for size in (2, 12):
        for place in range(size):
            profile = author(corpus, f"Author {size} {place}")
            for comment in comments(profile, 2):
                label(comment, lea)
        with CaptureQueriesContext(connection) as asked:
            rolled(corpus, name=f"set of {size}")
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]
