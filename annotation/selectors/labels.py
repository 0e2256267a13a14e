"""What was said about comments: counts of a corpus, marks of a thread, the table of one comment."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Q

from annotation.models import Annotation, AttributeLabel, Queue, Suggestion
from annotation.selectors import tallies
from simulation.domain.attributes import Attribute
from simulation.models import Comment, Corpus, Thread


@dataclass(frozen=True)
class Counts:
    """How much a corpus holds. `reviewed` are comments with an annotation of a person here, within quota."""

    profiles: int
    threads: int
    comments: int
    suggestions: int
    tagged: int
    """Comments with at least one suggestion."""
    reviewed: int
    imported: int
    """Comments with labels that an import brought."""


LARGE = 100_000
"""From so many suggestions on counting takes long enough to be remembered for a while."""
REMEMBERED = 60
"""Seconds."""


def counts(corpus: Corpus) -> Counts:
    """What `corpus` holds; of a large one what it held up to a minute ago."""
    key = f"counts:{corpus.public_id}"
    known: Counts | None = cache.get(key)
    if known is None:
        known = _counted(corpus)
        if known.suggestions > LARGE:
            cache.set(key, known, REMEMBERED)
    return known


def _counted(corpus: Corpus) -> Counts:
    tags = Suggestion.objects.filter(comment__corpus=corpus).aggregate(
        n=Count("pk"), comments=Count("comment", distinct=True)
    )
    reviews = Annotation.objects.filter(comment__corpus=corpus).aggregate(
        here=Count("comment", distinct=True, filter=Q(person__isnull=False, over_quota=False)),
        imported=Count("comment", distinct=True, filter=Q(person__isnull=True)),
    )
    return Counts(
        profiles=corpus.profiles.count(),
        threads=corpus.threads.count(),
        comments=corpus.comments.count(),
        suggestions=tags["n"],
        tagged=tags["comments"],
        reviewed=reviews["here"],
        imported=reviews["imported"],
    )


@dataclass(frozen=True)
class QueueCount:
    queue: Queue
    done: int
    skipped: int
    left: int


def queues(corpus: Corpus) -> list[QueueCount]:
    """The queues of a corpus outside the trash with their slots; the three numbers add up to all slots."""
    found = list(corpus.queues.filter(trashed_at=None).order_by("id"))
    progress = tallies.progress_of(found)
    return [
        QueueCount(queue, one.done, one.skipped, one.left) for queue in found for one in [progress[queue.pk]]
    ]


def tags_of(comments: Iterable[Comment]) -> dict[int, list[Suggestion]]:
    """Comment key -> its suggestions, one query."""
    found = defaultdict(list)
    for tag in Suggestion.objects.filter(comment__in=list(comments)):
        found[tag.comment_id].append(tag)
    return dict(found)


def tags_in_thread(thread: Thread) -> dict[int, list[Suggestion]]:
    found = defaultdict(list)
    for tag in Suggestion.objects.filter(comment__thread=thread):
        found[tag.comment_id].append(tag)
    return dict(found)


@dataclass(frozen=True)
class Line:
    """One attribute of one comment: what the tagger guessed, what each reviewer said."""

    attribute: Attribute
    suggestion: Suggestion | None
    labels: list[AttributeLabel | None]


@dataclass(frozen=True)
class Table:
    annotations: list[Annotation]
    lines: list[Line]


def table(
    attributes: Iterable[Attribute], suggestions: dict[str, Suggestion], annotations: list[Annotation]
) -> Table:
    by_reviewer = [
        {label.attribute: label for label in annotation.labels.all()} for annotation in annotations
    ]
    lines = [
        Line(attribute, suggestions.get(attribute.key), [labels.get(attribute.key) for labels in by_reviewer])
        for attribute in attributes
    ]
    return Table(annotations, lines)
