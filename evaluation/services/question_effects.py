"""The opinions on a question amount to a score, and everything that depends on it follows.

Locks are always taken in this order: scorings, then questions, each by rising key. See `held`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.db import transaction
from django.db.models import F

from evaluation.domain.questions import Said, Standing, amount_to
from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Rung
from evaluation.models import OpenGuess, Opinion, Question, Scoring, Verdict
from evaluation.services.question_asking import lock

FIRST = 3
"""Guesses that have to be settled: no measure looks further."""
WORDS = {RIGHT: "right", HALF: "less precise", WRONG: "wrong"}
DECIDERS = {
    Rung.PERSON.value: "a person",
    Rung.JUDGE.value: "a judge model",
    Rung.RECORDED.value: "an imported file",
}
WRITTEN = 500


def said_by(rung: str, score: float) -> str:
    """The reason of a verdict that no rule gave: who says what."""
    return f"{DECIDERS.get(rung, rung)} says {WORDS.get(score, score)}"


def is_open(scores: Sequence[float | None]) -> bool:
    """Whether one of the guesses that have to be settled is not."""
    return any(score is None for score in scores[:FIRST])


def held(questions: Collection[int]) -> list[Question]:
    """The questions, locked with the scorings that depend on them, to the end of the transaction.

    Looks again where a scoring has come to depend on one of them while it waited.
    """
    while True:
        mark = transaction.savepoint()
        wanted = Scoring.objects.filter(pk__in=_depending(questions)).order_by("pk")
        locked = set(wanted.select_for_update(no_key=True).values_list("pk", flat=True))
        keys = lock(questions)
        if _depending(keys) <= locked:
            transaction.savepoint_commit(mark)
            return list(Question.objects.filter(pk__in=keys).order_by("pk"))
        transaction.savepoint_rollback(mark)


def _depending(questions: Collection[int]) -> set[int]:
    """Scorings with a guess that depends on one of the questions."""
    found = OpenGuess.objects.filter(question__in=questions)
    return set(found.values_list("verdict__scoring", flat=True).distinct())


def stand(questions: Sequence[Question]) -> list[Question]:
    """Brings the rows of `held` questions up to date; those whose score has changed, or who gave it."""
    said: dict[int, list[Said]] = defaultdict(list)
    rows = Opinion.objects.filter(question__in=[one.pk for one in questions]).order_by("pk")
    for row in rows.iterator():
        said[row.question_id].append(_as_said(row))
    changed: list[Question] = []
    for question in questions:
        now = amount_to(said[question.pk], wants=question.wants)
        rung = now.rung.value if now.rung else ""
        if (question.score, question.rung) != (now.score, rung):
            changed.append(question)
        _take(question, now, rung)
    Question.objects.bulk_update(questions, ["state", "score", "rung", "asked_of_people"], batch_size=WRITTEN)
    return changed


def _as_said(row: Opinion) -> Said:
    who = {Opinion.PERSON: row.person_id, Opinion.JUDGE: row.run_id}.get(row.source, row.note)
    return Said(row.source, str(who), row.score, row.at, row.resolves, row.withdrawn)


def _take(question: Question, now: Standing, rung: str) -> None:
    question.state, question.score, question.rung = now.state, now.score, rung
    question.asked_of_people = now.people


def apply(questions: Collection[int], scoring: Scoring | None = None) -> None:
    """Writes what locked questions (keys) stand at into every guess that depends on them, or those of one
    scoring; counts open verdicts and versions of the scorings on. The scorings are locked by the caller."""
    guesses = OpenGuess.objects.filter(question__in=questions)
    if scoring is not None:
        guesses = guesses.filter(verdict__scoring=scoring)
    by_verdict: dict[int, list[OpenGuess]] = defaultdict(list)
    for guess in guesses.select_related("question", "verdict").order_by("pk"):
        by_verdict[guess.verdict_id].append(guess)
    opened: Counter[int] = Counter()
    written: list[Verdict] = []
    for its in by_verdict.values():
        verdict = its[0].verdict
        before = is_open(verdict.scores)
        if _write(verdict, its):
            written.append(verdict)
            opened[verdict.scoring_id] += is_open(verdict.scores) - before
    Verdict.objects.bulk_update(written, ["scores", "rungs", "reasons"], batch_size=WRITTEN)
    _count_on(opened)


def _write(verdict: Verdict, guesses: Iterable[OpenGuess]) -> bool:
    """Whether anything of the verdict has changed."""
    before = (list(verdict.scores), list(verdict.rungs))
    for guess in guesses:
        asked = guess.question
        verdict.scores[guess.place], verdict.rungs[guess.place] = asked.score, asked.rung
        verdict.reasons[guess.place] = (
            asked.reason if asked.score is None else said_by(asked.rung, asked.score)
        )
    return before != (verdict.scores, verdict.rungs)


def _count_on(opened: Counter[int]) -> None:
    by_change: dict[int, list[int]] = defaultdict(list)
    for scoring, change in opened.items():
        by_change[change].append(scoring)
    for change, scorings in by_change.items():
        Scoring.objects.filter(pk__in=scorings).update(open=F("open") + change, version=F("version") + 1)
