"""Holds that are renewed, left and ended; what is handed out next, and what is not handed out."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, State
from annotation.models import Item, Queue, QueueWorker, Slot
from annotation.selectors import tallies
from annotation.services import claims, drafts, review, slots
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Comment
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory

pytestmark = pytest.mark.database
NONE = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}


@pytest.fixture
def now():
    return timezone.now()


def answer(person, item, now):
    return review.submit(
        by=person, item=item, submission_id=uuid.uuid4(), labels=NONE, suggestions={}, now=now
    )


def test_a_heartbeat_lengthens_the_hold_and_only_with_its_token(labeler, now):
    queue = queue_over(comments=1)
    slot = claims.claim_next(by=labeler, queue=queue, now=now)
    later = now + timedelta(minutes=20)
    assert claims.renew(by=labeler, item=slot.item, token=slot.lease_token, now=later) == later + claims.LEASE
    assert claims.renew(by=labeler, item=slot.item, token=uuid.uuid4(), now=later) is None
    slot.refresh_from_db()
    assert slot.leased_until == later + claims.LEASE


def test_a_page_that_was_left_holds_its_comment_for_a_minute_and_a_reload_takes_it_again(labeler, now):
    queue = queue_over(comments=2)
    slot = claims.claim_next(by=labeler, queue=queue, now=now)
    assert claims.leave(by=labeler, item=slot.item, token=slot.lease_token, now=now)
    slot.refresh_from_db()
    assert slot.leased_until == now + claims.LEAVING
    again = claims.claim_next(by=labeler, queue=queue, now=now + timedelta(seconds=20))
    assert again.pk == slot.pk
    assert again.leased_until > now + claims.LEASE


def test_others_get_a_comment_whose_page_was_left_a_minute_ago(labeler, researcher, now):
    queue = queue_over(comments=1)
    slot = claims.claim_next(by=labeler, queue=queue, now=now)
    claims.leave(by=labeler, item=slot.item, token=slot.lease_token, now=now)
    assert claims.claim_next(by=researcher, queue=queue, now=now + timedelta(seconds=30)) is None
    assert claims.claim_next(by=researcher, queue=queue, now=now + timedelta(seconds=61)).pk == slot.pk


def test_the_hold_of_a_person_whose_account_was_closed_ends(labeler, researcher, now):
    queue = queue_over(comments=1)
    claims.claim_next(by=labeler, queue=queue, now=now)
    labeler.is_active = False
    labeler.save(update_fields=["is_active"])
    assert claims.release_all_expired(now=now) == 1
    assert claims.claim_next(by=researcher, queue=queue, now=now) is not None


def test_a_comment_with_an_own_draft_comes_first_on_a_fresh_visit(labeler, now):
    queue = queue_over(comments=4)
    third = queue.items.order_by("position")[2]
    drafts.save(by=labeler, item=third, base_version=0, stamp=1, fields={"note": "half"}, now=now)
    assert claims.claim_next(by=labeler, queue=queue, now=now).item == third


def test_the_search_goes_on_behind_the_last_item_and_begins_anew_at_the_end(labeler, now):
    queue = queue_over(comments=3, people=2)
    taken = []
    after = 1
    for _ in range(3):
        slot = claims.claim_next(by=labeler, queue=queue, now=now, after=after)
        answer(labeler, slot.item, now)
        taken.append(slot.position)
        after = slot.position
    assert taken == [2, 3, 1]
    assert claims.claim_next(by=labeler, queue=queue, now=now, after=after) is None


def test_a_withdrawn_comment_is_not_handed_out_and_comes_back_with_its_slots(labeler, now):
    queue = queue_over(comments=2, people=2)
    first = queue.items.order_by("position")[0]
    Comment.objects.filter(pk=first.comment_id).update(state="withdrawn")
    assert claims.claim_next(by=labeler, queue=queue, now=now).item != first
    assert claims.close(items=[first.pk]) == 2
    assert tallies.standing(labeler, queue).all.total == 2
    Comment.objects.filter(pk=first.comment_id).update(state="active")
    assert claims.bring_back(items=[first.pk]) == 2
    assert claims.bring_back(items=[first.pk]) == 0
    assert tallies.standing(labeler, queue).all.total == 4


def test_gold_comes_after_so_many_comments_to_everybody_once(labeler, now):
    queue = queue_over(comments=6)
    Queue.objects.update(gold_every=2)
    queue.refresh_from_db()
    gold = queue.items.order_by("position")[5]
    Item.objects.filter(pk=gold.pk).update(gold=True)
    gold.slots.all().delete()
    for person in (labeler, MembershipFactory().person):
        got = []
        for _ in range(3):
            slot = claims.claim_next(by=person, queue=queue, now=now)
            got.append(slot.item == gold)
            answer(person, slot.item, now)
        assert got == [False, False, True] if person == labeler else sum(got) == 1
    assert gold.slots.filter(state=Slot.DONE).count() == 2
    standing = tallies.standing(labeler, queue).all
    assert standing.done + standing.skipped + standing.left == Slot.objects.filter(queue=queue).count()


def gold_queue(comments, every):
    queue = queue_over(comments=comments)
    Queue.objects.update(gold_every=every)
    queue.refresh_from_db()
    gold = queue.items.order_by("position").last()
    Item.objects.filter(pk=gold.pk).update(gold=True)
    gold.slots.all().delete()
    return queue, gold


def test_a_gold_comment_whose_hold_ended_leaves_no_slot_and_its_late_answer_counts(labeler, now):
    queue, gold = gold_queue(5, 1)
    answer(labeler, claims.claim_next(by=labeler, queue=queue, now=now).item, now)
    assert claims.claim_next(by=labeler, queue=queue, now=now).item == gold
    late = now + claims.LEASE * 2
    claims.release_expired(queue=queue, now=late)
    assert not gold.slots.exists()
    other = MembershipFactory().person
    answer(other, claims.claim_next(by=other, queue=queue, now=late).item, late)
    answer(other, claims.claim_next(by=other, queue=queue, now=late).item, late)
    gold.refresh_from_db()
    assert not answer(labeler, gold, late).annotation.over_quota
    taken = [claims.claim_next(by=labeler, queue=queue, now=late, after=0).item for _ in range(1)]
    assert gold not in taken


def test_an_answer_that_came_late_takes_a_free_slot_beyond_the_usual_ones(labeler, now):
    queue = queue_over(comments=1)
    item = claims.claim_next(by=labeler, queue=queue, now=now).item
    answer(labeler, item, now)
    slots.another(item, list(item.slots.all())).save()
    assert not answer(MembershipFactory().person, item, now).annotation.over_quota
    assert not item.slots.filter(state=Slot.OPEN).exists()


def test_a_queue_for_named_people_is_only_theirs(labeler, researcher):
    queue = queue_over(comments=1)
    Queue.objects.update(named_only=True)
    other = MembershipFactory().person
    QueueWorker.objects.create(queue=queue, person=other)
    assert list(Queue.objects.workable_by(other)) == [queue]
    assert list(Queue.objects.workable_by(labeler)) == []


def test_a_skipped_comment_answered_later_does_not_make_one_answer_too_many(labeler, now):
    queue = queue_over(comments=1)
    item = claims.claim_next(by=labeler, queue=queue, now=now).item
    claims.skip(by=labeler, item=item, now=now)
    assert not answer(labeler, item, now).annotation.over_quota
    assert list(item.slots.values_list("state", flat=True)) == [Slot.DONE]


def test_a_skipped_comment_that_somebody_else_has_now_is_answered_beside_them(labeler, now):
    queue = queue_over(comments=1)
    item = claims.claim_next(by=labeler, queue=queue, now=now).item
    claims.skip(by=labeler, item=item, now=now)
    claims.claim_next(by=MembershipFactory().person, queue=queue, now=now)
    assert answer(labeler, item, now).annotation.over_quota
