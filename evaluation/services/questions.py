"""Questions: asked where rules leave something open, answered by people, judges and files, applied to all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db import transaction

from evaluation.domain.questions import LONGEST
from evaluation.models import Opinion, ProfileLabel, Question
from evaluation.services import label_sets, reports
from evaluation.services.question_asking import AT_ONCE, Answer, Asked, ask, count_waiting, parts
from evaluation.services.question_effects import apply, held, stand
from simulation.models import Corpus, ModelCall, Run, User
from simulation.services import audit

__all__ = [
    "LONGEST",
    "Answer",
    "Asked",
    "BadAnswer",
    "ask",
    "count_waiting",
    "judged",
    "recorded",
    "say",
    "want",
]

SCORES = (0.0, 0.5, 1.0)
LONGEST_NOTE = 500
MOST_PEOPLE = 9


class BadAnswer(ValueError):
    """An answer that cannot be; the words say why."""


@transaction.atomic
def say(
    question: Question,
    *,
    by: User,
    score: float | None,
    resolves: bool = False,
    withdrawn: bool = False,
    note: str = "",
) -> Question:
    """A person's opinion; applied at once to everything that depends on the question.

    The same again changes nothing. Withdrawing takes the person's standing opinion back; where there is none
    it changes nothing. Raises BadAnswer for a score that is not 1, 0.5, 0 or None.
    """
    score = None if withdrawn else _checked(score)
    (asked,) = held([question.pk])
    mine = Opinion.objects.filter(question=asked, person=by).order_by("-pk").first()
    stands = mine is not None and not mine.withdrawn
    if withdrawn and not stands:
        return asked
    if stands and not withdrawn and mine and (mine.score, mine.resolves) == (score, resolves):
        return asked
    Opinion.objects.create(
        question=asked,
        source=Opinion.PERSON,
        person=by,
        score=score,
        resolves=resolves and not withdrawn,
        withdrawn=withdrawn,
        note=note[:LONGEST_NOTE],
    )
    _follow(asked.corpus, [asked])
    action = "question.withdrawn" if withdrawn else "question.answered"
    details = {"score": score, "resolves": resolves}
    audit.record(by=by, action=action, target=asked, corpus=asked.corpus, details=details)
    return asked


@transaction.atomic
def want(question: Question, people: int, *, by: User) -> Question:
    """How many people have to agree before it counts as settled by people: 1, or 2 for a second opinion.

    Raises BadAnswer for less than 1 or more than 9.
    """
    if not 1 <= people <= MOST_PEOPLE:
        raise BadAnswer(f"between 1 and {MOST_PEOPLE} people can be asked, not {people}")
    (asked,) = held([question.pk])
    if asked.wants == people:
        return asked
    asked.wants = people
    asked.save(update_fields=["wants"])
    _follow(asked.corpus, [asked])
    audit.record(
        by=by, action="question.wants", target=asked, corpus=asked.corpus, details={"people": people}
    )
    return asked


@transaction.atomic
def judged(run: Run, call: ModelCall | None, verdicts: Sequence[tuple[int, float | None]]) -> None:
    """What a judge said of questions (keys), None: it could not say. Inside the caller's transaction.

    What the same run said already of a question is not noted again. Raises BadAnswer.
    """
    wanted = {key: _checked(score) for key, score in verdicts}
    asked = held(list(wanted))
    known: dict[int, float | None] = dict(
        Opinion.objects.filter(question__in=asked, source=Opinion.JUDGE, run=run)
        .order_by("pk")
        .values_list("question", "score")
    )
    Opinion.objects.bulk_create(
        Opinion(question=one, source=Opinion.JUDGE, run=run, call=call, score=wanted[one.pk])
        for one in asked
        if one.pk not in known or known[one.pk] != wanted[one.pk]
    )
    _follow(run.corpus, asked)


@transaction.atomic
def recorded(
    corpus: Corpus, file: str, scores: Sequence[tuple[int, float]], *, kept: Collection[int] = ()
) -> int:
    """All that the scores of an imported file say of questions (keys); applied at once.

    What it said before of others is withdrawn, but for those `kept`: a file may have been replaced by a
    corrected one. A file that says different things of one question says nothing of it; nor do files that
    differ. The number of questions that it leaves unanswered so. Saying the same again changes nothing.
    Raises BadAnswer.
    """
    said: dict[int, set[float]] = defaultdict(set)
    for key, score in scores:
        said[key].add(_number(score))
    file = file[:LONGEST_NOTE]
    asked = held([*said, *(said_by_file(corpus, file) - set(said) - set(kept))])
    known: dict[int, dict[str, float | None]] = defaultdict(dict)
    rows = Opinion.objects.filter(question__in=asked, source=Opinion.FILE).order_by("pk")
    for key, note, before, withdrawn in rows.values_list("question", "note", "score", "withdrawn"):
        known[key].pop(note, None)
        if not withdrawn:
            known[key][note] = before
    new: list[Opinion] = []
    for one in asked:
        if one.pk not in said:
            if file in known[one.pk]:
                new.append(Opinion(question=one, source=Opinion.FILE, withdrawn=True, note=file))
            continue
        now = next(iter(said[one.pk])) if len(said[one.pk]) == 1 else None
        if file not in known[one.pk] or known[one.pk][file] != now:
            new.append(Opinion(question=one, source=Opinion.FILE, score=now, note=file))
        known[one.pk][file] = now
    Opinion.objects.bulk_create(new, batch_size=2000)
    _follow(corpus, asked)
    return sum(1 for key, given in said.items() if len(set(known[key].values())) > 1 or len(given) > 1)


def said_by_file(corpus: Corpus, file: str) -> set[int]:
    """The questions (keys) of which a file says something that it has not withdrawn."""
    rows = Opinion.objects.filter(
        question__corpus=corpus, source=Opinion.FILE, note=file[:LONGEST_NOTE]
    ).order_by("pk")
    last = dict(rows.values_list("question", "withdrawn"))
    return {key for key, withdrawn in last.items() if not withdrawn}


def _follow(corpus: Corpus, questions: Sequence[Question]) -> None:
    """Derives the standing of questions that are `held` anew; verdicts, labels and reports follow."""
    changed = stand(questions)
    if not changed:
        return
    for part in parts([one.pk for one in changed], AT_ONCE):
        apply(part)
    keys = [one.pk for one in changed]
    if ProfileLabel.objects.filter(truth_question__in=keys).exists():
        label_sets.truth_settled(keys)
    reports.ask_again(corpus, "board")


def _checked(score: float | None) -> float | None:
    return None if score is None else _number(score)


def _number(score: float) -> float:
    if score not in SCORES:
        raise BadAnswer(f"a score is 1, 0.5 or 0, not {score}")
    return float(score)
