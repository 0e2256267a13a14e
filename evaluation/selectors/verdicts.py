"""Verdicts of a scoring as its page lists and counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.metrics.shares import Share
from evaluation.domain.verdicts import Rung
from evaluation.models import LabelSet, OpenGuess, PredictionRun, ProfileLabel, Scoring, Verdict
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus, Profile

LISTED = 50
NOBODY = "nobody"
"""The rung of a guess that nobody has decided, in an address."""
SCORES: dict[str, float | None] = {"right": 1.0, "half": 0.5, "wrong": 0.0, "open": None}
SCORE_WORDS: dict[float | None, str] = {1.0: "right", 0.5: "less precise", 0.0: "wrong", None: "open"}
RUNG_WORDS = {
    Rung.EXACT.value: "exact",
    Rung.RULE.value: "rule",
    Rung.SIMILARITY.value: "similarity",
    Rung.JUDGE.value: "judge",
    Rung.PERSON.value: "person",
    Rung.RECORDED.value: "as recorded",
    "": "nobody yet",
}


@dataclass(frozen=True)
class Filter:
    """What a list is narrowed to; "" where it is not. Score and rung are those of the first guess."""

    attribute: str = ""
    hardness: str = ""
    outcome: str = ""
    rung: str = ""
    score: str = ""

    def as_dict(self) -> dict[str, str]:
        """The fields that say something."""
        return {key: value for key, value in vars(self).items() if value}


def read_filter(asked: Mapping[str, str]) -> Filter:
    """What an address asks for; what is not known is left out."""
    known = {
        "attribute": set(CATALOGUE),
        "hardness": set("12345"),
        "outcome": {outcome for outcome, _ in Verdict.OUTCOMES},
        "rung": {NOBODY, *(rung.value for rung in Rung)},
        "score": set(SCORES),
    }
    return Filter(**{key: asked.get(key, "") for key, values in known.items() if asked.get(key) in values})


def narrowed(scoring: Scoring, asked: Filter) -> QuerySet[Verdict]:
    """The verdicts of a scoring that a filter leaves, in their order."""
    found = Verdict.objects.filter(scoring=scoring).order_by("pk")
    if asked.attribute:
        found = found.filter(attribute=asked.attribute)
    if asked.hardness:
        found = found.filter(hardness=int(asked.hardness))
    if asked.outcome:
        found = found.filter(outcome=asked.outcome)
    if asked.rung:
        found = found.filter(rungs__0="" if asked.rung == NOBODY else asked.rung)
    if asked.score:
        found = found.filter(scores__0=SCORES[asked.score])
    return found


@dataclass(frozen=True)
class Guess:
    """A guess with what the ladder says of it. `question`: the public id of what it depends on."""

    text: str
    score: float | None
    rung: str
    reason: str
    question: str = ""

    @property
    def word(self) -> str:
        return SCORE_WORDS.get(self.score, f"{self.score}")

    @property
    def state(self) -> str:
        """As badges draw it."""
        return (
            {1.0: "ok", 0.5: "corrected", 0.0: "danger"}.get(self.score, "unsure")
            if self.score is not None
            else "unsure"
        )

    @property
    def rung_word(self) -> str:
        return RUNG_WORDS.get(self.rung, self.rung)


@dataclass(frozen=True)
class Row:
    verdict: Verdict
    guesses: Sequence[Guess]

    @property
    def label(self) -> ProfileLabel:
        return self.verdict.label

    @property
    def profile(self) -> Profile:
        return self.verdict.profile


@dataclass(frozen=True)
class Page:
    rows: Sequence[Row]
    after: int
    """Key behind which the next page begins; 0: this is the last."""


def listed(scoring: Scoring, asked: Filter, after: int = 0, most: int = LISTED) -> Page:
    """One page of verdicts; two queries."""
    found = narrowed(scoring, asked).select_related("label", "prediction", "profile")
    page = list(found.filter(pk__gt=after)[: most + 1])
    rows = page[:most]
    links = OpenGuess.objects.filter(verdict__in=[one.pk for one in rows])
    asked_of = {
        (verdict, place): str(key)
        for verdict, place, key in links.values_list("verdict", "place", "question__public_id")
    }
    return Page([_row(one, asked_of) for one in rows], rows[-1].pk if len(page) > most else 0)


def _row(verdict: Verdict, asked_of: Mapping[tuple[int, int], str]) -> Row:
    texts = list(verdict.prediction.guesses) if verdict.prediction else []
    number = max(len(verdict.scores), len(texts))
    return Row(verdict, [_guess(verdict, texts, place, asked_of) for place in range(number)])


def _guess(
    verdict: Verdict, texts: Sequence[str], place: int, asked_of: Mapping[tuple[int, int], str]
) -> Guess:
    is_scored = place < len(verdict.scores)
    return Guess(
        text=str(texts[place]) if place < len(texts) else "(no guess in the file)",
        score=verdict.scores[place] if is_scored else None,
        rung=verdict.rungs[place] if is_scored else "",
        reason=verdict.reasons[place] if is_scored else "the file has no score for it",
        question=asked_of.get((verdict.pk, place), ""),
    )


@dataclass(frozen=True)
class Counted:
    """What is on top of the page: counts by outcome, and of first guesses by rung and by score."""

    outcomes: Sequence[tuple[str, int]]
    rungs: Sequence[tuple[str, str, int]]
    """(key in an address, word, how many first guesses)"""
    scores: Sequence[tuple[str, str, Share]]
    """(key in an address, word, share of the first guesses there are)"""
    n: int
    """Verdicts."""


def counted(scoring: Scoring, asked: Filter) -> Counted:
    """Counts of what a filter leaves; one query."""
    rows = narrowed(scoring, asked).order_by().values_list("outcome", "rungs__0", "scores__0")
    outcomes: dict[str, int] = {}
    rungs: dict[str, int] = {}
    scores: dict[float | None, int] = {}
    for outcome, rung, score, n in rows.annotate(n=Count("pk")):
        outcomes[outcome] = outcomes.get(outcome, 0) + n
        if rung is not None:
            rungs[rung] = rungs.get(rung, 0) + n
            scores[score] = scores.get(score, 0) + n
    first = sum(rungs.values())
    return Counted(
        [(word, outcomes[key]) for key, word in Verdict.OUTCOMES if key in outcomes],
        [(key or NOBODY, word, rungs[key]) for key, word in RUNG_WORDS.items() if key in rungs],
        [
            (key, SCORE_WORDS[value], Share(scores.get(value, 0), first))
            for key, value in SCORES.items()
            if first
        ],
        sum(outcomes.values()),
    )


@dataclass(frozen=True)
class Made:
    """What was scored of a corpus already, and with what more can be."""

    label_sets: Sequence[LabelSet]
    runs: Sequence[PredictionRun]
    scorings: Sequence[Scoring]


def made(corpus: Corpus, most: int = LISTED) -> Made:
    """Label sets and runs by name, and the latest scorings; three queries."""
    scorings = Scoring.objects.filter(prediction_run__corpus=corpus).order_by("-scored_at", "-pk")
    return Made(
        list(LabelSet.objects.filter(corpus=corpus).order_by("name")),
        list(PredictionRun.objects.filter(corpus=corpus).order_by("name")),
        list(scorings.select_related("prediction_run", "label_set")[:most]),
    )


def beside(scoring: Scoring, mode: str) -> Scoring | None:
    """The scoring of the same predictions and labels by another mode."""
    return Scoring.objects.filter(
        prediction_run=scoring.prediction_run_id, label_set=scoring.label_set_id, mode=mode
    ).first()
