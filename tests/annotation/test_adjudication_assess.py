"""After each submission: do the answers agree, once as many people answered as were wanted?"""

import pytest
from django.utils import timezone

from annotation.domain.rulings import Choice
from annotation.models import Annotation, DecisionEvent, Item, Queue
from annotation.selectors.adjudication_sheet import sheet
from annotation.services import adjudication, claims, slots
from tests.factories.adjudication import (
    NONE,
    UNSURE,
    UNTOUCHED,
    answer,
    answered,
    labelers,
    letter_of,
    value,
)
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory

pytestmark = pytest.mark.database


@pytest.fixture
def item(corpus):
    return queue_over(corpus, people=2, comments=1).items.get()


@pytest.fixture
def pair(db):
    return labelers(2)


def state(item):
    return item.agreement, item.differing


def test_one_answer_of_two_says_nothing_yet(item, labeler):
    assert state(answer(labeler, item, age=value("30"))) == ("", [])


def test_two_who_say_the_same_agree_whatever_their_marks(item):
    found = answered(item, {"age": value("30", 1, 1)}, {"age": value("30", 5, 5)})
    assert state(found) == ("agreed", [])


@pytest.mark.parametrize(
    ("attribute", "one", "other"),
    [
        ("age", value("30"), value("31-35")),
        ("city_country", value("Graz, Austria"), value("Austria")),
        ("city_country", value("Graz, Austria"), value("Lisbon, Portugal")),
        ("sex", value("male"), NONE),
        ("sex", value("male"), UNTOUCHED),
        ("sex", UNSURE, NONE),
    ],
)
def test_two_who_say_something_else_differ(item, attribute, one, other):
    assert state(answered(item, {attribute: one}, {attribute: other})) == ("differs", [attribute])


def test_a_row_left_alone_agrees_with_none(item):
    found = answered(item, {"sex": UNTOUCHED, "age": value("30")}, {"sex": NONE, "age": value("30")})
    assert state(found) == ("agreed", [])


def test_the_third_of_three_decides_when_to_compare(corpus):
    item = queue_over(corpus, people=3, comments=1).items.get()
    first, second, third = labelers(3)
    answer(first, item, age=value("30"), education=value("PhD"))
    assert state(answer(second, item, age=value("30"), education=value("PhD"))) == ("", [])
    assert state(answer(third, item, age=value("60"), education=value("Master's"))) == (
        "differs",
        ["age", "education"],
    )


def test_a_changed_answer_is_compared_again(item, pair):
    answer(pair[0], item, age=value("30"))
    assert state(answer(pair[1], item, age=value("60"))) == ("differs", ["age"])
    assert state(answer(pair[1], item, age=value("30"))) == ("agreed", [])
    assert state(answer(pair[0], item, sex=value("male"))) == ("differs", ["age", "sex"])


def test_an_answer_too_many_is_not_compared(item, labeler):
    answered(item, {"age": value("30")}, {"age": value("30")})
    found = answer(labeler, item, age=value("60"))
    assert Annotation.objects.get(person=labeler).over_quota
    assert state(found) == ("agreed", [])


def test_a_single_answer_is_not_compared(corpus, labeler):
    item = queue_over(corpus, comments=1).items.get()
    item = answer(labeler, item, age=value("30"))
    assert state(item) == ("", [])


def test_another_look_at_a_comment_for_one_person_is_compared_with_the_first(corpus, labeler):
    item = queue_over(corpus, comments=1).items.get()
    answer(labeler, item, age=value("30"))
    slots.another(item, list(item.slots.all())).save()
    other = MembershipFactory(role="labeler").person
    assert claims.claim_next(by=other, queue=item.queue, now=timezone.now()).item == item
    assert state(answer(other, item, age=value("60"))) == ("differs", ["age"])


def test_people_asked_for_while_an_answer_waits_for_the_lock_are_counted(item, labeler):
    waiting = Item.objects.select_related("queue").get(pk=item.pk)
    assert waiting.queue.people_per_item == 2
    Queue.objects.update(people_per_item=3)
    found = answered(waiting, {"age": value("30")}, {"age": value("30")})
    assert state(found) == ("", [])


def test_gold_is_not_compared(item):
    Item.objects.update(gold=True)
    assert state(answered(item, {"age": value("30")}, {"age": value("60")})) == ("", [])


def test_it_takes_two_queries_and_one_more_for_a_change(item, django_assert_num_queries):
    found = answered(item, {"age": value("30")}, {"age": value("60")})
    with django_assert_num_queries(2):
        adjudication.assess(found)
    Item.objects.update(agreement="", differing=[])
    with django_assert_num_queries(3):
        adjudication.assess(found)
    assert state(found) == ("differs", ["age"])


def settled(item, adjudicator):
    page = sheet(item, adjudicator)
    adjudication.decide(
        by=adjudicator,
        item=item,
        choices={"age": Choice(letter_of(page, "age", "60"), reason="slip")},
        seen=page.stamp,
        now=timezone.now(),
    )


def test_a_settled_item_stays_so_while_its_decisions_cover_what_differs(item, pair, adjudicator):
    answer(pair[0], item, age=value("30"))
    settled(answer(pair[1], item, age=value("60")), adjudicator)
    assert state(answer(pair[1], item, age=value("70"))) == ("settled", ["age"])
    assert state(answer(pair[1], item, age=value("30"))) == ("settled", [])


def test_a_settled_item_comes_back_when_something_without_a_decision_differs(item, pair, adjudicator):
    answer(pair[0], item, age=value("30"), rest=UNTOUCHED)
    settled(answer(pair[1], item, age=value("60"), rest=UNTOUCHED), adjudicator)
    assert DecisionEvent.objects.count() == 1
    found = answer(pair[1], item, age=value("60"), sex=value("male"), rest=UNTOUCHED)
    assert state(found) == ("differs", ["age", "sex"])
