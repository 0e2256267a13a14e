"""Algorithm 1 as pure functions: whose turn it is in a thread, and what that turn writes.

A thread goes through rounds; in a round each agent has its turn in the fixed order of the agents, and a turn
has one or more actions. An action writes one comment or abstains. Source: Algorithm 1 as published.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simulation.domain.parameters import Parameters
from simulation.domain.seeds import generator
from simulation.domain.targets import NONE, Pool, Written

WEIGHTS = 10
"""Sum of the weights of writing and abstaining."""


@dataclass(frozen=True, order=True)
class Place:
    """Where in a thread an action stands, each counted from 0; `agent` is the index in the kept agents."""

    round: int
    agent: int
    action: int


@dataclass(frozen=True)
class Turn:
    """One comment to be written: who answers which comment, and how.

    `score` and `probability` are those of the target in the draw, `fallback` says that the limits of depth
    and replies were dropped for it. `words` are the least and the most words asked for.
    """

    place: Place
    agent: str
    target: str
    score: float
    probability: float
    fallback: bool
    critic: bool
    short: bool
    words: tuple[int, int]


class Weights(NamedTuple):
    """How an action is drawn; the two sum to 10."""

    comment: int
    abstain: int


def comment_weights(*, start: int, round: int) -> Weights:
    """Weights of writing and abstaining in a round: for writing `start`, less 1 each round, never below 1."""
    comment = max(start - round, 1)
    return Weights(comment, WEIGHTS - comment)


def critics(agents: Sequence[str], *, asked: int, p_critic: float, rng: random.Random) -> frozenset[str]:
    """Who always disagrees in a round: `asked * p_critic` draws, cut to whole, among the kept agents.

    Drawn with replacement, as published: of few kept agents nearly all are critics. No agents, no critics.
    """
    draws = int(asked * p_critic)
    return frozenset(rng.choices(agents, k=draws)) if agents else frozenset()


def next_turn(
    written: Sequence[Written],
    agents: Sequence[str],
    parameters: Parameters,
    *,
    seed: int,
    thread: int,
    after: Place | None,
    closed: frozenset[str] = NONE,
) -> Turn | None:
    """The first turn behind `after` (None: from the beginning) that writes, or None: the thread is over.

    `written` is the thread so far, root first, `agents` the kept agents in their fixed order. The answer
    depends on the arguments alone. The root is answered in round 0 only, `closed` comments never.
    """
    pool = Pool(written, closed=closed)
    for place in _places(len(agents), parameters, seed=seed, thread=thread, after=after):
        agent, path = agents[place.agent], (thread, place.round, place.agent, place.action)
        weights = comment_weights(start=parameters.start_weight, round=place.round)
        if generator(seed, *path, "comment").randrange(WEIGHTS) >= weights.comment:
            continue
        rng = generator(seed, *path, "target")
        choice = pool.choose(agent, parameters, with_root=place.round == 0, rng=rng)
        if choice is None:  # ends the agent's turn: its later actions in this round find nothing either
            continue
        short = generator(seed, *path, "length").random() < parameters.p_short
        return Turn(
            place=place,
            agent=agent,
            target=choice.target,
            score=choice.score,
            probability=choice.probability,
            fallback=choice.fallback,
            critic=agent in _critics(agents, parameters, seed=seed, thread=thread, round=place.round),
            short=short,
            words=parameters.short_words if short else parameters.long_words,
        )
    return None


def _places(
    agents: int, parameters: Parameters, *, seed: int, thread: int, after: Place | None
) -> Iterator[Place]:
    """The actions behind `after`, in order. How many an agent has in a round is drawn from 1 to the most."""
    begin = after or Place(0, 0, -1)
    for round in range(begin.round, parameters.rounds):
        for agent in range(begin.agent if round == begin.round else 0, agents):
            actions = generator(seed, thread, round, agent, "actions").randint(1, parameters.actions)
            begun = (round, agent) == (begin.round, begin.agent)
            for action in range(begin.action + 1 if begun else 0, actions):
                yield Place(round, agent, action)


def _critics(
    agents: Sequence[str], parameters: Parameters, *, seed: int, thread: int, round: int
) -> frozenset[str]:
    return critics(
        agents,
        asked=parameters.profiles_asked,
        p_critic=parameters.p_critic,
        rng=generator(seed, thread, round, "critics"),
    )


def simulate_structure(
    agents: Sequence[str], parameters: Parameters, *, seed: int, thread: int, drop: float = 0.0
) -> list[Written]:
    """A whole thread without its texts, in order of writing; keys are the positions, the root is "0".

    `drop` (0 to 1) is the share of replies that nobody may answer, as happened in the published runs.
    The root's author is the empty name, which no agent has.
    """
    written = [Written("0", None, "", 0)]
    depths = {"0": 0}
    closed: set[str] = set()
    after: Place | None = None
    while turn := next_turn(
        written, agents, parameters, seed=seed, thread=thread, after=after, closed=frozenset(closed)
    ):
        key = str(len(written))
        depths[key] = depths[turn.target] + 1
        written.append(Written(key, turn.target, turn.agent, depths[key]))
        if generator(seed, thread, key, "drop").random() < drop:
            closed.add(key)
        after = turn.place
    return written
