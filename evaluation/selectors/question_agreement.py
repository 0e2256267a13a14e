"""How far people agree with each other on questions that rules left open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from annotation.metrics.alpha import ordinal_alpha
from annotation.metrics.kappa import cohen_kappa
from annotation.metrics.measured import Agreement, Undefined
from annotation.metrics.ratings import gather
from annotation.metrics.raw_agreement import percent_agreement
from evaluation.models import Opinion
from evaluation.selectors.matching import DRAWS, NO_INTERVAL, SCALE, Figure
from simulation.models import Corpus

SAW_JUDGE = "saw the judge’s answer first"
SAW_OTHERS = "saw what others had said"
CHUNK = 5000
NOBODY = "no question was answered by two people on their own"
WORDS = {
    Undefined.EMPTY: NOBODY,
    Undefined.ONE_RATER: NOBODY,
    Undefined.NOTHING_PAIRED: NOBODY,
    Undefined.ONE_VALUE: "undefined: one and the same answer was given throughout",
    Undefined.ALL_ALIKE: "undefined: all answers count as equal",
}


@dataclass(frozen=True)
class PeopleAgreement:
    """Among `people` on `questions` that two or more of them answered on their own.

    `kappa` is Cohen's, where exactly two people did; else it says why there is none.
    """

    people: int
    questions: int
    percent: Figure
    kappa: Figure
    alpha: Figure


def people_agreement(corpus: Corpus) -> PeopleAgreement:
    """One query, read as a stream; memory grows with the answers to questions that several people answered.

    Of each person the latest answer that was given without sight of others' or the judge's counts, unless it
    was taken back. Percent agreement of pairs; Krippendorff's alpha (2011) for the order wrong, less precise,
    right; Cohen's kappa (1960) for the three as names.
    """
    rows = [
        (unit, person, score)
        for unit, said in enumerate(_by_question(corpus))
        if len(said) > 1
        for person, score in said.items()
    ]
    ratings = gather(rows)
    questions = len({unit for unit, *_ in rows})
    people = sorted({person for _, person, _ in rows})
    return PeopleAgreement(
        people=len(people),
        questions=questions,
        percent=_figure(percent_agreement(ratings, draws=DRAWS), questions),
        kappa=_kappa(rows, people, questions),
        alpha=_figure(ordinal_alpha(ratings, SCALE, draws=DRAWS), questions, is_share=False),
    )


def _by_question(corpus: Corpus) -> Iterator[dict[int, float]]:
    """Question by question: person -> their score."""
    found = Opinion.objects.filter(
        question__corpus=corpus, question__asked_of_people__gte=2, source=Opinion.PERSON
    )
    fields = ("question_id", "person_id", "score", "withdrawn", "resolves", "note")
    rows = found.order_by("question_id", "pk").values_list(*fields)
    for _, group in groupby(rows.iterator(chunk_size=CHUNK), key=lambda row: row[0]):
        said: dict[int, float] = {}
        for _, person, score, withdrawn, resolves, note in group:
            if resolves or note.startswith((SAW_JUDGE, SAW_OTHERS)):
                continue
            said.pop(person, None)
            if score is not None and not withdrawn:
                said[person] = score
        yield said


def _kappa(rows: list[tuple[int, int, float]], people: list[int], questions: int) -> Figure:
    if len(people) > 2:
        words = f"Cohen’s κ compares two people; {len(people)} answered"
        return Figure(None, None, None, questions, words, is_share=False)
    if len(people) < 2:
        return Figure(None, None, None, questions, NOBODY, is_share=False)
    by_unit: dict[int, dict[int, float]] = {}
    for unit, person, score in rows:
        by_unit.setdefault(unit, {})[person] = score
    pairs = [(said[people[0]], said[people[1]]) for said in by_unit.values()]
    return _figure(cohen_kappa(pairs, scale=SCALE, draws=DRAWS), questions, is_share=False)


def _figure(found: Agreement, n: int, *, is_share: bool = True) -> Figure:
    if found.undefined is not None:
        return Figure(None, None, None, n, WORDS[found.undefined], is_share)
    return Figure(
        found.value, found.low, found.high, n, "" if found.low is not None else NO_INTERVAL, is_share
    )
