"""The story of a run, line by line, newest first; and the latest results of runs that write no thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulation.domain.run_states import StepState
from simulation.models import Happening, Profile, Run, Step
from simulation.selectors import moments

PAGE = 100
SHOWN = 12
LOUD = ("warn", "danger")


@dataclass(frozen=True)
class Story:
    lines: Sequence[Happening]
    total: int


def last(run: Run) -> Happening | None:
    return run.happenings.order_by("-id").first()


def latest(run: Run) -> Story:
    """The last few lines and how many there are in all; two queries."""
    return Story(list(run.happenings.order_by("-id")[:SHOWN]), run.happenings.count())


def latest_tags(run: Run) -> list[Step]:
    """The steps of a tagging run that ended last, with the comments they are about."""
    done = run.steps.filter(kind="tag", state=StepState.DONE, comment__isnull=False)
    return list(done.select_related("comment").order_by("-finished_at", "-id")[:SHOWN])


def latest_profiles(run: Run) -> list[Profile]:
    """The profiles that a run generated last."""
    return list(run.made_profiles.order_by("-id")[:SHOWN])


def latest_done(run: Run) -> list[Step]:
    """The steps that ended last with a result, whatever they do, with the comments they are about."""
    done = run.steps.filter(state=StepState.DONE).select_related("comment")
    return list(done.order_by("-finished_at", "-id")[:SHOWN])


def page(run: Run, *, before: str = "", loud: bool = False) -> moments.Page[Happening]:
    """One page of the story; with `loud` its warnings and faults alone."""
    lines = run.happenings.filter(level__in=LOUD) if loud else run.happenings.all()
    return moments.page(lines, before=before, size=PAGE)
