"""The threads of a run and how far each is: counted from steps, a window of threads at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Case, Count, Q, When

from simulation.domain.attributes import CATALOGUE
from simulation.domain.run_states import ENDED_RUNS, StepState
from simulation.models import Run, RunThread, Step
from simulation.selectors.run_stages import Stage, of_steps

WINDOW = 12
"""Threads listed at once."""


@dataclass(frozen=True)
class ThreadRow:
    """One thread in numbers. `joined` of those `answered` said yes; `asked` are to be asked."""

    thread: RunThread
    asked: int
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    joined: int = 0
    over: bool = False
    """Whether the whole run is over."""

    @property
    def state(self) -> str:
        """As the thread's own, and `stopped` where the run ended before the thread did."""
        unfinished = self.thread.state in (RunThread.WAITING, RunThread.RUNNING)
        return "stopped" if self.over and unfinished else self.thread.state

    def _count(self, kind: str, *states: str) -> int:
        return sum(n for (one, state), n in self.steps.items() if one == kind and state in states)

    @property
    def comments(self) -> int:
        return self._count("topic", StepState.DONE) + self._count("turn", StepState.DONE)

    @property
    def answered(self) -> int:
        return self._count("interest", StepState.DONE, StepState.SKIPPED, StepState.FAILED)

    @property
    def in_work(self) -> int:
        return sum(n for (_, state), n in self.steps.items() if state == StepState.LEASED)

    @property
    def skipped(self) -> int:
        return sum(n for (_, state), n in self.steps.items() if state == StepState.SKIPPED)

    @property
    def asking(self) -> bool:
        return not self.over and self.comments > 0 and self.answered < self.asked

    @property
    def label(self) -> str:
        known = CATALOGUE.get(self.thread.target)
        return known.label if known else self.thread.target

    @property
    def place(self) -> int:
        return self.thread.index + 1

    @property
    def stage(self) -> Stage:
        """All its steps as one bar."""
        return of_steps(f"thread {self.place}", self.steps.items())


@dataclass(frozen=True)
class Window:
    """Some threads of a run around the one looked at. `earlier` and `later` are indexes to go on at."""

    rows: Sequence[ThreadRow]
    chosen: ThreadRow
    total: int
    over: int
    earlier: int | None
    later: int | None


def followed(run: Run) -> int:
    """The index of the thread to watch when nobody chose: the first that is being written, else the first
    that is not begun, else the first. It moves on only when a thread is over."""
    rank = Case(When(state=RunThread.RUNNING, then=0), When(state=RunThread.WAITING, then=1), default=2)
    return run.run_threads.order_by(rank, "index").values_list("index", flat=True).first() or 0


def window(run: Run, index: int) -> Window | None:
    """The threads around number `index`, in three queries; None if the run has no such thread."""
    start = index // WINDOW * WINDOW
    states = Counter(dict(run.run_threads.order_by().values_list("state").annotate(n=Count("pk"))))
    shown = run.run_threads.filter(index__gte=start, index__lt=start + WINDOW)
    threads = list(shown.select_related("author", "thread"))
    for thread in threads:
        thread.run = run
    ended = run.state in ENDED_RUNS
    rows = [ThreadRow(thread, len(thread.asked), *counted, ended) for thread, counted in _counted(threads)]
    chosen = next((row for row in rows if row.thread.index == index), None)
    if chosen is None:
        return None
    total = states.total()
    return Window(
        rows=rows,
        chosen=chosen,
        total=total,
        over=total - states[RunThread.WAITING] - states[RunThread.RUNNING],
        earlier=start - WINDOW if start else None,
        later=start + WINDOW if start + WINDOW < total else None,
    )


def _counted(
    threads: Sequence[RunThread],
) -> Iterable[tuple[RunThread, tuple[Counter[tuple[str, str]], int]]]:
    steps = Step.objects.filter(run_thread__in=threads).order_by()
    groups = steps.values_list("run_thread_id", "kind", "state").annotate(
        n=Count("pk"), yes=Count("pk", filter=Q(kind="interest", result__interested=True))
    )
    counts: dict[int, Counter[tuple[str, str]]] = {thread.pk: Counter() for thread in threads}
    joined: Counter[int] = Counter()
    for pk, kind, state, n, yes in groups:
        counts[pk][kind, state] = n
        joined[pk] += yes
    return [(thread, (counts[thread.pk], joined[thread.pk])) for thread in threads]
