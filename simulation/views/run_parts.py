"""The parts of a run's page that all who see the same share: drawn without a person, marked by content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.template.loader import render_to_string

from simulation.domain.caps import Meter
from simulation.domain.run_states import OPEN_RUNS, RunState
from simulation.models import Run
from simulation.selectors import (
    run_forecast,
    run_lanes,
    run_numbers,
    run_shared,
    run_stages,
    run_story,
    run_threads,
    run_tree,
    run_trouble,
    run_watching,
)
from simulation.selectors.run_shared import Sheet
from simulation.selectors.run_watching import Rights
from simulation.services import steering
from simulation.services.lanes import lanes as shared_lanes

TEMPLATES = {
    "line": "runs/_line.html",
    "facts": "runs/_facts.html",
    "thread": "runs/_thread.html",
    "look": "runs/_look.html",
    "stages": "runs/_stages.html",
    "threads": "runs/_threads.html",
    "story": "runs/_story.html",
}
FOLLOW = "f"


def sheet(run: Run, *, index: int | None, rights: Rights) -> Sheet:
    """Everything of one state of the run, about 25 queries however large it is.

    `index` is the place of a thread from 0; None follows the one being written. Raises Http404 for a thread
    that the run does not have.
    """
    found = context(run, index=index, rights=rights)
    parts = {}
    for name, template in TEMPLATES.items():
        html = render_to_string(template, found).strip()
        parts[name] = (hashlib.sha256(html.encode()).hexdigest()[:8], html)
    return Sheet(run_watching.token(run), run.tick, parts)


def shared(run: Run, *, index: int | None, rights: Rights, seen_tick: int) -> Sheet | None:
    """The sheet of the run's present state, drawn here only if nobody has; see `run_shared.latest`."""
    return run_shared.latest(
        run_shared.variant(run.public_id, FOLLOW if index is None else str(index), rights.key),
        token=run_watching.token(run),
        seen_tick=seen_tick,
        draw=lambda: sheet(run, index=index, rights=rights),
    )


def context(run: Run, *, index: int | None, rights: Rights) -> dict[str, Any]:
    """What the parts are drawn from. No person is in it: nobody's name, token or address."""
    live = run.state in OPEN_RUNS
    numbers = run_numbers.numbers(run)
    look = run_trouble.look(run, numbers)
    lanes = run_lanes.of_run(run, shared_lanes()) if live else []
    return {
        "run": run,
        "corpus": run.corpus,
        "live": live,
        "may": rights,
        "numbers": numbers,
        "last": run_story.last(run),
        "pinned": index,
        "money": Meter(run.cost, run.cost_held, run.max_cost or 0),
        "soft_share": _share(run.soft_cost, run.max_cost),
        "tokens": Meter(run.tokens, run.tokens_held, run.max_tokens),
        "calls": Meter(run.calls, 0, run.max_calls),
        "stages": run_stages.stages(numbers),
        "lanes": lanes,
        "lane_limit": sum(lane.state.limit for lane in lanes if lane.state),
        "models": run_lanes.models(run),
        "left": run_forecast.left(run) if live else None,
        "look": look,
        "retryable": _retryable(run, [one.step.pk for one in look.lost]) if rights.starts else (),
        "story": run_story.latest(run),
        **_results(run, index),
    }


def _retryable(run: Run, steps: list[int]) -> set[int]:
    """Which of some steps may be tried again now."""
    if not steps or run.state == RunState.CANCELLED:
        return set()
    return set(steering.retryable(run).filter(pk__in=steps).values_list("pk", flat=True))


def _results(run: Run, index: int | None) -> Mapping[str, Any]:
    """What the run makes: a thread that grows, tags, profiles, checks."""
    if run.kind == Run.TAG:
        return {"tagged": run_story.latest_tags(run)}
    if run.kind == Run.PROFILES:
        return {"made": run_story.latest_profiles(run)}
    if run.kind != Run.SIMULATE:
        return {"checked": run_story.latest_done(run)}
    window = run_threads.window(run, run_threads.followed(run) if index is None else index)
    if window is None:
        if index is not None:
            raise Http404("The run has no such thread.")
        return {"window": None}
    return {
        "window": window,
        "steps": run_tree.growing(window.chosen, live=run.state == RunState.RUNNING),
    }


def _share(part: int | None, whole: int | None) -> str:
    """Percent as SVG attributes take it; empty where there is nothing to mark."""
    return f"{min(100.0, 100 * part / whole):.2f}" if part is not None and whole else ""
