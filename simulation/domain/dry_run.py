"""What a run will need in calls, tokens, money and time: pure arithmetic over its plan and past calls.

The low end takes the fewest calls and the means of past ones. The high end takes the most calls, each as long
as the longest twentieth of past ones (p95). It is a forecast: caps never rest on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulation.domain.money import UnitPrice
from simulation.domain.plans import TOKENS, Range

ROLES = {
    "topic": "author",
    "interest": "interest",
    "turn": "user",
    "tag": "tagger",
    "judge": "judge",
    "infer": "adversary",
    "mask": "rewriter",
    "communities": "namer",
}
"""Purpose of a call -> the role whose model is asked."""
JUDGE_TOKENS = 600
ANSWERS = {
    "topic": 220,
    "interest": 60,
    "turn": 80,
    "tag": 300,
    "judge": 120,
    "infer": 700,
    "communities": 25,
}
"""Of the tokens of a call, those of the answer, where nothing is known of past ones."""
SECONDS = {
    "topic": 4.0,
    "interest": 1.5,
    "turn": 3.0,
    "tag": 5.0,
    "judge": 2.0,
    "infer": 8.0,
    "communities": 2.0,
}
SPREAD = 1.6
"""A long answer as a multiple of the mean one; of past calls the p95 is known."""


@dataclass(frozen=True)
class PerCall:
    """Tokens and seconds of one call: the mean and the p95. `n` past calls, 0: a rule of thumb."""

    input: float
    input_p95: float
    output: float
    output_p95: float
    seconds: float
    seconds_p95: float
    n: int = 0
    cost: float = 0.0
    """Nano-dollars that past calls were charged; forecasts of a plan take the price of today instead."""
    cost_p95: float = 0.0


def rule_of_thumb(purpose: str, *, max_tokens: int | None = None) -> PerCall:
    """For a purpose of which no past call is known; no answer is longer than `max_tokens`."""
    whole = TOKENS.get(purpose, JUDGE_TOKENS)
    answer = float(ANSWERS.get(purpose, ANSWERS["judge"]))
    most = float(max_tokens or answer * SPREAD)
    seconds = SECONDS.get(purpose, SECONDS["judge"])
    prompt = whole - answer
    return PerCall(
        prompt, prompt * SPREAD, min(answer, most), min(answer * SPREAD, most), seconds, seconds * SPREAD
    )


@dataclass(frozen=True)
class Task:
    """All calls of one purpose. `price` None: unknown. `width`: how many at once its lane allows."""

    purpose: str
    model: str
    provider: str
    """Public id."""
    provider_name: str
    calls: Range
    per_call: PerCall
    price: UnitPrice | None
    width: int


@dataclass(frozen=True)
class Row:
    """One role's share. Costs in nano-dollars, None where the price is unknown."""

    role: str
    purpose: str
    model: str
    provider: str
    provider_name: str
    calls_low: int
    calls_high: int
    tokens_low: int
    tokens_high: int
    cost_low: int | None
    cost_high: int | None
    n: int
    """Past calls that it rests on."""


@dataclass(frozen=True)
class DryRun:
    """The sums, and a row a role. Costs are None where a price is unknown; `unknown` are those rows."""

    calls_low: int
    calls_high: int
    tokens_low: int
    tokens_high: int
    cost_low: int | None
    cost_high: int | None
    seconds_low: float
    seconds_high: float
    per_role: tuple[Row, ...]

    @property
    def unknown(self) -> tuple[Row, ...]:
        """The first row of each model without a price."""
        rows = {(row.provider, row.model): row for row in reversed(self.per_role) if row.cost_low is None}
        return tuple(reversed(rows.values()))

    @property
    def n(self) -> int:
        return sum(row.n for row in self.per_role)

    @property
    def sources(self) -> str:
        """What it rests on, as the end of a sentence."""
        guessed = [row.role for row in self.per_role if not row.n]
        if not self.n:
            return "from rules of thumb"
        said = f"from {self.n:,} past call{'s' if self.n > 1 else ''}"
        return f"{said}; rules of thumb for {', '.join(guessed)}" if guessed else said

    @property
    def is_free(self) -> bool:
        return self.cost_high == 0


def dry_run(tasks: Sequence[Task], *, threads: int) -> DryRun:
    """The forecast of a run that writes `threads` threads, then tags, then has the tags judged."""
    rows = tuple(_row(task) for task in tasks)
    low, high = seconds(tasks, threads=threads)
    return DryRun(
        calls_low=sum(row.calls_low for row in rows),
        calls_high=sum(row.calls_high for row in rows),
        tokens_low=sum(row.tokens_low for row in rows),
        tokens_high=sum(row.tokens_high for row in rows),
        cost_low=_sum([row.cost_low for row in rows]),
        cost_high=_sum([row.cost_high for row in rows]),
        seconds_low=low,
        seconds_high=high,
        per_role=rows,
    )


def _row(task: Task) -> Row:
    one, calls = task.per_call, task.calls
    input_low, output_low = round(calls.low * one.input), round(calls.low * one.output)
    input_high, output_high = round(calls.high * one.input_p95), round(calls.high * one.output_p95)
    price = task.price
    return Row(
        role=ROLES.get(task.purpose, task.purpose),
        purpose=task.purpose,
        model=task.model,
        provider=task.provider,
        provider_name=task.provider_name,
        calls_low=calls.low,
        calls_high=calls.high,
        tokens_low=input_low + output_low,
        tokens_high=input_high + output_high,
        cost_low=None if price is None else price.cost(input=input_low, output=output_low),
        cost_high=None if price is None else price.cost(input=input_high, output=output_high),
        n=one.n,
    )


def _sum(amounts: Sequence[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


WRITING = ("topic", "interest", "turn")


def seconds(tasks: Sequence[Task], *, threads: int) -> tuple[float, float]:
    """How long it takes: at best and with bad luck.

    While threads are written, each waits for its own last answer: the post, one round of interest checks and
    turn after turn is the shortest that can be (the critical path), and all calls over the places of their
    lanes is the least work. The longer of the two is the best case, their sum the worst that a plan of work
    without idle places can come to (Graham 1969). Tags, and then the judge, come after all threads.
    """
    of = {task.purpose: task for task in tasks}
    writing = [of[purpose] for purpose in WRITING if purpose in of]
    stages = [[task] for purpose, task in of.items() if purpose not in WRITING]
    low = max(_path(of, threads, high=False), _work(writing, high=False))
    high = _path(of, threads, high=True) + _work(writing, high=True)
    for stage in stages:
        low += max(_work(stage, high=False), stage[0].per_call.seconds if stage[0].calls.low else 0.0)
        high += _work(stage, high=True) + stage[0].per_call.seconds_p95
    return low, high


def _path(of: Mapping[str, Task], threads: int, *, high: bool) -> float:
    """One thread's answers, one after another."""
    total = 0.0
    for purpose in WRITING:
        if (task := of.get(purpose)) is None or not threads:
            continue
        calls = task.calls.high if high else task.calls.low
        in_a_row = calls / threads if purpose == "turn" else min(1, calls)
        total += in_a_row * (task.per_call.seconds_p95 if high else task.per_call.seconds)
    return total


def _work(tasks: Sequence[Task], *, high: bool) -> float:
    return sum(
        (task.calls.high * task.per_call.seconds_p95 if high else task.calls.low * task.per_call.seconds)
        / max(1, task.width)
        for task in tasks
    )
