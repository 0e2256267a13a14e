"""What stands behind the released rows: runs, prompts, models, taggers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

RUNS = """(
    SELECT s.run_id FROM annotation_suggestion s JOIN release_comment r ON r.comment_id = s.comment_id
  UNION
    SELECT t.run_id FROM simulation_step t JOIN release_comment r ON r.comment_id = t.comment_id
  UNION
    SELECT p.run_id FROM simulation_profile p JOIN simulation_comment c ON c.profile_id = p.id
        JOIN release_comment r ON r.comment_id = c.id
)"""
NAMED = f"SELECT DISTINCT u.kind, u.name, u.seed FROM simulation_run u WHERE u.id IN {RUNS} ORDER BY 1, 2, 3"  # noqa: S608 - our own words and keys
PROMPTS = f"""SELECT DISTINCT v.name, v.language, v.digest
FROM simulation_modelcall m JOIN simulation_promptversion v ON v.id = m.prompt_id
WHERE m.run_id IN {RUNS} ORDER BY 1, 2, 3"""  # noqa: S608 - our own words and keys
MODELS = f"""SELECT m.purpose, m.model, m.served_model, count(*) FROM simulation_modelcall m
WHERE m.run_id IN {RUNS} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""  # noqa: S608 - our own words and keys
TAGGERS = """SELECT DISTINCT s.tagger FROM annotation_suggestion s
    JOIN release_comment r ON r.comment_id = s.comment_id ORDER BY 1"""

REAL = """SELECT count(*) FROM simulation_comment c JOIN release_comment r ON r.comment_id = c.id
WHERE c.extra ->> 'source' = 'real'"""


@dataclass(frozen=True)
class Sources:
    """As the manifest says them."""

    runs: Sequence[dict[str, Any]]
    prompts: Sequence[dict[str, Any]]
    models: Sequence[dict[str, Any]]
    taggers: Sequence[str]
    real: int
    """Comments of which a file said that they are real."""


def sources() -> Sources:
    """To be asked within the snapshot of a release."""
    return Sources(
        [dict(zip(("kind", "name", "seed"), row, strict=True)) for row in _rows(NAMED)],
        [dict(zip(("name", "language", "sha256"), row, strict=True)) for row in _rows(PROMPTS)],
        [dict(zip(("purpose", "asked", "served", "calls"), row, strict=True)) for row in _rows(MODELS)],
        [name for (name,) in _rows(TAGGERS)],
        _rows(REAL)[0][0],
    )


def _rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
