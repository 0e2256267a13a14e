"""A queue's labels against the facts of the profiles. Truth: only for those who may see profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef

from annotation.domain.labels import State
from annotation.domain.truth import AttributeTruth, Judged, Leak, Reckoning, Said
from annotation.metrics.proportions import Interval, wilson
from annotation.models import Annotation, AttributeLabel, Decision, Item, Queue
from simulation.domain.attributes import HARDNESS, TARGET_KEYS, TARGETS
from simulation.models import Profile


@dataclass(frozen=True)
class Share:
    """Labels that are the same as the fact, of those that were judged; in percent."""

    judged: Judged

    @property
    def percent(self) -> float | None:
        return _percent(self.judged.same, self.judged.n)

    @property
    def interval(self) -> Interval | None:
        found = wilson(self.judged.same, self.judged.n)
        return Interval(round(100 * found.low, 1), round(100 * found.high, 1)) if found else None


@dataclass(frozen=True)
class AttributeRow:
    """An attribute that is known of somebody who wrote a comment of the queue."""

    label: str
    authors: int
    right: int
    """Authors with at least one right label."""
    judged: Judged
    leak: Leak

    @property
    def recall(self) -> float | None:
        return _percent(self.right, self.authors)

    @property
    def same(self) -> Share:
        return Share(self.judged)

    @property
    def outright_percent(self) -> float | None:
        return _percent(self.leak.outright, self.leak.comments)

    @classmethod
    def of(cls, one: AttributeTruth) -> AttributeRow:
        return cls(one.attribute.label, one.authors, len(one.right), one.judged, one.leak)


@dataclass(frozen=True)
class HardnessRow:
    number: int
    word: str
    judged: Judged

    @property
    def same(self) -> Share:
        return Share(self.judged)


@dataclass(frozen=True)
class Truth:
    attributes: list[AttributeRow]
    """In the catalogue's order."""
    hardness: list[HardnessRow]
    """All five, the easiest first."""


def against_profiles(queue: Queue) -> Truth:
    """Four queries, one where no fact is known; labels and texts are read as a stream, only counts leave."""
    written = Item.objects.filter(queue=queue, comment__profile=OuterRef("pk"))
    facts = dict(Profile.objects.filter(Exists(written)).order_by().values_list("pk", "facts"))
    reckoning = Reckoning(TARGETS, facts)
    if reckoning.attributes:
        _count(queue, reckoning)
    return Truth(
        attributes=[AttributeRow.of(one) for one in reckoning.attributes.values()],
        hardness=[HardnessRow(mark.number, mark.word, reckoning.hardness[mark.number]) for mark in HARDNESS],
    )


def _count(queue: Queue, reckoning: Reckoning) -> None:
    for said in _said(queue):
        reckoning.take(said)
    answered = Exists(Annotation.objects.filter(item=OuterRef("pk")))
    decided = Exists(Decision.objects.filter(item=OuterRef("pk")))
    texts = Item.objects.filter(answered | decided, queue=queue, comment__profile__isnull=False).order_by()
    for comment, text in texts.values_list("comment", "comment__text").iterator():
        reckoning.read(comment, text)


def _said(queue: Queue) -> Iterator[Said]:
    """Values that count: of answers within quota, or the decision where there is one, whatever it says."""
    decided = Decision.objects.filter(item=OuterRef("annotation__item"), attribute=OuterRef("attribute"))
    labels = AttributeLabel.objects.filter(
        ~Exists(decided),
        annotation__item__queue=queue,
        annotation__over_quota=False,
        annotation__person__isnull=False,
        annotation__comment__profile__isnull=False,
        state=State.VALUE,
        attribute__in=TARGET_KEYS,
    ).values_list(
        F("annotation__comment__profile"), F("annotation__comment"), "attribute", "value", "hardness"
    )
    decisions = Decision.objects.filter(
        item__queue=queue,
        item__comment__profile__isnull=False,
        state=State.VALUE,
        attribute__in=TARGET_KEYS,
    ).values_list(F("item__comment__profile"), F("item__comment"), "attribute", "value", "hardness")
    for rows in (labels, decisions):
        for row in rows.order_by().iterator():
            yield Said(*row)


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None
