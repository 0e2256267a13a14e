"""Deciding and settling in bulk: what is stored, what is kept, what is refused."""

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.domain.rulings import Choice
from annotation.models import Decision, DecisionEvent, Flag, Item
from annotation.selectors import adjudication as waiting
from annotation.selectors.adjudication_sheet import sheet
from annotation.services import adjudication, settling
from simulation.models import AuditEntry
from tests.factories.adjudication import UNTOUCHED, answer, answered, labelers, letter_of, value
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory

pytestmark = pytest.mark.database


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, people=2, comments=4)


@pytest.fixture
def item(queue):
    """Two differ on the age, and agree on the sex with other marks."""
    return answered(
        queue.items.first(),
        {"age": value("30"), "sex": value("male", 1, 5)},
        {"age": value("60"), "sex": value("male", 4, 4)},
    )


def decide(item, by, *, seen=None, saw_model=False, **choices):
    return adjudication.decide(
        by=by,
        item=item,
        choices=choices,
        seen=sheet(item, by).stamp if seen is None else seen,
        now=timezone.now(),
        saw_model=saw_model,
    )


def take(item, by, words="60", **more):
    return Choice(letter_of(sheet(item, by), "age", words), **{"reason": "slip", **more})


def test_what_was_chosen_is_stored_and_the_rest_as_unanimous(item, adjudicator):
    assert decide(item, adjudicator, age=take(item, adjudicator, guideline_gap=True, note="see § 3")) == 8
    stored = {decision.attribute: decision for decision in item.decisions.all()}
    age, sex = stored["age"], stored["sex"]
    assert (age.value, age.reason, age.note, age.guideline_gap, age.by) == (
        "60",
        "slip",
        "see § 3",
        True,
        adjudicator,
    )
    assert (sex.value, sex.hardness, sex.certainty, sex.reason, sex.bulk) == (
        "male",
        2,
        4,
        "unanimous",
        False,
    )
    assert (stored["education"].state, stored["education"].hardness) == ("none", None)
    assert not any(decision.saw_model for decision in stored.values())
    event = DecisionEvent.objects.get(attribute="age")
    assert (event.old, event.new["value"], event.new["saw_truth"], event.person) == (
        None,
        "60",
        False,
        adjudicator,
    )
    item.refresh_from_db()
    assert (item.agreement, item.flagged) == ("settled", False)


def test_what_nobody_judged_gets_no_decision(queue, adjudicator):
    item = answered(
        queue.items.first(), {"age": value("30"), "rest": UNTOUCHED}, {"age": value("60"), "rest": UNTOUCHED}
    )
    assert decide(item, adjudicator, age=take(item, adjudicator)) == 1


def test_flags_are_answered_with_the_decision(item, adjudicator):
    flag = Flag.objects.create(item=item, person=labelers(1)[0], attribute="age")
    Item.objects.filter(pk=item.pk).update(flagged=True)
    decide(item, adjudicator, age=take(item, adjudicator))
    flag.refresh_from_db()
    assert flag.resolved_at
    assert not Item.objects.filter(flagged=True).exists()


def test_a_flagged_item_of_a_queue_for_one_person_can_be_decided(corpus, labeler, adjudicator):
    item = answer(labeler, queue_over(corpus, comments=1).items.get(), age=value("30"))
    Item.objects.update(flagged=True)
    choice = Choice(own="31", hardness="1", certainty="5", reason="edge")
    assert decide(item, adjudicator, age=choice) == 8
    assert Decision.objects.get(attribute="age").value == "31"


def test_an_item_that_nobody_answered_needs_at_least_one_decision(queue, adjudicator):
    item = queue.items.select_related("queue__corpus", "comment").first()
    Item.objects.update(flagged=True)
    with pytest.raises(adjudication.Undecided, match="1 things"):
        decide(item, adjudicator)
    assert decide(item, adjudicator, age=Choice("unsure", reason="ambiguous")) == 1


def test_a_change_is_an_event_with_old_and_new_and_nothing_else(item, adjudicator):
    decide(item, adjudicator, age=take(item, adjudicator))
    other = MembershipFactory(role="adjudicator").person
    assert decide(item, other, age=take(item, other, "30"), saw_model=True) == 1
    event = DecisionEvent.objects.order_by("id").last()
    assert (event.person, event.old["value"], event.new["value"]) == (other, "60", "30")
    age = Decision.objects.get(attribute="age")
    assert (age.by, age.saw_model) == (other, True)
    assert Decision.objects.get(attribute="sex").by == adjudicator


def test_events_can_be_neither_changed_nor_deleted(item, adjudicator):
    decide(item, adjudicator, age=take(item, adjudicator))
    for act in (lambda: DecisionEvent.objects.update(attribute="sex"), DecisionEvent.objects.all().delete):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


def test_without_a_choice_or_a_reason_nothing_is_stored(item, adjudicator):
    for choices in ({}, {"age": take(item, adjudicator, reason="")}):
        with pytest.raises(adjudication.Undecided):
            decide(item, adjudicator, **choices)
    assert not Decision.objects.exists()
    item.refresh_from_db()
    assert item.agreement == "differs"


def test_who_opened_the_model_before_saw_it(item, adjudicator):
    for _ in range(2):
        adjudication.open_model(by=adjudicator, item=item)
    assert AuditEntry.objects.filter(action="adjudication.model_opened").count() == 1
    decide(item, adjudicator, age=take(item, adjudicator))
    assert Decision.objects.get(attribute="age").saw_model


def test_of_two_adjudicators_at_once_the_second_is_stopped(item, adjudicator):
    other = MembershipFactory(role="adjudicator").person
    seen = sheet(item, other).stamp
    decide(item, adjudicator, age=take(item, adjudicator))
    with pytest.raises(adjudication.Stale) as refusal:
        decide(item, other, seen=seen, age=take(item, other, "30"))
    assert not refusal.value.answers_changed
    assert Decision.objects.get(attribute="age").value == "60"


def test_the_same_press_twice_is_stored_once_and_is_no_conflict(item, adjudicator):
    seen = sheet(item, adjudicator).stamp
    assert decide(item, adjudicator, seen=seen, age=take(item, adjudicator)) == 8
    assert decide(item, adjudicator, seen=seen, age=take(item, adjudicator)) == 0
    assert DecisionEvent.objects.count() == 8


def test_an_answer_that_changed_meanwhile_stops_the_decision(queue, adjudicator):
    one, other = labelers(2)
    answer(one, queue.items.first(), age=value("30"))
    item = answer(other, queue.items.first(), age=value("60"))
    seen, choice = sheet(item, adjudicator).stamp, take(item, adjudicator)
    answer(other, item, age=value("61"))
    with pytest.raises(adjudication.Stale) as refusal:
        decide(item, adjudicator, seen=seen, age=choice)
    assert refusal.value.answers_changed


def test_the_truth_is_sealed_before_and_opening_it_is_written_down_after(item, adjudicator):
    with pytest.raises(adjudication.NotDecided):
        adjudication.open_truth(by=adjudicator, item=item)
    decide(item, adjudicator, age=take(item, adjudicator))
    assert adjudication.open_truth(by=adjudicator, item=item) is None  # the comment has no profile
    entry = AuditEntry.objects.get(action="adjudication.truth_opened")
    assert (entry.actor, entry.object_id, entry.corpus_id_text) == (
        adjudicator,
        item.public_id,
        item.queue.corpus.public_id,
    )
    decide(item, adjudicator, age=take(item, adjudicator, "30"))
    assert DecisionEvent.objects.order_by("id").last().new["saw_truth"]


@pytest.fixture
def agreed(queue):
    """Two agreed items, one agreed and flagged, one that differs."""
    items = list(queue.items.all())
    pair = labelers(2)
    for person, marks, words in ((pair[0], (1, 5), "30"), (pair[1], (4, 4), "60")):
        for item in items[:3]:
            answer(
                person, item, age=value("30", *marks, quotes=[("c", 0, 2, words)]), sex=value("male", *marks)
            )
        answer(person, items[3], age=value(words))
    Item.objects.filter(pk=items[2].pk).update(flagged=True)
    return queue


def settle(queue, by):
    now = waiting.settleable(queue)[1]
    return settling.settle(by=by, queue=queue, items=now.items, labels=now.labels)


def test_settling_in_bulk_settles_what_is_agreed_and_not_flagged(agreed, adjudicator):
    done = settle(agreed, adjudicator)
    assert (done.items, done.labels, done.rest) == (2, 16, 0)
    states = list(agreed.items.values_list("agreement", flat=True))
    assert states == ["settled", "settled", "agreed", "differs"]
    age = Decision.objects.filter(attribute="age").first()
    assert (age.value, age.hardness, age.certainty, age.reason, age.bulk, age.by) == (
        "30",
        2,
        4,
        "unanimous",
        True,
        adjudicator,
    )
    assert len(age.evidence) == 2
    assert Decision.objects.count() == DecisionEvent.objects.filter(new__bulk=True).count() == 16
    entry = AuditEntry.objects.get(action="adjudication.settled")
    assert (entry.object_id, entry.details) == (agreed.public_id, {"items": 2, "labels": 16})


def test_settling_asks_again_when_the_numbers_changed(agreed, adjudicator):
    with pytest.raises(settling.CountChanged) as refusal:
        settling.settle(by=adjudicator, queue=agreed, items=2, labels=15)
    assert (refusal.value.now.items, refusal.value.now.labels) == (2, 16)
    assert not Decision.objects.exists()
    assert not AuditEntry.objects.filter(action="adjudication.settled").exists()


def test_settling_twice_settles_once(agreed, adjudicator):
    settle(agreed, adjudicator)
    assert settle(agreed, adjudicator).items == 0
    assert AuditEntry.objects.filter(action="adjudication.settled").count() == 1


def test_settling_never_changes_a_decision_that_exists(agreed, adjudicator):
    item = agreed.items.first()
    Decision.objects.create(item=item, attribute="age", state="unsure", reason="edge", by=adjudicator)
    assert settle(agreed, adjudicator).labels == 15
    assert Decision.objects.get(item=item, attribute="age").state == "unsure"


def test_one_press_settles_a_limited_number_and_says_what_is_left(agreed):
    keys, now = waiting.settleable(agreed, at_once=1)
    assert (keys, now.items, now.labels, now.rest) == ([agreed.items.first().pk], 1, 8, 1)


def test_settling_takes_the_same_queries_for_one_item_and_for_two(
    agreed, adjudicator, django_assert_max_num_queries
):
    with django_assert_max_num_queries(16):
        settle(agreed, adjudicator)
