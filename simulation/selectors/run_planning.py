"""What the planner of a thread needs to know, in two queries, however long the thread has become."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from simulation.selectors.prepared import prepared


class Line(NamedTuple):
    """A comment as prompts and planner see it."""

    pk: int
    external_id: str
    parent_id: int | None
    author: str
    username: str
    state: str
    depth: int
    text: str = ""


LINES = """
SELECT c.id, c.external_id, c.parent_id, c.author, c.username, c.state, c.depth, {text}
FROM simulation_comment c JOIN simulation_runthread t ON t.thread_id = c.thread_id
WHERE t.id = %s {only} ORDER BY c.sequence, c.id {few}
"""
ALL = LINES.format(text="''", only="", few="")
TEXTS = LINES.format(text="c.text", only="", few="")
ROOT = LINES.format(text="c.text", only="AND c.parent_id IS NULL", few="LIMIT 1")


def _lines(statement: str, run_thread: int) -> list[Line]:
    with prepared() as cursor:
        cursor.execute(statement, [run_thread])
        return [Line(*row) for row in cursor.fetchall()]


def lines(run_thread: int, *, texts: bool = False) -> list[Line]:
    """The comments of a run's thread in order of writing, root first; their texts only where asked for."""
    return _lines(TEXTS if texts else ALL, run_thread)


def root(run_thread: int) -> Line:
    """The post that opens the thread."""
    return _lines(ROOT, run_thread)[0]


@dataclass(frozen=True)
class SoFar:
    """A thread's steps, counted. `agents` are the external ids of those who said yes, in the fixed order;
    `last` is the place of the latest turn, if there was one."""

    open: int
    turns: int
    skipped: int
    last: tuple[int, int, int] | None
    agents: tuple[str, ...]


SO_FAR = """
SELECT count(*) FILTER (WHERE state IN ('ready', 'leased')),
  count(*) FILTER (WHERE kind = 'turn'),
  count(*) FILTER (WHERE kind = 'turn' AND state IN ('skipped', 'failed', 'cancelled')),
  (array_agg(asks -> 'place' ORDER BY number DESC) FILTER (WHERE kind = 'turn'))[1],
  array_agg(asks ->> 'profile' ORDER BY number)
    FILTER (WHERE kind = 'interest' AND state = 'done' AND result ->> 'interested' = 'true')
FROM simulation_step WHERE run_thread_id = %s
"""


def so_far(run_thread: int) -> SoFar:
    """Where a thread stands; one query."""
    with prepared() as cursor:
        cursor.execute(SO_FAR, [run_thread])
        row: Any = cursor.fetchone()
    place = json.loads(row[3]) if isinstance(row[3], str) else row[3]
    return SoFar(row[0], row[1], row[2], tuple(place) if place else None, tuple(row[4] or ()))
