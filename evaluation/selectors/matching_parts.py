"""Which questions a judge may be asked, and into how many calls they go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby, islice

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from evaluation.domain.verdicts import Rung
from evaluation.models import Opinion, Question
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus

GUESSES = 20
"""Guesses that one call asks about, where nobody says otherwise."""
MOST_GUESSES = 50
"""A judge's answer has 600 tokens: a verdict takes about five, and as many again where a model explains."""
CHUNK = 2000


class Which(StrEnum):
    """Questions of which kind."""

    OPEN = "open"
    """Without an answer that counts, and not disputed among people."""
    UNANSWERED = "unanswered"
    """Those, and those that only a judge or a file has answered; not what people have settled or dispute."""
    AGAIN = "again"
    """Those that a judge has answered: how often does it say something else the second time?"""
    PEOPLE = "people"
    """Those that people have settled: how far does the judge agree with them?"""


@dataclass(frozen=True)
class Part:
    """Which questions of a corpus. `attributes` empty: all; `waiting`: so many guesses and labels depend on
    each of them at least."""

    which: Which = Which.OPEN
    attributes: tuple[str, ...] = ()
    waiting: int = 1


@dataclass(frozen=True)
class Batch:
    """Questions of one call: guesses at one truth of one attribute, by their keys."""

    attribute: str
    questions: tuple[int, ...]


@dataclass(frozen=True)
class Size:
    """How many questions there are, and how many calls ask all of them."""

    questions: int
    calls: int


@dataclass(frozen=True)
class Offer:
    """How many questions of each kind there are, by attribute and in all, whatever waits for them."""

    by_attribute: Mapping[str, Mapping[Which, int]] = field(default_factory=dict)

    def of(self, which: Which, attribute: str = "") -> int:
        """Of an attribute, or of all of them."""
        rows = [self.by_attribute.get(attribute, {})] if attribute else self.by_attribute.values()
        return sum(row.get(which, 0) for row in rows)

    @property
    def is_empty(self) -> bool:
        """Whether there is no question at all that a judge could be asked."""
        return not any(self.of(which) for which in Which)


def _is(which: Which) -> Q:
    if which is Which.OPEN:
        return Q(state=Question.OPEN)
    if which is Which.UNANSWERED:
        return ~Q(rung=Rung.PERSON.value) & ~Q(state=Question.DISPUTED)
    if which is Which.AGAIN:
        said = Opinion.objects.filter(question=OuterRef("pk"), source=Opinion.JUDGE, score__isnull=False)
        return Q(Exists(said))
    return Q(state=Question.SETTLED, rung=Rung.PERSON.value)


def askable(corpus: Corpus, part: Part) -> QuerySet[Question]:
    """The questions of a part. Of attributes that the catalogue does not have a judge is never asked: its
    answer could not name them."""
    keys = [key for key in part.attributes or CATALOGUE if key in CATALOGUE]
    there = Question.objects.filter(corpus=corpus, attribute__in=keys, waiting__gte=part.waiting)
    return there.filter(_is(part.which))


def size(there: QuerySet[Question], guesses: int) -> Size:
    """Of some questions, at most `guesses` of them in one call; one query."""
    groups = there.order_by().values("attribute", same=Lower("truth")).annotate(n=Count("pk"))
    counts = [row["n"] for row in groups.iterator(chunk_size=CHUNK)]
    return Size(sum(counts), sum(-(-count // guesses) for count in counts))


def batches(there: QuerySet[Question], guesses: int) -> Iterator[Batch]:
    """The questions call by call, in an order that hangs on nothing but the questions. A truth that is
    spelled with other capitals is the same truth."""
    ordered = there.annotate(same=Lower("truth")).order_by("attribute", "same", "pk")
    rows = ordered.values_list("attribute", "same", "pk").iterator(chunk_size=CHUNK)
    for (attribute, _), group in groupby(rows, key=lambda row: row[:2]):
        while keys := tuple(row[2] for row in islice(group, guesses)):
            yield Batch(attribute, keys)


def offer(corpus: Corpus) -> Offer:
    """What a form can offer; one query."""
    judged = Opinion.objects.filter(question=OuterRef("pk"), source=Opinion.JUDGE, score__isnull=False)
    counted = {
        str(which): Count("pk", filter=Q(judged=True) if which is Which.AGAIN else _is(which))
        for which in Which
    }
    there = Question.objects.filter(corpus=corpus, attribute__in=CATALOGUE).annotate(judged=Exists(judged))
    rows = there.order_by().values_list("attribute").annotate(**counted)
    return Offer({key: dict(zip(Which, counts, strict=True)) for key, *counts in rows})


def in_words(part: Part, guesses: int, votes: int = 1) -> str:
    """Which questions, as the plan and the page of a run say it."""
    said = {
        Which.OPEN: "open questions",
        Which.UNANSWERED: "questions that people have not settled",
        Which.AGAIN: "questions that a judge has answered before",
        Which.PEOPLE: "questions that people have settled",
    }[part.which]
    if part.attributes:
        said += f" about {', '.join(part.attributes)}"
    if part.waiting > 1:
        said += f" that {part.waiting} guesses or labels wait for at least"
    said += f"; up to {guesses} guesses at one truth in a call"
    return said if votes == 1 else f"{said}; {votes} votes on each"


def known(attributes: Collection[str]) -> tuple[str, ...]:
    """Those that the catalogue has, in its order."""
    return tuple(key for key in CATALOGUE if key in attributes)
