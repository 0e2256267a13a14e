"""Steering a queue while people work: what may change, what may not, and what more people cost."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Item, Queue, QueueWorker, Slot
from annotation.services import claims, queues
from simulation.domain.roles import Role
from simulation.models import AuditEntry
from tests.annotation.test_submit import AGED_30, submit
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, comments=4)


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


def address(queue, name="queue_settings"):
    return reverse(name, args=[queue.public_id])


def sent(**changed):
    fields = {
        "name": "round 1",
        "who": "everybody",
        "skip_policy": "others",
        "skips_to_adjudicator": "2",
        "gold_every": "0",
        "bulk_asks_from": "50",
    }
    return {**fields, **changed}


def test_name_people_and_rules_can_be_changed(browser, queue, labeler, admin):
    told = browser.post(
        address(queue),
        sent(
            name="second look",
            who="named",
            workers=[labeler.public_id],
            skip_policy="adjudicator",
            skips_to_adjudicator="4",
            gold_every="10",
            bulk_asks_from="80",
        ),
    )
    assert told["Location"] == address(queue)
    queue.refresh_from_db()
    assert (queue.name, queue.named_only, queue.skip_policy) == ("second look", True, "adjudicator")
    assert (queue.skips_to_adjudicator, queue.gold_every, queue.bulk_asks_from) == (4, 10, 80)
    assert queue in Queue.objects.workable_by(labeler)
    assert queue not in Queue.objects.workable_by(admin)
    details = AuditEntry.objects.get(action="queue.changed").details
    assert details["workers"] == [labeler.public_id]
    assert details["gold_every"] == 10
    assert "second look" not in str(details)
    browser.post(address(queue), sent(name="second look"))
    assert queue in Queue.objects.workable_by(admin)
    assert not QueueWorker.objects.exists()


def test_the_list_of_people_can_be_changed(browser, queue, labeler, adjudicator):
    queues.change(by=None, queue=queue, workers=[labeler])
    browser.post(address(queue), sent(who="named", workers=[adjudicator.public_id]))
    assert [one.person for one in queue.workers.all()] == [adjudicator]


def test_saving_without_a_change_writes_nothing_down(browser, queue, labeler):
    queues.change(by=None, queue=queue, workers=[labeler])
    before = AuditEntry.objects.count()
    browser.post(address(queue), sent(who="named", workers=[labeler.public_id]))
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": ""}, "This field is required"),
        ({"name": "taken"}, "a queue of that name already"),
        ({"who": "named"}, "Tick at least one person"),
        ({"skip_policy": "never"}, "Select a valid choice"),
        ({"gold_every": "-1"}, "greater than or equal to 0"),
        ({"bulk_asks_from": "101"}, "less than or equal to 100"),
    ],
)
def test_bad_settings_are_named_and_change_nothing(browser, queue, corpus, changed, told):
    queue_over(corpus, name="taken")
    refused = browser.post(address(queue), sent(**changed))
    assert refused.status_code == 422
    assert told in refused.content.decode()
    queue.refresh_from_db()
    assert (queue.name, queue.named_only, queue.gold_every) == ("round 1", False, 0)


def test_what_is_fixed_cannot_be_sent_along(browser, queue):
    browser.post(address(queue), sent(assisted="no", blind_percent="50", order="random", people_per_item="5"))
    queue.refresh_from_db()
    assert (queue.assisted, queue.blind_percent, queue.order, queue.people_per_item) == (True, 0, "corpus", 1)


def test_pausing_and_closing_lead_back_to_where_it_was_pressed(browser, queue, corpus):
    state = address(queue, "queue_state")
    assert browser.post(state, {"state": "paused", "back": "settings"})["Location"] == address(queue)
    assert browser.post(state, {"state": "open"})["Location"] == reverse("corpus", args=[corpus.public_id])
    assert browser.post(state, {"state": "gone"}).status_code == 422
    queue.refresh_from_db()
    assert queue.state == "open"


def test_more_people_add_the_slots_that_were_told(browser, queue, researcher):
    page = browser.get(address(queue, "queue_people"), {"people": "3"}).content.decode()
    assert 'adds <b class="num">8</b> reviews' in page
    told = browser.post(address(queue, "queue_people"), {"people": "3", "reviews": "8"})
    assert told["Location"] == address(queue)
    queue.refresh_from_db()
    assert queue.people_per_item == 3
    for item in queue.items.all():
        assert list(item.slots.order_by("number").values_list("number", "state")) == [
            (1, "open"),
            (2, "open"),
            (3, "open"),
        ]
    entry = AuditEntry.objects.get(action="queue.people_raised")
    assert (entry.details, entry.actor) == ({"from": 1, "to": 3, "reviews": 8}, researcher)


@pytest.mark.database
def test_new_slots_stand_behind_those_that_skips_made(queue, labeler):
    slot = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    claims.skip(by=labeler, item=slot.item, now=timezone.now())
    assert slot.item.slots.count() == 2
    queues.raise_people(by=None, queue=queue, people=2, expected=4)
    numbers = list(slot.item.slots.order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2, 3]


def test_gold_and_withdrawn_comments_get_no_more_people(queue):
    first, second = queue.items.order_by("position")[:2]
    Item.objects.filter(pk=first.pk).update(gold=True)
    second.comment.state = "withdrawn"
    second.comment.save()
    with pytest.raises(queues.Changed) as now:
        queues.raise_people(by=None, queue=queue, people=2, expected=4)
    assert now.value.size == 2
    queue.refresh_from_db()
    assert queue.people_per_item == 1
    assert queues.raise_people(by=None, queue=queue, people=2, expected=2) == 2
    assert (first.slots.count(), second.slots.count()) == (1, 1)


def test_items_wait_for_answers_again_but_settled_ones_stay_settled(queue):
    for item, agreement in zip(queue.items.all(), ["agreed", "differs", "settled", ""], strict=True):
        Item.objects.filter(pk=item.pk).update(agreement=agreement, differing=["age"])
    queues.raise_people(by=None, queue=queue, people=2, expected=4)
    found = list(queue.items.order_by("position").values_list("agreement", "differing"))
    assert found == [("", []), ("", []), ("settled", ["age"]), ("", ["age"])]


@pytest.mark.database
def test_an_answer_over_quota_fills_a_new_slot(queue, labeler, adjudicator):
    item = queue.items.first()
    submit(labeler, item, age=AGED_30)
    late = submit(adjudicator, item, age=AGED_30).annotation
    assert late.over_quota
    queues.raise_people(by=None, queue=queue, people=2, expected=4)
    assert not Annotation.objects.get(pk=late.pk).over_quota
    assert item.slots.filter(state=Slot.DONE).count() == 2


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ("1", "what the queue has already"),
        ("0", "a number from 1 to 10"),
        ("11", "a number from 1 to 10"),
        ("many", "a number from 1 to 10"),
        ("", "a number from 1 to 10"),
    ],
)
def test_a_number_that_adds_nobody_is_refused(browser, queue, people, told):
    for act in (browser.get, browser.post):
        refused = act(address(queue, "queue_people"), {"people": people, "reviews": "4"})
        assert refused.status_code == 422
        assert told in refused.content.decode()
    assert queue.slots.count() == 4


def test_fewer_people_are_refused_with_the_reason(browser, corpus):
    queue = queue_over(corpus, comments=2, people=3)
    refused = browser.post(address(queue, "queue_people"), {"people": "2", "reviews": "0"})
    assert refused.status_code == 422
    assert "That can be raised, not lowered" in refused.content.decode()
    with pytest.raises(queues.Lowered):
        queues.raise_people(by=None, queue=queue, people=2, expected=0)
    assert queue.slots.count() == 6


def test_another_number_of_reviews_than_was_told_is_asked_again(browser, queue):
    refused = browser.post(address(queue, "queue_people"), {"people": "2", "reviews": "3"})
    assert refused.status_code == 422
    body = refused.content.decode()
    assert "4 new reviews. Press again" in body
    assert 'name="reviews" value="4"' in body
    assert queue.slots.count() == 4


def test_who_may_not_steer_queues_there_gets_no_page(client_of, queue, labeler, adjudicator, stranger):
    elsewhere = MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER.value).person
    for person, status in ((labeler, 403), (adjudicator, 403), (stranger, 403), (elsewhere, 404)):
        browser = client_of(person)
        for name in ("queue_settings", "queue_people", "queue_guidelines", "queue_gold"):
            assert browser.get(address(queue, name)).status_code == status, name
            assert browser.post(address(queue, name), sent()).status_code == status, name
    queue.refresh_from_db()
    assert queue.name == "round 1"


def test_a_queue_in_the_trash_is_not_there(browser, queue):
    Queue.objects.update(trashed_at=timezone.now())
    for name in ("queue_settings", "queue_people", "queue_guidelines", "queue_gold"):
        assert browser.get(address(queue, name)).status_code == 404


def test_the_page_asks_as_much_for_a_large_queue(browser, corpus, queue, django_assert_max_num_queries):
    with django_assert_max_num_queries(14) as few:
        browser.get(address(queue))
    for _ in range(6):
        MembershipFactory(role=Role.LABELER.value)
    larger = queue_over(corpus, name="larger", comments=6)
    with django_assert_max_num_queries(14) as many:
        browser.get(address(larger))
    assert len(few) == len(many)
