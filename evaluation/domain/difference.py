"""Where the published rules and the corrected ones say different things of the same guesses, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluation.domain.scoring import Label, Mode, Verdict, score_guesses


class Change(StrEnum):
    """What the default mode does to a published score."""

    RAISED = "raised"
    LOWERED = "lowered"
    OPENED = "opened"
    """The published rule decided; the default mode leaves it to a judge or person."""


@dataclass(frozen=True)
class Difference:
    """One guess of which the two modes say different things; `place` counts from 0."""

    place: int
    guess: str
    change: Change
    compatible: Verdict
    default: Verdict

    @property
    def why(self) -> str:
        """Both reasons in one line."""
        return f"published: {self.compatible.reason}; here: {self.default.reason}"


def difference(
    label: Label, guesses: Sequence[str], *, categories: Sequence[str] = (), classic: bool = True
) -> tuple[Difference, ...]:
    """The guesses whose scores differ between the modes, in their order; none for an empty list.

    A guess that the rules find wrong in one mode and open in the other is a difference too: a published 0 is
    final, an open one goes to a judge. Two open verdicts are the same.
    """
    published = score_guesses(label, guesses, categories=categories, mode=Mode.COMPATIBLE, classic=classic)
    ours = score_guesses(label, guesses, categories=categories, mode=Mode.DEFAULT, classic=classic)
    return tuple(
        Difference(place, guess, change, before, after)
        for place, (guess, before, after) in enumerate(zip(guesses, published, ours, strict=True))
        if (change := _change(before, after)) is not None
    )


def _change(before: Verdict, after: Verdict) -> Change | None:
    if before.score == after.score:
        return None
    if after.score is None or before.score is None:
        return Change.OPENED
    return Change.RAISED if after.score > before.score else Change.LOWERED
