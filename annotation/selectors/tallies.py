"""Counts of slots that the database keeps itself: reading them does not grow with the corpus."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q, Sum

from annotation.models import Queue, Tally
from simulation.models import User


@dataclass(frozen=True)
class Progress:
    """Slots of a queue: done + skipped + left = all of them, always."""

    done: int = 0
    skipped: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        return self.done + self.skipped + self.left


@dataclass(frozen=True)
class Own:
    """How many slots of one queue a person did and skipped."""

    done: int = 0
    skipped: int = 0


def progress_of(queues: Iterable[Queue]) -> dict[int, Progress]:
    """Queue key -> its slots done and skipped over all people, and left; one query for any number of queues.

    Left is what is neither, so that the three add up to all slots, always. A queue without a slot has zeros.
    """
    asked = list(queues)
    counted = (
        Tally.objects.filter(queue__in=asked)
        .values("queue")
        .annotate(
            all=Sum("slots", filter=Q(person=None), default=0),
            n_done=Sum("done", default=0),
            n_skipped=Sum("skipped", default=0),
        )
        .order_by()
    )
    found = {
        row["queue"]: Progress(
            int(row["n_done"]), int(row["n_skipped"]), int(row["all"] - row["n_done"] - row["n_skipped"])
        )
        for row in counted
    }
    return {queue.pk: found.get(queue.pk, Progress()) for queue in asked}


def own(person: User, queues: Iterable[Queue]) -> dict[int, Own]:
    """Queue key -> what `person` did and skipped in it; one query for any number of queues."""
    asked = list(queues)
    rows = Tally.objects.filter(queue__in=asked, person=person).values_list("queue", "done", "skipped")
    found = {queue: Own(done, skipped) for queue, done, skipped in rows}
    return {queue.pk: found.get(queue.pk, Own()) for queue in asked}


OF_QUEUE = "SELECT person_id, slots, done, skipped FROM annotation_tally WHERE queue_id = %s"


@dataclass(frozen=True)
class Standing:
    """Where a queue stands, and what one person did of it."""

    all: Progress
    own: Own


def standing(person: User, queue: Queue) -> Standing:
    """Both at once, in one query: it is asked with every comment that is handed out."""
    slots = done = skipped = 0
    own = Own()
    with connection.cursor() as cursor:
        cursor.execute(OF_QUEUE, [queue.pk])
        rows = cursor.fetchall()
    for holder, held, did, passed in rows:
        slots, done, skipped = slots + held, done + did, skipped + passed
        if holder == person.pk:
            own = Own(did, passed)
    return Standing(Progress(done, skipped, slots - done - skipped), own)
