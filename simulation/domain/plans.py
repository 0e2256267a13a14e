"""What a run is told at its start and never changes: models a role, caps, and what all of it will need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from simulation.domain.parameters import Parameters

SHARE_INTERESTED = 0.45
"""Of the profiles asked, about as many joined a thread of the published runs as there were asked 35 to 40."""
TOKENS = {"topic": 900, "interest": 550, "turn": 1500, "tag": 1100}
"""Tokens a call, prompt and answer together: a generous mean of our prompts."""

LEAST_TOKENS = 5000
"""Of a run that calls at all: before its first call the whole completion cap is set aside."""


class BadPlan(Exception):
    """A run cannot be started so. `field` is the field of the form, or empty; the message says what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class RoleModel:
    """The model of one role, with its parameters; `max_tokens` is the completion cap."""

    model: str
    temperature: float | None = None
    frequency_penalty: float | None = None
    max_tokens: int = 600
    seed: int | None = None
    """Sent with every call of the role; None: drawn for each call from the run's seed."""
    provider: str = ""
    """Public id of the provider; empty: the run's."""

    def __post_init__(self) -> None:
        if not self.model.strip() or len(self.model) > 100:
            raise ValueError("model: a name of 1 to 100 characters")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError("temperature: a number from 0 to 2")
        if self.frequency_penalty is not None and not -2 <= self.frequency_penalty <= 2:
            raise ValueError("frequency_penalty: a number from -2 to 2")
        if not 16 <= self.max_tokens <= 32_000:
            raise ValueError("max_tokens: a whole number from 16 to 32000")
        if self.seed is not None and not 0 <= self.seed < 2**31:
            raise ValueError("seed: a whole number from 0 to 2147483647")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class TypedTopic:
    """A post that a person wrote: whoever is drawn as the author of the thread opens it with these words."""

    target: str
    question: str
    description: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.question.strip()) <= 1000:
            raise ValueError("question: 1 to 1,000 characters")
        if not 1 <= len(self.description.strip()) <= 10_000:
            raise ValueError("description: 1 to 10,000 characters")


def published_models(model: str) -> dict[str, RoleModel]:
    """`model` in every role, with the parameters of the published runs (spec of the method, section 2)."""
    return {
        "author": RoleModel(model, temperature=1.0),
        "user": RoleModel(model, temperature=1.0, frequency_penalty=2.0),
        "interest": RoleModel(model, temperature=0.0),
        "tagger": RoleModel(model, temperature=0.0, max_tokens=1200),
        "judge": RoleModel(model, temperature=0.0, max_tokens=600),
    }


@dataclass(frozen=True)
class Forecast:
    """What a run will need, roughly: fewest and most calls that are likely, and tokens at most."""

    calls_low: int
    calls_high: int
    tokens_high: int
    turns: int
    """Comments expected, roots included."""


def forecast(
    *, targets: Mapping[str, int], profiles: int, parameters: Parameters, then_tag: bool
) -> Forecast:
    """A range of calls and tokens from the plan alone, before anything is known of the models.

    Comments are kept agents x mean actions x the falling chance to write; low and high take half and twice
    the usual share of interested profiles (at most all).
    """
    threads = sum(targets.values())
    asked = max(0, min(parameters.profiles_asked, profiles - 1))
    chance = sum(max(parameters.start_weight - round, 1) / 10 for round in range(parameters.rounds))
    per_agent = (1 + parameters.actions) / 2 * chance

    def calls(share: float) -> tuple[int, int]:
        turns = threads * (1 + round(asked * share * per_agent))
        return turns, threads * asked + turns * (2 if then_tag else 1)

    low, high = (calls(min(1.0, SHARE_INTERESTED * factor))[1] for factor in (0.5, 2.0))
    turns_high = calls(min(1.0, SHARE_INTERESTED * 2))[0]
    tokens = threads * (TOKENS["topic"] + asked * TOKENS["interest"])
    tokens += (turns_high - threads) * TOKENS["turn"] + turns_high * TOKENS["tag"] * then_tag
    return Forecast(low, high, max(tokens, LEAST_TOKENS), calls(SHARE_INTERESTED)[0])


@dataclass(frozen=True)
class Range:
    """Fewest and most that are likely."""

    low: int
    high: int


SHARE_JUDGED = (0.2, 1.0)
"""Calls of the judge for each tagged comment: rules decide most tags, and many comments have none."""


def expected_calls(
    *,
    targets: Mapping[str, int],
    profiles: int,
    parameters: Parameters,
    then_tag: bool,
    then_judge: bool = False,
    typed: int = 0,
) -> dict[str, Range]:
    """Calls by purpose, on the assumptions of `forecast`: the sums over the purposes are its numbers.

    `typed` threads have their post from a person. Purposes that call nothing are left out.
    """
    threads = sum(targets.values())
    asked = max(0, min(parameters.profiles_asked, profiles - 1))
    per_agent = comments_per_agent(parameters)
    turns = [
        threads * round(asked * min(1.0, SHARE_INTERESTED * factor) * per_agent) for factor in (0.5, 2.0)
    ]
    comments = Range(threads + turns[0], threads + turns[1])
    posts, asks = threads - min(typed, threads), threads * asked
    calls = {"topic": Range(posts, posts), "interest": Range(asks, asks), "turn": Range(*turns)}
    if then_tag:
        calls["tag"] = comments
        if then_judge:
            low, high = SHARE_JUDGED
            calls["judge"] = Range(round(comments.low * low), round(comments.high * high))
    return {purpose: count for purpose, count in calls.items() if count.high}


def comments_per_agent(parameters: Parameters) -> float:
    """Mean comments of one agent in one thread: mean actions x the falling chance to write."""
    chance = sum(max(parameters.start_weight - round, 1) / 10 for round in range(parameters.rounds))
    return (1 + parameters.actions) / 2 * chance


def tagging_forecast(comments: int) -> Forecast:
    """One call a comment, and one in five asked again at most."""
    calls = comments + comments // 5
    tokens = max(calls * TOKENS["tag"], LEAST_TOKENS) if calls else 0
    return Forecast(comments, calls, tokens, 0)
