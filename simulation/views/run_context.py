"""What the page of a run shows: everything for a reader, and for a poll what has changed since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.utils import timezone

from simulation.domain.caps import Meter
from simulation.domain.roles import Right
from simulation.domain.run_states import OPEN_RUNS, RunState
from simulation.forms import CapsForm
from simulation.models import Corpus, Run
from simulation.selectors import run_numbers, run_story, run_threads, run_tree, run_trouble, runs, workers
from simulation.selectors.access import PersonRequest
from simulation.services import completions

PARTS = ("head", "tree", "look", "threads", "story")
WORKED = (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True)
class Seen:
    """Which state of each part a browser has; a part whose mark differs is sent again."""

    marks: dict[str, str]
    sent: dict[str, str]

    def is_old(self, part: str) -> bool:
        return self.sent.get(part) != self.marks[part]


def _mark(*facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:8]


def context(
    request: PersonRequest, run: Run, *, index: int | None = None, form: CapsForm | None = None
) -> dict[str, Any]:
    """The context of `runs/run.html`. Without `index` the page follows the thread that is being written.

    Raises Http404 for a thread that the run does not have.
    """
    live = run.state in OPEN_RUNS
    numbers = run_numbers.numbers(run)
    window = None
    if run.kind == Run.SIMULATE:
        window = run_threads.window(run, run_threads.followed(run) if index is None else index)
        if window is None and index is not None:
            raise Http404
    last = run_story.last(run)
    idle = run.state in WORKED and not workers.alive()
    seen = Seen(_marks(run, numbers, window, last.pk if last else 0, idle), _sent(request))
    return {
        "section": "runs",
        "run": run,
        "corpus": run.corpus,
        "live": live,
        "now": timezone.now(),
        "numbers": numbers,
        "last": last,
        "window": window,
        "pinned": index,
        "marks": urlencode(seen.marks),
        "tokens": Meter(run.tokens, run.tokens_held, run.max_tokens),
        "calls": Meter(run.calls, 0, run.max_calls),
        "lane": completions.lane_of_run(run) if live else None,
        "new": {part: seen.is_old(part) for part in PARTS},
        **_changed(run, numbers, window, seen),
        **(_head(request, run, idle, form) if seen.is_old("head") else {}),
    }


def _marks(
    run: Run, numbers: run_numbers.Numbers, window: run_threads.Window | None, last: int, idle: bool
) -> dict[str, str]:
    rows = [row.version() for row in window.rows] if window else []
    chosen = window.chosen.version() if window else (numbers.tagged,)
    return {
        "head": _mark(run.state, run.reason, run.max_calls, run.max_tokens, idle),
        "tree": _mark(run.state == RunState.RUNNING, chosen),
        "look": _mark(run_trouble.version(numbers)),
        "threads": _mark(rows, window.chosen.place if window else 0, window.over if window else 0),
        "story": _mark(last),
    }


def _sent(request: PersonRequest) -> dict[str, str]:
    return {part: request.GET.get(part, "") for part in PARTS} if request.htmx else {}


def _changed(
    run: Run,
    numbers: run_numbers.Numbers,
    window: run_threads.Window | None,
    seen: Seen,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if window and seen.is_old("tree"):
        found["steps"] = run_tree.growing(window.chosen, live=run.state == RunState.RUNNING)
    if window is None and seen.is_old("tree"):
        found["tagged"] = run_story.latest_tags(run)
    if seen.is_old("look"):
        found["look"] = run_trouble.look(run, numbers)
    if seen.is_old("story"):
        found["story"] = run_story.latest(run)
    return found


def _head(request: PersonRequest, run: Run, idle: bool, form: CapsForm | None) -> dict[str, Any]:
    """Controls and notices, by what the person may do in this very corpus."""
    ended = run.state not in OPEN_RUNS
    return {
        "idle": idle,
        "may_start": runs.may_start(request.user, run.corpus),
        "caps_form": form or CapsForm(run=run),
        "capped": run.state == RunState.HALTED and (run.calls >= run.max_calls or "cap of" in run.reason),
        "may_queue": ended and _may(request, run, Right.MANAGE_QUEUES),
        "may_export": ended and _may(request, run, Right.EXPORT),
        "follower": run.followers.first() if ended else None,
    }


def _may(request: PersonRequest, run: Run, right: Right) -> bool:
    return Corpus.objects.with_right(request.user, right).filter(pk=run.corpus_id).exists()
