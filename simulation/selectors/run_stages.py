"""How far a run is, stage by stage, as bars: done, in work, waiting, without a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simulation.domain import failures
from simulation.domain.run_states import StepState
from simulation.selectors.run_numbers import Numbers

ORDER = list(failures.STAGES)
UNTOLD = (StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED)


@dataclass(frozen=True)
class Strip:
    """One segment of a bar, in percent of its length as SVG attributes take them."""

    css: str
    start: str
    width: str


@dataclass(frozen=True)
class Stage:
    """Steps of one kind, or of one thread, by what became of them."""

    label: str
    done: int = 0
    in_work: int = 0
    waiting: int = 0
    lost: int = 0
    """Skipped, failed or cancelled."""

    @property
    def known(self) -> int:
        return self.done + self.in_work + self.waiting + self.lost

    @property
    def ended(self) -> int:
        return self.done + self.lost

    @property
    def strips(self) -> list[Strip]:
        found, start = [], 0.0
        share = 100 / self.known if self.known else 0.0
        for css, count in (("done", self.done), ("skipped", self.lost), ("held", self.in_work)):
            if count:
                found.append(Strip(css, f"{start:.2f}", f"{count * share:.2f}"))
                start += count * share
        return found

    @property
    def said(self) -> str:
        """The bar in words."""
        parts = [f"{self.done:,} done"]
        parts += [f"{n:,} {word}" for n, word in ((self.in_work, "in work"), (self.waiting, "waiting")) if n]
        return ", ".join([*parts, f"{self.lost:,} without a result"] if self.lost else parts)


def stage(label: str, states: Mapping[str, int]) -> Stage:
    """`states`: state of a step -> how many."""
    return Stage(
        label,
        done=states.get(StepState.DONE, 0),
        in_work=states.get(StepState.LEASED, 0),
        waiting=states.get(StepState.READY, 0),
        lost=sum(states.get(state, 0) for state in UNTOLD),
    )


def stages(numbers: Numbers) -> list[Stage]:
    """The stages that a run has so far, in the order in which it does them."""
    kinds = sorted(numbers.tally, key=lambda kind: (ORDER.index(kind) if kind in ORDER else 99, kind))
    return [stage(failures.many(kind), numbers.tally[kind]) for kind in kinds]


def of_steps(label: str, steps: Iterable[tuple[tuple[str, str], int]]) -> Stage:
    """All kinds together: ((kind, state), how many)."""
    states: dict[str, int] = {}
    for (_, state), n in steps:
        states[state] = states.get(state, 0) + n
    return stage(label, states)
