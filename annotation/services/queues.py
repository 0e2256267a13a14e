"""Queues: made over the comments of a corpus, paused, closed."""

from collections.abc import Iterable
from itertools import islice

from django.db import transaction

from annotation.models import Item, Queue, Slot
from simulation.models import Comment, Corpus, User
from simulation.services import audit

BATCH = 1000


@transaction.atomic
def create(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    people_per_item: int = 1,
    only_suggested: bool = False,
) -> Queue:
    """A queue over the active comments of `corpus` in their order, each for `people_per_item` people.

    `only_suggested` leaves out comments without any suggestion. Raises IntegrityError for a name that
    the corpus has already.
    """
    queue = Queue.objects.create(corpus=corpus, name=name, people_per_item=people_per_item, created_by=by)
    comments = corpus.comments.filter(state="active").order_by("sequence", "id")
    if only_suggested:
        comments = comments.filter(suggestions__isnull=False).distinct()
    size = _fill(queue, comments.only("pk").iterator(chunk_size=BATCH))
    audit.record(
        by=by,
        action="queue.created",
        target=queue,
        corpus=corpus,
        details={"people_per_item": people_per_item, "only_suggested": only_suggested, "items": size},
    )
    return queue


def _fill(queue: Queue, comments: Iterable[Comment]) -> int:
    position = 0
    stream = iter(comments)
    while batch := list(islice(stream, BATCH)):
        items = Item.objects.bulk_create(
            Item(queue=queue, comment=comment, position=position + place)
            for place, comment in enumerate(batch, start=1)
        )
        Slot.objects.bulk_create(Slot.of(items, queue.people_per_item))
        position += len(batch)
    return position


@transaction.atomic
def set_state(*, by: User, queue: Queue, state: str) -> Queue:
    """Opens, pauses or closes a queue. What people hold stays theirs: submitting still works."""
    if state not in dict(Queue.STATES):
        raise ValueError(f"{state!r} is not a state of a queue")
    queue.state = state
    queue.save(update_fields=["state"])
    audit.record(by=by, action=f"queue.{state}", target=queue, corpus=queue.corpus)
    return queue
