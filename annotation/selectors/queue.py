"""Questions about queues: what a person may work on, what they have done, when the next item frees."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, Q

from annotation.domain.evidence import Readable
from annotation.models import Annotation, Item, Queue, Slot, Suggestion
from annotation.selectors import tallies
from annotation.selectors.tallies import Own, Progress
from simulation.models import Comment, User


@dataclass(frozen=True)
class Work:
    """A queue as its labeler sees it."""

    queue: Queue
    progress: Progress
    """Of the whole queue, all people."""
    own: Own
    holds: bool
    """An item of it is theirs at this moment."""


def work_of(person: User) -> list[Work]:
    """The queues a person may review in; closed ones while they hold an item of them. Four queries."""
    held = set(Slot.objects.filter(person=person, state=Slot.LEASED).values_list("queue", flat=True))
    mine = Queue.objects.workable_by(person).select_related("corpus")
    queues = list(mine.filter(~Q(state="closed") | Q(pk__in=held)))
    progress, own = tallies.progress_of(queues), tallies.own(person, queues)
    return [Work(queue, progress[queue.pk], own[queue.pk], queue.pk in held) for queue in queues]


def next_free_at(person: User, queue: Queue) -> datetime | None:
    """When the first item that others hold, and this person has not had, comes back at the latest."""
    mine = Slot.objects.filter(item=OuterRef("item"), person=person)
    held = Slot.objects.filter(queue=queue, state=Slot.LEASED).filter(~Exists(mine))
    found: datetime | None = held.aggregate(first=Min("leased_until"))["first"]
    return found


def suggestions_for(comment: Comment, queue: Queue | None = None) -> dict[str, Suggestion]:
    """Attribute key -> the suggestion to review: of the queue's tagger and run, else the latest one's."""
    rows = comment.suggestions.order_by("id").defer("model_eval", "extra")
    if queue is not None:
        if not queue.assisted:
            return {}
        if queue.tagger:
            rows = rows.filter(tagger=queue.tagger)
        if queue.tag_run_id:
            rows = rows.filter(run=queue.tag_run_id)
    return {row.attribute: row for row in rows}


def readable(comment: Comment) -> Readable:
    """What may be quoted as evidence: the comment, then those above it up to the root."""
    rows = {
        key: (parent, public_id, text)
        for key, parent, public_id, text in Comment.objects.filter(thread=comment.thread_id).values_list(
            "pk", "parent", "public_id", "text"
        )
    }
    texts: dict[str, str] = {}
    at: int | None = comment.pk
    while at in rows and rows[at][1] not in texts:
        parent, public_id, text = rows[at]
        texts[public_id] = text
        at = parent
    return Readable(texts)


def history(person: User, queue: Queue, *, before: int | None = None, size: int = 30) -> list[Annotation]:
    """A person's own submitted work in a queue, latest first, paged by key."""
    rows = Annotation.objects.filter(person=person, item__queue=queue).select_related("comment", "item")
    if before:
        rows = rows.filter(pk__lt=before)
    return list(rows.prefetch_related("labels").order_by("-pk")[: size + 1])


def beside(person: User, queue: Queue, item: Item, *, later: bool) -> Item | None:
    """The item that this person answered just before (or after) `item`; from one not answered, the latest."""
    own = Annotation.objects.filter(person=person, item__queue=queue).select_related("item")
    here = own.filter(item=item).first()
    if here is None:
        found = None if later else own.order_by("-pk").first()
    elif later:
        found = own.filter(pk__gt=here.pk).order_by("pk").first()
    else:
        found = own.filter(pk__lt=here.pk).order_by("-pk").first()
    return found.item if found else None


def last(person: User, queue: Queue) -> Item | None:
    """The item whose answer this person stored or changed last."""
    own = Annotation.objects.filter(person=person, item__queue=queue).select_related("item")
    found = own.order_by("-submitted_at", "-pk").first()
    return found.item if found else None
