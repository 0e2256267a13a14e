"""What becomes of a skipped comment: the queue's policy decides, and the counts always add up."""

import pytest
from django.utils import timezone

from annotation.models import Queue, Slot
from annotation.selectors import tallies
from annotation.services import claims, flags
from tests.factories.annotation import queue_over
from tests.factories.simulation import MembershipFactory

pytestmark = pytest.mark.database


def queue_with(policy, *, comments=1, people=1, skips=2):
    queue = queue_over(comments=comments, people=people)
    Queue.objects.update(skip_policy=policy, skips_to_adjudicator=skips)
    queue.refresh_from_db()
    return queue


def skip_by(person, queue, **more):
    slot = claims.claim_next(by=person, queue=queue, now=timezone.now())
    assert claims.skip(by=person, item=slot.item, now=timezone.now(), **more)
    return slot.item


def counts(person, queue):
    found = tallies.standing(person, queue).all
    return found.done, found.skipped, found.left


def test_somebody_else_gets_a_skipped_comment_and_it_stays_left(labeler, researcher):
    queue = queue_with(Queue.SKIP_OTHERS)
    item = skip_by(labeler, queue, reason="context", note="who is she?")
    assert counts(labeler, queue) == (0, 1, 1)
    assert claims.claim_next(by=labeler, queue=queue, now=timezone.now()) is None
    other = MembershipFactory().person
    assert claims.claim_next(by=other, queue=queue, now=timezone.now()).item == item
    slot = Slot.objects.get(person=labeler)
    assert (slot.state, slot.skip_reason, slot.skip_note) == ("skipped", "context", "who is she?")


def test_a_skip_that_counts_leaves_nothing(labeler):
    queue = queue_with(Queue.SKIP_COUNTS)
    skip_by(labeler, queue)
    assert counts(labeler, queue) == (0, 1, 0)
    assert claims.claim_next(by=MembershipFactory().person, queue=queue, now=timezone.now()) is None


def test_after_enough_skips_a_comment_is_the_adjudicator_s(labeler):
    queue = queue_with(Queue.SKIP_ADJUDICATOR)
    item = skip_by(labeler, queue)
    item.refresh_from_db()
    assert not item.flagged
    other = MembershipFactory().person
    skip_by(other, queue)
    item.refresh_from_db()
    assert item.flagged
    assert counts(labeler, queue) == (0, 2, 0)
    flags.raise_flag(by=other, item=item)
    flags.clear_flag(by=other, item=item)
    item.refresh_from_db()
    assert item.flagged  # a flag taken back does not undo the skips


def test_a_reason_that_is_not_on_the_list_skips_nothing(labeler):
    queue = queue_with(Queue.SKIP_OTHERS)
    slot = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    with pytest.raises(claims.NotThere):
        claims.skip(by=labeler, item=slot.item, now=timezone.now(), reason="bored")
    slot.refresh_from_db()
    assert slot.state == Slot.LEASED


def test_a_skip_with_the_token_of_an_earlier_hold_skips_nothing(labeler):
    queue = queue_with(Queue.SKIP_OTHERS)
    old = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    late = timezone.now() + claims.LEASE * 2
    claims.release_expired(queue=queue, now=late)
    new = claims.claim_next(by=labeler, queue=queue, now=late)
    assert old.item == new.item
    assert not claims.skip(by=labeler, item=old.item, now=late, token=old.lease_token)
    assert claims.skip(by=labeler, item=new.item, now=late, token=new.lease_token)
