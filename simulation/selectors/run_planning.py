"""What the planner of a thread needs to know, in two queries, however long the thread has become."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from simulation.models import Comment


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


FIELDS = ("pk", "external_id", "parent_id", "author", "username", "state", "depth")


def lines(run_thread: int, *, texts: bool = False) -> list[Line]:
    """The comments of a run's thread in order of writing, root first; their texts only where asked for."""
    found = Comment.objects.filter(thread__run_thread=run_thread).order_by("sequence", "id")
    return [Line(*row) for row in found.values_list(*FIELDS, *(("text",) if texts else ()))]


def root(run_thread: int) -> Line:
    """The post that opens the thread."""
    found = Comment.objects.filter(thread__run_thread=run_thread, parent=None).order_by("sequence", "id")
    return Line(*found.values_list(*FIELDS, "text")[:1].get())


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
    with connection.cursor() as cursor:
        cursor.execute(SO_FAR, [run_thread])
        row: Any = cursor.fetchone()
    place = json.loads(row[3]) if isinstance(row[3], str) else row[3]
    return SoFar(row[0], row[1], row[2], tuple(place) if place else None, tuple(row[4] or ()))
