"""How judge models do: what they could not say, how often they differ from themselves and from people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from django.db.models import IntegerField, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotation.metrics.alpha import ordinal_alpha
from annotation.metrics.kappa import cohen_kappa
from annotation.metrics.measured import Agreement, Undefined
from annotation.metrics.ratings import gather
from annotation.metrics.raw_agreement import percent_agreement
from annotation.metrics.shares import Share
from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Rung
from evaluation.models import Opinion
from simulation.domain.run_states import StepState
from simulation.models import Corpus, Provider, Run, Step

SCALE = (WRONG, HALF, RIGHT)
FEW = 30
"""Fewer items than this are marked: their share says little."""
CHUNK = 5000
DRAWS = 1000
NO_VOTES = Share(0, 0)
WORDS = {
    Undefined.EMPTY: "no question was answered by both",
    Undefined.ONE_RATER: "no question was answered by both",
    Undefined.NOTHING_PAIRED: "no question was answered by both",
    Undefined.ONE_VALUE: "undefined: both gave one and the same verdict throughout",
    Undefined.ALL_ALIKE: "undefined: all verdicts count as equal",
}
"""What stands where there is no value."""
NO_INTERVAL = "no interval: too few questions"


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval and the questions `n` that it rests on; None where there is none, and
    `words` say why. In percent, or as it is (`is_share` false)."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    words: str = ""
    is_share: bool = True

    @property
    def said(self) -> str:
        """The value as a page writes it; empty where there is none."""
        return (
            ""
            if self.value is None
            else f"{self._of(self.value)} %"
            if self.is_share
            else self._of(self.value)
        )

    @property
    def interval(self) -> str:
        """Its ends; empty where there are none."""
        return (
            "" if self.low is None or self.high is None else f"{self._of(self.low)} to {self._of(self.high)}"
        )

    @property
    def few(self) -> bool:
        """Whether it rests on so few questions that it is marked."""
        return self.value is not None and self.n < FEW

    def _of(self, number: float) -> str:
        return f"{100 * number:.1f}" if self.is_share else f"{number:.2f}".replace("-0.00", "0.00")


@dataclass(frozen=True)
class JudgeHealth:
    """One judge model at one provider, over all its runs in a corpus."""

    model: str
    provider: str
    runs: int
    answered: int
    """Questions that it has answered, in whichever run."""
    unsaid: Share
    """Of the times it was asked about a question, how often no verdict could be read of its answer."""
    split: Share
    """Of the questions that several votes within one run decided, on how many these were not unanimous."""
    flips: Figure
    """Of two answers to a question in two runs, how often they differ; each question weighs the same."""
    spread: float | None
    """How far the answers to such a question lie apart on average, on the scale 0, 0.5, 1."""
    percent: Figure
    """Share of questions on which its latest answer is what people settled."""
    kappa: Figure
    alpha: Figure


@dataclass
class _Tally:
    """What is counted of one judge while its answers go by."""

    runs: set[int] = field(default_factory=set)
    split: int = 0
    voted: int = 0
    asked: int = 0
    unsaid: int = 0
    answered: int = 0
    repeats: Counter[tuple[float, ...]] = field(default_factory=Counter)
    """Scores of one question in several runs, sorted -> how many questions have them."""
    pairs: Counter[tuple[float, float]] = field(default_factory=Counter)
    """(judge's score, people's score) -> how many questions."""

    def take(self, said: dict[int, float | None], people: float | None) -> None:
        """One question: what the judge said of it in each run, in the order of its answers."""
        self.runs |= said.keys()
        scores = [score for score in said.values() if score is not None]
        self.asked += len(said)
        self.unsaid += len(said) - len(scores)
        if not scores:
            return
        self.answered += 1
        if len(scores) > 1:
            self.repeats[tuple(sorted(scores))] += 1
        if people is not None:
            self.pairs[scores[-1], people] += 1


def judge_health(corpus: Corpus) -> list[JudgeHealth]:
    """Every judge that has answered questions of the corpus, by model and provider; four queries.

    People's answer is what they settled; where people differ there is none. Agreement is shown three ways:
    percent, Cohen's kappa (1960) of the three verdicts, and Krippendorff's alpha for their order (2011). All
    say nothing of chance where only one verdict was ever given, and are undefined then.
    """
    judges = _judges(corpus)
    voted = _voted(judges)
    tallies: dict[tuple[str, str], _Tally] = {}
    for said, people in _by_question(corpus):
        by_judge: dict[tuple[str, str], dict[int, float | None]] = {}
        for run, score in said:
            mine = by_judge.setdefault(judges[run], {})
            if score is not None or run not in mine:
                mine.pop(run, None)
                mine[run] = score
        for judge, answers in by_judge.items():
            tallies.setdefault(judge, _Tally()).take(answers, people)
    for tally in tallies.values():
        tally.split = sum(voted.get(run, NO_VOTES).hits for run in tally.runs)
        tally.voted = sum(voted.get(run, NO_VOTES).n for run in tally.runs)
    return [_health(*judge, tally) for judge, tally in sorted(tallies.items())]


def split_votes(run: Run) -> Share:
    """Of the questions of a run that several votes decided, on how many these were not unanimous: the flip
    rate within the run. `n` is 0 for a run with one vote each."""
    return _voted([run.pk]).get(run.pk, NO_VOTES)


def _voted(runs: Collection[int]) -> dict[int, Share]:
    """Run (key) -> questions that its votes split on, of those that they decided; without the runs that had
    one vote each. One query."""
    done = Step.objects.filter(run__in=runs, state=StepState.DONE, result__has_key="split")
    hits, n = (Sum(Cast(KT(f"result__{name}"), IntegerField())) for name in ("split", "questions"))
    return {run: Share(*sums) for run, *sums in done.order_by().values_list("run").annotate(hits=hits, n=n)}


def _judges(corpus: Corpus) -> dict[int, tuple[str, str]]:
    """Run -> its judge: the model, and the name of the provider where it was asked."""
    runs = Run.objects.filter(corpus=corpus, kind=Run.MATCH).select_related("provider")
    roles = {run: run.plan["models"]["judge"] for run in runs}
    others = Provider.objects.filter(public_id__in={role.get("provider", "") for role in roles.values()})
    names = dict(others.values_list("public_id", "name"))
    return {
        run.pk: (role["model"], names.get(role.get("provider", ""), run.provider.name))
        for run, role in roles.items()
    }


def _by_question(corpus: Corpus) -> Iterator[tuple[list[tuple[int, float | None]], float | None]]:
    """Question by question: (run, score) of each answer of a judge, and what people settled, if they did."""
    rows = (
        Opinion.objects.filter(question__corpus=corpus, source=Opinion.JUDGE, run__kind=Run.MATCH)
        .order_by("question_id", "pk")
        .values_list("question_id", "run_id", "score", "question__score", "question__rung")
    )
    for _, group in groupby(rows.iterator(chunk_size=CHUNK), key=lambda row: row[0]):
        every = list(group)
        *_, settled, rung = every[0]
        yield [(row[1], row[2]) for row in every], settled if rung == Rung.PERSON else None


def _health(model: str, provider: str, tally: _Tally) -> JudgeHealth:
    pairs = [pair for pair, times in sorted(tally.pairs.items()) for _ in range(times)]
    both = gather((unit, rater, value) for unit, pair in enumerate(pairs) for rater, value in enumerate(pair))
    return JudgeHealth(
        model=model,
        provider=provider,
        runs=len(tally.runs),
        answered=tally.answered,
        unsaid=Share(tally.unsaid, tally.asked),
        split=Share(tally.split, tally.voted),
        flips=_flips(tally.repeats),
        spread=_spread(tally.repeats),
        percent=_figure(percent_agreement(both, draws=DRAWS), len(pairs)),
        kappa=_figure(cohen_kappa(pairs, scale=SCALE, draws=DRAWS), len(pairs), is_share=False),
        alpha=_figure(ordinal_alpha(both, SCALE, draws=DRAWS), len(pairs), is_share=False),
    )


def _flips(repeats: Counter[tuple[float, ...]]) -> Figure:
    """Of two answers to one question, the share that differ: 1 - percent agreement between runs."""
    n = sum(repeats.values())
    if not n:
        return Figure(None, None, None, 0, "no question was asked twice")
    same = percent_agreement(gather(_ratings(repeats)), draws=DRAWS)
    value, low, high = (None if end is None else 1 - end for end in (same.value, same.high, same.low))
    return Figure(value, low, high, n, "" if low is not None else NO_INTERVAL)


def _ratings(repeats: Counter[tuple[float, ...]]) -> Iterator[tuple[int, int, float]]:
    unit = 0
    for scores, times in sorted(repeats.items()):
        for _ in range(times):
            yield from ((unit, place, score) for place, score in enumerate(scores))
            unit += 1


def _spread(repeats: Counter[tuple[float, ...]]) -> float | None:
    n = sum(repeats.values())
    return sum((scores[-1] - scores[0]) * times for scores, times in repeats.items()) / n if n else None


def _figure(found: Agreement, n: int, *, is_share: bool = True) -> Figure:
    if found.undefined is not None:
        return Figure(None, None, None, n, WORDS[found.undefined], is_share)
    words = "" if found.low is not None else NO_INTERVAL
    return Figure(found.value, found.low, found.high, n, words, is_share)
