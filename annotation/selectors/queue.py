"""Questions about queues: what a person may work on, what they have done, when the next item frees."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef, Q

from annotation.models import Annotation, Queue, Slot, Suggestion
from simulation.domain.roles import Right
from simulation.models import Comment, User


@dataclass(frozen=True)
class Progress:
    """A person's own count in one queue: done + skipped + left = what the queue has for them."""

    done: int = 0
    skipped: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        return self.done + self.skipped + self.left


@dataclass(frozen=True)
class Work:
    """A queue as its labeler sees it."""

    queue: Queue
    progress: Progress
    holds: bool
    """An item of it is theirs at this moment."""


def own_progress(person: User, queues: list[Queue]) -> dict[int, Progress]:
    """Queue key -> progress, in two queries for any number of queues.

    Left are the items of which a slot is free and the person has none, and the one they hold.
    """
    mine = Slot.objects.filter(item=OuterRef("item"), person=person)
    free = dict(
        Slot.objects.filter(queue__in=queues, state=Slot.OPEN)
        .filter(~Exists(mine))
        .values_list("queue")
        .annotate(n=Count("item", distinct=True))
    )
    own = {
        row["queue"]: row
        for row in Slot.objects.filter(queue__in=queues, person=person)
        .values("queue")
        .annotate(
            done=Count("pk", filter=Q(state=Slot.DONE)),
            skipped=Count("pk", filter=Q(state=Slot.SKIPPED)),
            held=Count("pk", filter=Q(state=Slot.LEASED)),
        )
    }
    nothing = {"done": 0, "skipped": 0, "held": 0}
    return {
        queue.pk: Progress(row["done"], row["skipped"], free.get(queue.pk, 0) + row["held"])
        for queue in queues
        for row in [own.get(queue.pk, nothing)]
    }


def work_of(person: User) -> list[Work]:
    """The queues a person may review in, with their own progress; closed ones while they hold an item."""
    held = set(Slot.objects.filter(person=person, state=Slot.LEASED).values_list("queue", flat=True))
    mine = Queue.objects.with_right(person, Right.REVIEW).select_related("corpus")
    queues = list(mine.filter(~Q(state="closed") | Q(pk__in=held)))
    progress = own_progress(person, queues)
    return [Work(queue, progress[queue.pk], queue.pk in held) for queue in queues]


def next_free_at(person: User, queue: Queue) -> datetime | None:
    """When the first item that others hold, and this person has not had, comes back at the latest."""
    mine = Slot.objects.filter(item=OuterRef("item"), person=person)
    held = Slot.objects.filter(queue=queue, state=Slot.LEASED).filter(~Exists(mine))
    found: datetime | None = held.aggregate(first=Min("leased_until"))["first"]
    return found


def suggestions_for(comment: Comment) -> dict[str, Suggestion]:
    """Attribute key -> the suggestion to review; with several taggers the latest one's."""
    return {row.attribute: row for row in comment.suggestions.order_by("id")}


def history(person: User, queue: Queue, *, before: int | None = None, size: int = 30) -> list[Annotation]:
    """A person's own submitted work in a queue, latest first, paged by key."""
    rows = Annotation.objects.filter(person=person, item__queue=queue).select_related("comment", "item")
    if before:
        rows = rows.filter(pk__lt=before)
    return list(rows.prefetch_related("labels").order_by("-pk")[: size + 1])
