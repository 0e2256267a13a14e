"""`synthpai.jsonl`: the released comments in the form in which SynthPAI is published, reviews and all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import connection

from annotation.exchange.chunks import SIZE, Item, Pseudonyms, items_of
from annotation.exchange.comments import PHRASE
from annotation.exchange.profiles import profile_json
from annotation.exchange.published import published_row
from annotation.models import Annotation, Queue
from evaluation.exchange import release_published_sql as sql
from evaluation.exchange.release_scope import Scope, run, write_rows
from evaluation.exchange.release_tables import Written, copy_out
from simulation.domain.attributes import CATALOGUE
from simulation.models import Profile

LAST = ("style", "username")
ALL = """SELECT r.comment_id FROM release_comment r JOIN simulation_comment c ON c.id = r.comment_id
WHERE c.state = 'active' ORDER BY r.n"""


def write_published(scope: Scope, path: Path) -> Written:
    """Writes the file. Comments about which something is out of the way come from Python, some hundred at a
    time; all others from the database itself.

    Left out: comments that were withdrawn, as the form has no word for that; of the reviews answers to gold,
    answers beyond the quota, and those of queues that the release has not. The keys of a profile stand in one
    order whatever the source had, so that a file that was imported and released again is the same file.
    """
    corpus = scope.corpus.pk
    for statement in (sql.PROFILES, sql.LINES, sql.of_corpus(sql.REPLIES, corpus), sql.GUESSES, sql.REVIEWS):
        run(statement)
    write_rows("release_body", _bodies(scope))
    for table in ("release_body", "release_reply", "release_guess", "release_review"):
        run(f"ANALYZE {table}")
    write_rows("release_line", _lines(scope))
    run("ANALYZE release_line")
    return copy_out(sql.of_corpus(sql.WRITTEN, corpus), path)


def _bodies(scope: Scope) -> Iterator[tuple[int, str]]:
    profiles = Profile.objects.filter(corpus=scope.corpus).order_by()
    for one in profiles.only("facts", "style", "username", "extra").iterator(chunk_size=SIZE):
        yield one.pk, _dumped(profile_json(one.facts, one.style, one.username, one.extra))


def _lines(scope: Scope) -> Iterator[tuple[int, str]]:
    """The place and the line of every comment that the database cannot write."""
    names, queues, keys = Pseudonyms.of(scope.corpus), _queues(scope), frozenset(scope.keys)
    everything = len(keys) < len(CATALOGUE)
    for chunk in _odd(ALL if everything else sql.of_corpus(sql.ODD, scope.corpus.pk)):
        places = _places(chunk)
        for item in items_of(chunk):
            row = published_row(_in_scope(item, queues, keys), names)
            yield places[item.comment.pk], _dumped(_ordered(row, keys))


def _odd(statement: str) -> Iterator[list[int]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        while some := cursor.fetchmany(SIZE):
            yield [key for (key,) in some]


def _places(keys: list[int]) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT comment_id, n FROM release_comment WHERE comment_id = ANY(%s)", [keys])
        return dict(cursor.fetchall())


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _queues(scope: Scope) -> frozenset[int]:
    mine = Queue.objects.filter(corpus=scope.corpus, trashed_at=None)
    if scope.query.queues:
        mine = mine.filter(public_id__in=scope.query.queues)
    return frozenset(mine.values_list("pk", flat=True))


def _in_scope(item: Item, queues: frozenset[int], keys: frozenset[str]) -> Item:
    return replace(
        item,
        suggestions=[one for one in item.suggestions if one.attribute in keys],
        annotations=[one for one in item.annotations if _goes_out(one, queues)],
    )


def _goes_out(one: Annotation, queues: frozenset[int]) -> bool:
    if one.item is None:
        return True
    return not one.item.gold and one.item.queue_id in queues


def _ordered(row: dict[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    """The row with its profile's keys in order, and reviews of the released attributes only."""
    profile, reviews = row.get("profile"), row.get("reviews")
    if isinstance(profile, dict):
        first = [key for key in (*CATALOGUE, *LAST) if key in profile]
        rest = sorted(key for key in profile if key not in (*CATALOGUE, *LAST, PHRASE))
        row["profile"] = {
            key: profile[key] for key in (*first, *rest, *[key for key in profile if key == PHRASE])
        }
    if isinstance(reviews, dict) and len(keys) < len(CATALOGUE):
        row["reviews"] = {
            name: {key: said for key, said in block.items() if key in keys or key not in CATALOGUE}
            for name, block in reviews.items()
        }
    return row
