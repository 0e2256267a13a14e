"""Taking the next step of a run: one statement under the lock of the run's row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection
from django.utils import timezone

from simulation.domain.run_states import RunState
from simulation.models import CallAttempt, Run, Step
from simulation.services import settlement

ENDS_A_TURN = ("topic", "turn")
"""Steps after which a run that goes turn by turn pauses; in runs without threads, any step."""


@dataclass
class Claim:
    """A step in this worker's hands until the lease runs out."""

    run: Run
    step: Step
    lease: UUID
    planned: int = 0
    """Steps that its end made ready; see `engine.plan`."""


LOCK = """
SELECT r.state, r.parallel, r.stepping, r.resumed_at, c.trashed_at IS NOT NULL
FROM simulation_run r JOIN simulation_corpus c ON c.id = r.corpus_id WHERE r.id = %s
FOR NO KEY UPDATE OF r
"""


def lock(run: Run) -> bool:
    """Locks the run's row and brings what may have changed of it up to date. False: its corpus is trashed."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [run.pk])
        row: Any = cursor.fetchone()
    if row is None:
        raise Run.DoesNotExist
    run.state, run.parallel, run.stepping, run.resumed_at, trashed = row
    return not trashed


TAKE = """
WITH next AS (
  SELECT s.id FROM simulation_step s
  WHERE s.run_id = %(run)s AND s.state = 'ready' AND s.due_at <= %(now)s
    AND (SELECT count(*) FROM simulation_step WHERE run_id = %(run)s AND state = 'leased') < %(parallel)s
    AND (s.tries = 0 OR s.kind <> 'turn' OR NOT EXISTS (
      SELECT 1 FROM simulation_step o
      WHERE o.run_thread_id = s.run_thread_id AND o.kind = 'turn' AND o.state = 'leased'))
    {only}
  ORDER BY s.due_at, s.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE simulation_step s SET state = 'leased', lease = %(lease)s, leased_until = %(until)s,
  claims = claims + 1
FROM next WHERE s.id = next.id RETURNING s.*
"""
FIRST_THREAD = """
    AND s.run_thread_id IS NOT DISTINCT FROM (
      SELECT o.run_thread_id FROM simulation_step o LEFT JOIN simulation_runthread t ON t.id = o.run_thread_id
      WHERE o.run_id = %(run)s AND o.state IN ('ready', 'leased') ORDER BY t.index, o.id LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM simulation_step o WHERE o.run_id = %(run)s AND o.state = 'leased'
      AND (o.run_thread_id IS NULL OR o.kind IN ('topic', 'turn')))
"""


def take(run: Run) -> Claim | None:
    """The next step of a run whose row the caller has locked; None where there is none to begin now.

    Turns of one thread that are tried again wait for each other, as all its turns do: what an agent is told
    of its own comments must not depend on who is faster.
    A run that goes turn by turn is given the steps of its first open thread alone.
    """
    if run.state != RunState.RUNNING:
        return None
    now, lease = timezone.now(), uuid4()
    values = {
        "run": run.pk,
        "now": now,
        "parallel": run.parallel,
        "lease": lease,
        "until": now + timedelta(seconds=settings.STEP_LEASE_SECONDS),
    }
    only = FIRST_THREAD if run.stepping else ""
    found = list(Step.objects.raw(TAKE.format(only=only), values))
    if not found:
        return None
    step = found[0]
    step.run = run
    if step.claims > 1:
        settlement.settle_lost(run=run, attempts=CallAttempt.objects.filter(call__step=step))
    return Claim(run, step, lease)


def turn_is_over(claim: Claim) -> bool:
    """Whether a run that goes turn by turn pauses after this step."""
    return claim.step.run_thread_id is None or claim.step.kind in ENDS_A_TURN


def soon(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)
