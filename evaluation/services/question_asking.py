"""Questions are put down where rules leave something open; each once, however much depends on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction
from django.db.models import Count, F, IntegerField, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from evaluation.domain.questions import key_of, spelled
from evaluation.models import OpenGuess, ProfileLabel, Question
from simulation.models import Corpus

AT_ONCE = 2000
LONGEST_REASON = 300

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """What has to be told: is this guess this truth? `reason` says why rules could not."""

    attribute: str
    truth: str
    guess: str
    reason: str = ""

    @property
    def key(self) -> str:
        """What the question is known by: see `domain.questions.key_of`."""
        return key_of(self.attribute, self.truth, self.guess)


@dataclass(frozen=True)
class Answer:
    """What rules, people, judges or files have said of a question by now; score None: nothing yet."""

    question: int
    score: float | None
    rung: str


def ask(corpus: Corpus, wanted: Iterable[Asked], *, hold: bool = True) -> dict[str, Answer]:
    """Makes the questions that are not there yet, in a few statements however many there are.

    By `domain.questions.key_of`: the question's key in the database and what is known of it already. With
    `hold` the questions are locked to the end of the caller's transaction (needed there), so that nobody
    answers one before what depends on it is there to follow. Several processes may ask at once.
    """
    asked = {one.key: one for one in wanted}
    known: dict[str, int] = {}
    # In the order of their keys everywhere: who waits for another's new question holds none that it needs.
    for part in parts(sorted(asked), AT_ONCE):
        known |= _keys(corpus, part)
        Question.objects.bulk_create(
            [_question(corpus, key, asked[key]) for key in part if key not in known], ignore_conflicts=True
        )
        known |= _keys(corpus, [key for key in part if key not in known])
    return {
        key: Answer(pk, score, rung) for pk, key, score, rung in _standing(sorted(known.values()), hold=hold)
    }


def _question(corpus: Corpus, key: str, asked: Asked) -> Question:
    return Question(
        corpus=corpus,
        key=key,
        attribute=asked.attribute,
        truth=spelled(asked.truth),
        guess=spelled(asked.guess),
        reason=asked.reason[:LONGEST_REASON],
    )


def _keys(corpus: Corpus, keys: Collection[str]) -> dict[str, int]:
    if not keys:
        return {}
    return dict(Question.objects.filter(corpus=corpus, key__in=keys).values_list("key", "pk"))


def _standing(keys: Sequence[int], *, hold: bool) -> Iterator[tuple[int, str, float | None, str]]:
    for part in parts(keys, AT_ONCE):
        found = Question.objects.filter(pk__in=part).order_by("pk")
        found = found.select_for_update(no_key=True) if hold else found
        yield from found.values_list("pk", "key", "score", "rung")


def lock(questions: Iterable[int]) -> list[int]:
    """Locks questions (keys) to the end of the transaction, always in the same order; those that exist."""
    locked: list[int] = []
    for part in parts(sorted(set(questions)), AT_ONCE):
        found = Question.objects.filter(pk__in=part).order_by("pk").select_for_update(no_key=True)
        locked += found.values_list("pk", flat=True)
    return locked


@transaction.atomic
def count_waiting(corpus: Corpus, questions: Collection[int] | None = None) -> None:
    """Counts anew what depends on each question; on those given, or on all."""
    if questions is None:
        questions = list(Question.objects.filter(corpus=corpus).values_list("pk", flat=True))
    for part in parts(lock(questions), AT_ONCE):
        rows = Question.objects.filter(pk__in=part, corpus=corpus)
        depending = _count(OpenGuess.objects.all(), "question") + _count(
            ProfileLabel.objects.all(), "truth_question"
        )
        rows.annotate(now=depending).exclude(waiting=F("now")).update(waiting=depending)


def _count(rows: QuerySet[Model], field: str) -> Coalesce:
    counted = rows.filter(**{field: OuterRef("pk")}).order_by().values(field).annotate(n=Count("pk"))
    return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), Value(0))


def parts(given: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`given` in pieces of at most `size`, in order."""
    for start in range(0, len(given), size):
        yield given[start : start + size]
