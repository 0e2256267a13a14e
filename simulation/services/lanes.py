"""A step's place in the lane of a model: taken before a call is sent, given back when it came back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from simulation.llm.errors import LLMError
from simulation.llm.lanes import Lane, Lanes
from simulation.selectors.workers import broker

LANE_SECONDS = 3.0
"""How long a step waits for a place in the lane before it makes room for another: longer than most pauses,
so that a run keeps its hands."""
SHORTEST_WAIT = 0.2
"""Seconds before a call that met a 429 is tried again, at least."""


class Later(Exception):
    """The step cannot go on now; in `seconds` it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:.1f} s")
        self.seconds = seconds


class Full(Later):
    """No place in the lane got free in time; those who hold places go on meanwhile."""


@lru_cache(maxsize=1)
def lanes() -> Lanes:
    """The lanes of this installation, in its broker."""
    return Lanes(broker(), start=settings.LANE_START, most=settings.LANE_MOST)


@dataclass
class Place:
    """A place in a lane, held while a call is made. Entering raises Full where none gets free."""

    lane: Lane
    holder: str
    went_well: bool = False
    given_back: bool = False

    def __enter__(self) -> Place:
        end = time.monotonic() + min(LANE_SECONDS, settings.STEP_LEASE_SECONDS / 2)
        while wait := lanes().acquire(self.lane, self.holder, lease=settings.STEP_LEASE_SECONDS):
            if time.monotonic() + wait > end:
                raise Full(wait)
            time.sleep(wait)
        return self

    @contextmanager
    def held(self) -> Iterator[None]:
        """For a place that was taken before: it is given back at the end, as after `with`."""
        try:
            yield
        finally:
            self.__exit__()

    def renew(self) -> None:
        lanes().renew(self.lane, self.holder, settings.STEP_LEASE_SECONDS)

    def slow_down(self, error: LLMError) -> float:
        """The provider said that it was too fast. Seconds until the call may be tried again."""
        state = lanes().slow_down(self.lane, error.after, error.detail, holder=self.holder)
        return max(error.after or 0.0, state.paused_for, SHORTEST_WAIT)

    def stumbled(self, error: LLMError) -> None:
        """A passing fault, such as a timeout."""
        lanes().stumbled(self.lane, error.detail)

    def __exit__(self, *_: object) -> None:
        if self.given_back:
            return
        self.given_back = True
        if self.went_well:
            lanes().succeeded(self.lane, holder=self.holder)
        else:
            lanes().release(self.lane, self.holder)


def take_at_once(places: Sequence[Place]) -> list[bool]:
    """Which of these places of one lane are free at this moment; those are taken."""
    holders = [place.holder for place in places]
    lane = places[0].lane if places else ""
    return lanes().acquire_some(lane, holders, lease=settings.STEP_LEASE_SECONDS)


def give_back(places: Sequence[Place]) -> None:
    """What the end of `with` does, for places of one lane."""
    held = [place for place in places if not place.given_back]
    for place in held:
        place.given_back = True
    if held:
        lanes().come_back(
            held[0].lane,
            well=[place.holder for place in held if place.went_well],
            others=[place.holder for place in held if not place.went_well],
        )
