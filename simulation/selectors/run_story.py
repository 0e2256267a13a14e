"""The story of a run, line by line, newest first; and of a tagging run the latest tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from simulation.domain.run_states import StepState
from simulation.models import Happening, Run, Step

PAGE = 100
SHOWN = 12
LOUD = ("warn", "danger")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Story:
    lines: Sequence[Happening]
    total: int


@dataclass(frozen=True)
class StoryPage:
    lines: Sequence[Happening]
    before: str
    """Mark to continue behind; empty on the last page."""


def last(run: Run) -> Happening | None:
    return run.happenings.order_by("-id").first()


def latest(run: Run) -> Story:
    """The last few lines and how many there are in all; two queries."""
    return Story(list(run.happenings.order_by("-id")[:SHOWN]), run.happenings.count())


def latest_tags(run: Run) -> list[Step]:
    """The steps of a tagging run that ended last, with the comments they are about."""
    done = run.steps.filter(kind="tag", state=StepState.DONE, comment__isnull=False)
    return list(done.select_related("comment").order_by("-finished_at", "-id")[:SHOWN])


def page(run: Run, *, before: str = "", loud: bool = False) -> StoryPage:
    """One page of the story; with `loud` its warnings and faults alone.

    A mark is a time and how many lines of that very time were shown, so that no line is lost or doubled at
    a page's edge, and no database id is in it.
    """
    lines = run.happenings.order_by("-at", "-id")
    if loud:
        lines = lines.filter(level__in=LOUD)
    moment, shown = _read(before)
    if moment is not None:
        lines = lines.filter(at__lte=moment)
    found = list(lines[shown : shown + PAGE + 1])
    kept = found[:PAGE]
    return StoryPage(kept, _mark(kept, moment, shown) if len(found) > PAGE else "")


def _mark(kept: Sequence[Happening], moment: datetime | None, shown: int) -> str:
    end = kept[-1].at
    same = sum(1 for line in kept if line.at == end) + (shown if end == moment else 0)
    return f"{(end - _EPOCH) // timedelta(microseconds=1)}-{same}"


def _read(mark: str) -> tuple[datetime | None, int]:
    """A mark that nobody of ours wrote means the first page."""
    microseconds, _, shown = mark.partition("-")
    try:
        return _EPOCH + timedelta(microseconds=int(microseconds)), min(max(0, int(shown)), 10_000)
    except (ValueError, OverflowError):
        return None, 0
