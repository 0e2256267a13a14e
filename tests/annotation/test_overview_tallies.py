"""The counts of queues that the database keeps itself."""

from django.utils import timezone

from annotation.models import Slot
from annotation.selectors import labels, tallies
from annotation.selectors.tallies import Own
from annotation.services import claims, slots
from tests.factories.annotation import queue_over
from tests.factories.simulation import UserFactory


def test_done_skipped_and_left_of_many_queues_take_one_query(labeler, corpus, django_assert_num_queries):
    first = queue_over(corpus, name="one", comments=3, people=2)
    second = queue_over(corpus, name="two")
    third = queue_over(name="empty")
    other = UserFactory()
    held = claims.claim_next(by=labeler, queue=first, now=timezone.now())
    slots.finish(by=labeler, item=held.item)
    Slot.objects.filter(pk=claims.claim_next(by=other, queue=first, now=timezone.now()).pk).update(
        state=Slot.SKIPPED, leased_until=None, lease_token=None
    )
    with django_assert_num_queries(1):
        found = tallies.progress_of([first, second, third])
    assert [
        (found[queue.pk].done, found[queue.pk].skipped, found[queue.pk].left)
        for queue in (first, second, third)
    ] == [(1, 1, 4), (0, 0, 3), (0, 0, 0)]
    with django_assert_num_queries(1):
        assert tallies.own(labeler, [first, second]) == {first.pk: Own(1, 0), second.pk: Own(0, 0)}


def test_the_queues_of_a_corpus_are_counted_without_looking_at_their_slots(corpus, django_assert_num_queries):
    queue_over(corpus, name="one", comments=3, people=2)
    queue_over(corpus, name="two")
    with django_assert_num_queries(2):
        found = labels.queues(corpus)
    assert [(one.queue.name, one.done, one.skipped, one.left) for one in found] == [
        ("one", 0, 0, 6),
        ("two", 0, 0, 3),
    ]
