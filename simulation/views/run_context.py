"""What the page of a run shows: parts that all who watch share, and what belongs to the person."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from simulation.domain.roles import Right
from simulation.domain.run_states import OPEN_RUNS, RunState
from simulation.forms import CapsForm
from simulation.models import Corpus, Run, Step
from simulation.selectors import budget, run_health, run_watching, runs
from simulation.selectors.access import PersonRequest
from simulation.selectors.run_health import Health
from simulation.selectors.run_shared import Sheet
from simulation.services import steering
from simulation.views import run_parts


@dataclass(frozen=True)
class Seen:
    """Which state of the page a browser has: `v` is the run's, `head` and `worker` those of their parts."""

    v: str = ""
    head: str = ""
    worker: str = ""


def head_mark(run: Run) -> str:
    """Changes with what controls and notices say."""
    facts = (run.state, run.reason, run.stepping, run.max_calls, run.max_tokens, run.max_cost, run.soft_cost)
    warns = bool(run.soft_cost) and run.cost >= (run.soft_cost or 0)
    return hashlib.sha256(repr((*facts, warns)).encode()).hexdigest()[:8]


def context(
    request: PersonRequest, run: Run, *, index: int | None = None, form: CapsForm | None = None
) -> dict[str, Any]:
    """The context of `runs/run.html`. Without `index` the page follows the thread that is being written.

    Raises Http404 for a thread that the run does not have.
    """
    rights = run_watching.rights(request.user, run)
    sheet = run_parts.sheet(run, index=index, rights=rights)
    return {
        "section": "runs",
        "run": run,
        "corpus": run.corpus,
        "parts": {name: safe(html) for name, (_, html) in sheet.parts.items()},
        **pulse(run, sheet, index=index, health=run_health.of_run(run)),
        **head(request, run, form),
        "budget_notice": budget.notice(request.user),
    }


def safe(html: str) -> SafeString:
    """A part is what our own templates made."""
    return mark_safe(html)  # noqa: S308


def pulse(run: Run, sheet: Sheet, *, index: int | None, health: Health) -> dict[str, Any]:
    """The state that a browser has after this answer; it sends the marks with its next poll."""
    seen = {"v": sheet.token, "head": head_mark(run), "worker": health.kind}
    return {
        "polls": run.state in OPEN_RUNS or sheet.token != run_watching.token(run),
        "marks": urlencode(
            seen
            | {name: mark for name, (mark, _) in sheet.parts.items()}
            | ({} if index is None else {"place": index + 1})
        ),
        "now": timezone.now(),
        "health": health,
        "run": run,
    }


def head(request: PersonRequest, run: Run, form: CapsForm | None = None) -> dict[str, Any]:
    """Controls and notices, by what the person may do in this very corpus. No query while the run is open."""
    ended = run.state not in OPEN_RUNS
    may_start = run_watching.rights(request.user, run).starts
    return {
        "live": not ended,
        "may_start": may_start,
        "caps_form": form or CapsForm(run=run),
        "capped": run.state == RunState.HALTED and _by_own_cap(run),
        "warned": bool(run.soft_cost) and run.cost >= (run.soft_cost or 0),
        "may_queue": ended and _may(request, run, Right.MANAGE_QUEUES),
        "may_export": ended and _may(request, run, Right.EXPORT),
        "follower": run.followers.first() if ended else None,
        "retryable": retryable(run).count() if ended and may_start else 0,
        "may_add": ended and may_start and runs.starts_everywhere(request.user),
    }


def retryable(run: Run) -> QuerySet[Step]:
    """The steps that may be tried again now; none of a run that was stopped."""
    return steering.retryable(run) if run.state != RunState.CANCELLED else Step.objects.none()


def _by_own_cap(run: Run) -> bool:
    """Whether a cap of the run itself halted it: the installation's is raised elsewhere."""
    return run.calls >= run.max_calls or ("cap of" in run.reason and "installation" not in run.reason)


def _may(request: PersonRequest, run: Run, right: Right) -> bool:
    return Corpus.objects.with_right(request.user, right).filter(pk=run.corpus_id).exists()
