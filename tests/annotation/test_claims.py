"""Handing out work: nobody gets what another holds, nothing is lost when a lease ends."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Queue, Slot
from annotation.selectors import queue as work
from annotation.selectors import tallies
from annotation.services import claims, queues
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory

pytestmark = pytest.mark.database


def held_by(person):
    return Slot.objects.get(person=person, state=Slot.LEASED).item


@pytest.fixture
def now():
    return timezone.now()


def test_the_first_comment_in_order_is_handed_out_first(labeler, now):
    queue = queue_over(comments=3)
    slot = claims.claim_next(by=labeler, queue=queue, now=now)
    assert slot.position == 1
    assert slot.leased_until == now + claims.LEASE


def test_a_reload_returns_the_same_item_and_renews_the_hold(labeler, now):
    queue = queue_over(comments=3)
    first = claims.claim_next(by=labeler, queue=queue, now=now)
    later = now + timedelta(minutes=10)
    again = claims.claim_next(by=labeler, queue=queue, now=later)
    assert again.pk == first.pk
    assert again.leased_until == later + claims.LEASE


def test_two_people_get_two_slots(labeler, researcher, now):
    queue = queue_over(comments=2)
    assert (
        claims.claim_next(by=labeler, queue=queue, now=now).item
        != claims.claim_next(by=researcher, queue=queue, now=now).item
    )


def test_an_item_for_two_goes_to_two_people_and_never_twice_to_one(labeler, researcher, now):
    queue = queue_over(comments=1, people=2)
    one = claims.claim_next(by=labeler, queue=queue, now=now)
    assert claims.skip(by=labeler, item=held_by(labeler), now=now)
    assert claims.claim_next(by=labeler, queue=queue, now=now) is None
    two = claims.claim_next(by=researcher, queue=queue, now=now)
    assert (one.item, one.pk != two.pk) == (two.item, True)


def test_a_lapsed_lease_frees_the_slot_for_the_next_person(labeler, researcher, now):
    queue = queue_over(comments=1)
    held = claims.claim_next(by=labeler, queue=queue, now=now)
    assert claims.claim_next(by=researcher, queue=queue, now=now) is None
    assert work.next_free_at(researcher, queue) == now + claims.LEASE
    late = now + claims.LEASE + timedelta(seconds=1)
    assert claims.claim_next(by=researcher, queue=queue, now=late).pk == held.pk


def test_a_paused_queue_hands_out_nothing_new_but_keeps_what_one_holds(labeler, researcher, now, admin):
    queue = queue_over(comments=2)
    held = claims.claim_next(by=labeler, queue=queue, now=now)
    queues.set_state(by=admin, queue=queue, state="paused")
    assert claims.claim_next(by=researcher, queue=queue, now=now) is None
    assert claims.claim_next(by=labeler, queue=queue, now=now).pk == held.pk


def test_a_skip_from_an_old_page_skips_nothing(labeler, now):
    queue = queue_over(comments=2)
    old = claims.claim_next(by=labeler, queue=queue, now=now).item
    claims.skip(by=labeler, item=old, now=now)
    current = claims.claim_next(by=labeler, queue=queue, now=now)
    assert not claims.skip(by=labeler, item=old, now=now)
    current.refresh_from_db()
    assert current.state == Slot.LEASED


def test_progress_adds_up_to_the_queue(labeler, researcher, now):
    queue = queue_over(comments=5)
    claims.claim_next(by=labeler, queue=queue, now=now)
    claims.skip(by=labeler, item=held_by(labeler), now=now)
    claims.claim_next(by=labeler, queue=queue, now=now)
    claims.claim_next(by=researcher, queue=queue, now=now)
    standing = tallies.standing(labeler, queue)
    # The skipped one is somebody else's now: one slot more, and left again.
    assert (standing.all.done, standing.all.skipped, standing.all.left) == (0, 1, 5)
    assert (standing.own.done, standing.own.skipped) == (0, 1)


def test_the_database_refuses_a_second_lease_and_a_second_slot_of_an_item(labeler, now):
    queue = queue_over(comments=2, people=2)
    claims.claim_next(by=labeler, queue=queue, now=now)
    other = Slot.objects.filter(queue=queue, state=Slot.OPEN)
    same_item = other.get(item__position=1)
    other_item = other.filter(item__position=2).first()
    for slot in (same_item, other_item):
        with pytest.raises(IntegrityError), transaction.atomic():
            claims.lease(slot, by=labeler, now=now)


@pytest.mark.django_db(transaction=True)
def test_two_tabs_of_one_person_pressing_at_once_get_the_same_item(labeler, now):
    queue = queue_over(comments=4)
    got, claimed = [], threading.Event()

    def first_tab():
        try:
            with transaction.atomic():
                got.append(claims.claim_next(by=labeler, queue=queue, now=now).item_id)
                claimed.set()
                time.sleep(0.3)  # claimed, not committed: the moment in which the other tab asks
        finally:
            connection.close()

    thread = threading.Thread(target=first_tab)
    thread.start()
    claimed.wait()
    got.append(claims.claim_next(by=labeler, queue=queue, now=now).item_id)
    thread.join()
    assert len(set(got)) == 1
    assert Slot.objects.filter(person=labeler).count() == 1


@pytest.mark.django_db(transaction=True)
def test_people_pressing_at_the_same_moment_get_different_items(now):
    queue = queue_over(comments=12)
    Queue.objects.update(skip_policy=Queue.SKIP_COUNTS)
    queue.refresh_from_db()
    people = [MembershipFactory().person for _ in range(6)]
    got, start = [], threading.Barrier(len(people))

    def press(person):
        try:
            start.wait()
            for _ in range(2):
                slot = claims.claim_next(by=person, queue=queue, now=now)
                got.append(slot.item_id)
                claims.skip(by=person, item=slot.item, now=now)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 12
