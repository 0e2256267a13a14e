"""Taking the next step of a run: one statement under the lock of the run's row."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import JSONField
from django.utils import timezone

from simulation.domain.run_states import RunState
from simulation.models import CallAttempt, Run, Step
from simulation.selectors.prepared import at_once, prepared
from simulation.services import settlement, spending

ENDS_A_TURN = ("topic", "turn")
"""Steps after which a run that goes turn by turn pauses; in runs without threads, any step."""


@dataclass
class Claim:
    """A step in this worker's hands until the lease runs out."""

    run: Run
    step: Step
    lease: UUID
    hands: int = 0
    """How many the steps need that its end made ready; see `engine.plan`."""
    fellows: list[Claim] = field(default_factory=list)
    """Steps of the same kind and thread, under the same lease, that are asked in one go with it."""


KNOWN_SECONDS = 5.0
_KNOWN: dict[int, tuple[float, Run]] = {}


def run_of(run_id: int) -> Run:
    """A run with its provider and corpus, read every few seconds: what changes of it, `lock` brings anew."""
    now, known = time.monotonic(), _KNOWN.get(run_id)
    if known is None or now - known[0] > KNOWN_SECONDS:
        for old in [one for one, (at, _) in list(_KNOWN.items()) if now - at > KNOWN_SECONDS]:
            _KNOWN.pop(old, None)  # a process does not keep the plans of all runs it ever worked for
        known = (now, Run.objects.select_related("provider", "corpus").get(pk=run_id))
        _KNOWN[run_id] = known
    return copy(known[1])


def forget() -> None:
    """Forgets the runs; for tests, whose rows go."""
    _KNOWN.clear()
    _TOGETHER.clear()


LOCK = """
SELECT r.state, r.parallel, r.stepping, r.resumed_at, c.trashed_at IS NOT NULL
FROM simulation_run r JOIN simulation_corpus c ON c.id = r.corpus_id WHERE r.id = %s
FOR NO KEY UPDATE OF r
"""


def lock(run: Run) -> bool:
    """Locks the run's row and brings what may have changed of it up to date. False: its corpus is trashed."""
    with prepared() as cursor:
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
    AND (SELECT count(*) FROM simulation_step WHERE run_id = %(run)s AND state = 'leased')
      < (SELECT parallel FROM simulation_run WHERE id = %(run)s)
    AND (s.tries = 0 OR s.kind <> 'turn' OR NOT EXISTS (
      SELECT 1 FROM simulation_step o
      WHERE o.run_thread_id = s.run_thread_id AND o.kind = 'turn' AND o.state = 'leased'))
    {only}
  ORDER BY s.due_at, s.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
), first AS (
  SELECT s.run_thread_id, s.id FROM simulation_step s JOIN next ON next.id = s.id
  WHERE s.kind = %(together)s AND s.claims = 0 AND %(most)s > 1
), fellows AS (
  SELECT s.id FROM simulation_step s JOIN first ON s.run_thread_id = first.run_thread_id
  WHERE s.id <> first.id AND s.state = 'ready' AND s.due_at <= %(now)s AND s.kind = %(together)s
    AND s.claims = 0
  ORDER BY s.id LIMIT (SELECT greatest(0, least(%(most)s, parallel
    - (SELECT count(*) FROM simulation_step WHERE run_id = %(run)s AND state = 'leased')) - 1)
    FROM simulation_run WHERE id = %(run)s)
  FOR NO KEY UPDATE OF s SKIP LOCKED
), taken AS (SELECT id FROM next UNION ALL SELECT id FROM fellows)
UPDATE simulation_step s SET state = 'leased', lease = %(lease)s, leased_until = %(until)s,
  claims = claims + 1
FROM taken WHERE s.id = taken.id RETURNING {columns}
"""
FIELDS = [field.attname for field in Step._meta.concrete_fields]
COLUMNS = ", ".join(f"s.{field.column}" for field in Step._meta.concrete_fields)
JSON = [place for place, field in enumerate(Step._meta.concrete_fields) if isinstance(field, JSONField)]
FIRST_THREAD = """
    AND s.run_thread_id IS NOT DISTINCT FROM (
      SELECT o.run_thread_id FROM simulation_step o LEFT JOIN simulation_runthread t ON t.id = o.run_thread_id
      WHERE o.run_id = %(run)s AND o.state IN ('ready', 'leased') ORDER BY t.index, o.id LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM simulation_step o WHERE o.run_id = %(run)s AND o.state = 'leased'
      AND (o.run_thread_id IS NULL OR o.kind IN ('topic', 'turn')))
"""


TAKEN = TAKE.format(only="", columns=COLUMNS)
STEPPED = TAKE.format(only=FIRST_THREAD, columns=COLUMNS)


def take(run: Run, *, most: int = 1) -> Claim | None:
    """The next step of a run whose row the caller has locked; None where there is none to begin now.

    Turns of one thread that are tried again wait for each other, as all its turns do: what an agent is told
    of its own comments must not depend on who is faster.
    A run that goes turn by turn is given the steps of its first open thread alone.
    Of interest checks that nobody has begun yet up to `most` of one thread come together.
    """
    if run.state != RunState.RUNNING:
        return None
    values = wanted(run, most=1 if run.stepping else most)
    with prepared() as cursor:
        cursor.execute(STEPPED if run.stepping else TAKEN, values)
        rows = cursor.fetchall()
    claim = claimed(run, values["lease"], rows)
    if claim is not None and claim.step.claims > 1:
        settlement.settle_lost(run=run, attempts=CallAttempt.objects.filter(call__step=claim.step))
    return claim


def wanted(run: Run, *, most: int) -> dict[str, Any]:
    """The parameters of `TAKE`: a lease of its own, from now on."""
    now = timezone.now()
    until = now + timedelta(seconds=settings.STEP_LEASE_SECONDS)
    return {"run": run.pk, "now": now, "lease": uuid4(), "until": until, "most": most, "together": TOGETHER}


def claimed(run: Run, lease: UUID, rows: Iterable[Sequence[Any]]) -> Claim | None:
    """What `TAKE` gave, as a claim with its fellows."""
    steps = sorted((_step(row) for row in rows), key=lambda step: (step.due_at, step.pk))
    if not steps:
        return None
    for step in steps:
        step.run = run
    first, *others = (Claim(run, step, lease) for step in steps)
    first.fellows = others
    return first


TOGETHER = "interest"
"""The kind of steps of which one hand takes some at once: a thread has many, and none waits for another."""
MOST_TOGETHER = 16
"""Steps that one hand asks in one go: each round trip then serves so many."""
_TOGETHER: dict[int, int] = {}


def together(run_id: int) -> int:
    """How many steps a hand takes at once: as many as found a place in their lane lately, and one more."""
    return _TOGETHER.get(run_id, MOST_TOGETHER)


def found_places(run_id: int, places: int) -> None:
    """So many of the steps of a hand found a place; the others were given back."""
    _TOGETHER[run_id] = min(places + 1, MOST_TOGETHER)


GIVEN_BACK = """
UPDATE simulation_step SET state = 'ready', lease = NULL, leased_until = NULL, claims = claims - 1,
  due_at = %(due)s
WHERE id = ANY(%(steps)s) AND lease = %(lease)s
"""


def give_back_untouched(claims: Sequence[Claim], seconds: float = 0) -> None:
    """Steps for which nothing was begun are as before they were claimed, and may be begun in `seconds`."""
    if claims:
        values = {"steps": [one.step.pk for one in claims], "lease": claims[0].lease, "due": soon(seconds)}
        at_once([(spending.LOCK_RUN, {"run": claims[0].run.pk}), (GIVEN_BACK, values)])


def _step(row: Sequence[Any]) -> Step:
    said = list(row)
    for place in JSON:
        said[place] = json.loads(said[place])
    return Step.from_db("default", FIELDS, said)


def turn_is_over(claim: Claim) -> bool:
    """Whether a run that goes turn by turn pauses after this step."""
    return claim.step.run_thread_id is None or claim.step.kind in ENDS_A_TURN


def soon(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)
