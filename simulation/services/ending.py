"""The short way to the end of steps after which nothing is to be decided: one transaction, sent whole.

An interest check that is answered while others of its thread are still open changes nothing but its own rows.
Most calls of a simulation are of this kind, and they come in bursts. All that could make the end of a step
matter (the last check of a thread, a pause, a lost lease, a run that goes turn by turn) is a condition of the
first statement; where one does not hold nothing is written, and the step goes the long way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulation.models import Workspace
from simulation.selectors.prepared import at_once
from simulation.services import claiming, settlement, spending
from simulation.services.claiming import Claim
from simulation.services.settlement import Pending

NOTHING_FOLLOWS = """
  AND EXISTS (SELECT 1 FROM simulation_step WHERE id = %(step)s AND state = 'leased' AND lease = %(held)s)
  AND EXISTS (SELECT 1 FROM simulation_run r JOIN simulation_corpus c ON c.id = r.corpus_id
    WHERE r.id = %(run)s AND r.state = 'running' AND NOT r.stepping AND c.trashed_at IS NULL)
  AND EXISTS (SELECT 1 FROM simulation_runthread WHERE id = %(thread)s AND state = 'running')
  AND EXISTS (SELECT 1 FROM simulation_step WHERE run_thread_id = %(thread)s AND id <> %(step)s
    AND state IN ('ready', 'leased'))
"""
WRITTEN = "EXISTS (SELECT 1 FROM simulation_callattempt WHERE id = %(attempt)s AND state = 'answered')"
ANSWERED = settlement.ANSWERED.format(only=NOTHING_FOLLOWS)
ENDED = f"""
UPDATE simulation_step SET state = 'done', lease = NULL, leased_until = NULL, reason = '', detail = '',
  result = %(result)s::jsonb, finished_at = %(now)s
WHERE id = %(step)s AND lease = %(held)s AND {WRITTEN}
"""  # noqa: S608 - our own words
TAKEN = claiming.TAKE.format(only=f"AND s.claims = 0 AND {WRITTEN}", columns=claiming.COLUMNS)
"""A step that somebody had before needs what became of its calls first: the long way."""
PAID = f"""
UPDATE simulation_workspace SET held = held - %(held_cost)s, spent = spent + %(cost)s
WHERE id = %(budget)s AND {WRITTEN}
"""  # noqa: S608 - our own words


@dataclass(frozen=True)
class Part:
    """A step that is done: what it ends with, and its reply, which is not written down yet."""

    claim: Claim
    result: Mapping[str, Any]
    pending: Pending


@dataclass(frozen=True)
class Ended:
    """Which of the parts are written, and the next step of the run, if one could be taken on the way."""

    written: list[bool]
    following: Claim | None


def at_a_stroke(parts: Sequence[Part], *, take: int = 0) -> Ended:
    """Keeps the replies of steps of one run, ends the steps, and takes up to `take` next ones.

    Nothing is written for a part where something follows from its end or stands in its way. To be called with
    the run's door (`order.one_at_a_time`) in hand, outside any transaction.
    """
    run = parts[0].claim.run
    each = [_values(part) for part in parts]
    statements: list[tuple[str, dict[str, Any]]] = [(spending.LOCK_RUN, {"run": run.pk})]
    for values in each:
        statements += [(ANSWERED, values), (ENDED, values)]
    wanted = claiming.wanted(run, most=take)
    if take:
        statements.append((TAKEN, {**each[0], **wanted}))
    statements += [(PAID, values) for values in each if values["held_cost"] or values["cost"]]
    rows = at_once(statements)
    written = [bool(rows[1 + 2 * place]) for place in range(len(parts))]
    for place, part in enumerate(parts):
        if written[place]:
            part.claim.step.state = "done"
            settlement.warn(run, *rows[1 + 2 * place][0])
    taken = rows[1 + 2 * len(parts)] if take else []
    return Ended(written, claiming.claimed(run, wanted["lease"], taken))


def _values(part: Part) -> dict[str, Any]:
    values = settlement.as_written(part.claim.run, part.pending)
    return values | {
        "step": part.claim.step.pk,
        "thread": part.claim.step.run_thread_id,
        "held": part.claim.lease,
        "result": json.dumps(dict(part.result)),
        "budget": Workspace.THE_ONE,
    }
