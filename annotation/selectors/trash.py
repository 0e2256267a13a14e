"""What is in the trash, what hangs on it, and who is at work on what may be put there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.models import Annotation, Item, Queue, Slot
from annotation.selectors import tallies
from simulation.domain.roles import Right
from simulation.models import Corpus, User
from simulation.selectors import trash as corpora_trash


@dataclass(frozen=True)
class QueueRow:
    queue: Queue
    comments: int
    answers: int


@dataclass(frozen=True)
class CorpusRow:
    corpus: Corpus
    comments: int
    answers: int
    queues: int


@dataclass(frozen=True)
class QueuesPage:
    rows: Sequence[QueueRow]
    before: str
    """Public id to continue behind; empty on the last page."""


@dataclass(frozen=True)
class CorporaPage:
    rows: Sequence[CorpusRow]
    before: str


@dataclass(frozen=True)
class AtWork:
    """What a queue holds at this moment."""

    comments: int
    answers: int
    held: int
    """Comments that somebody holds right now: one a person."""


def trashable_queues(person: User) -> QuerySet[Queue]:
    """Queues that `person` may put into the trash or restore, whether they are in it or not."""
    outside = Queue.objects.with_right(person, Right.MANAGE_QUEUES)
    return outside | Queue.objects.trashed_with_right(person, Right.MANAGE_QUEUES)


def queues(person: User, *, before: str = "") -> QueuesPage:
    """The queues in the trash that `person` may restore, latest first; a constant number of queries."""
    trashed = Queue.objects.trashed_with_right(person, Right.MANAGE_QUEUES)
    found = corpora_trash.page(trashed.select_related("corpus", "trashed_by"), before=before)
    progress = tallies.progress_of(found.rows)
    items = _counted(Item.objects.filter(queue__in=found.rows), "queue_id")
    return QueuesPage(
        [QueueRow(queue, items.get(queue.pk, 0), progress[queue.pk].done) for queue in found.rows],
        found.before,
    )


def corpora(person: User, *, before: str = "") -> CorporaPage:
    """The corpora in the trash that `person` may restore, latest first; a constant number of queries."""
    found = corpora_trash.corpora(person, before=before)
    comments = corpora_trash.comments_in(found.rows)
    answers = _counted(Annotation.objects.filter(comment__corpus__in=found.rows), "comment__corpus_id")
    queues = _counted(Queue.objects.filter(corpus__in=found.rows), "corpus_id")
    rows = [
        CorpusRow(one, comments.get(one.pk, 0), answers.get(one.pk, 0), queues.get(one.pk, 0))
        for one in found.rows
    ]
    return CorporaPage(rows, found.before)


def at_work(queue: Queue) -> AtWork:
    """What to know before a queue goes into the trash."""
    held = Slot.objects.filter(queue=queue, state=Slot.LEASED).count()
    return AtWork(queue.items.count(), tallies.progress_of([queue])[queue.pk].done, held)


def at_work_in(corpus: Corpus) -> AtWork:
    """The same of all queues of a corpus, and of what was imported into it."""
    held = Slot.objects.filter(queue__in=corpus.queues.filter(trashed_at=None), state=Slot.LEASED).count()
    answers = Annotation.objects.filter(comment__corpus=corpus).count()
    return AtWork(corpus.comments.count(), answers, held)


def queue_named(corpus: Corpus, name: str) -> Queue | None:
    """The queue in the trash that keeps `name` taken in `corpus`, if there is one."""
    return corpus.queues.filter(name=name, trashed_at__isnull=False).first()


def _counted(rows: QuerySet[Item] | QuerySet[Annotation] | QuerySet[Queue], key: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(key).annotate(n=Count("pk")))
