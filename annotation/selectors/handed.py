"""An item as it is handed out: the item, its comment, its thread and the suggestions, read in one query.

The labeler's way is short because of this. The rows are ordinary instances; fields that are not read here are
fetched when somebody asks for them.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection

from annotation.models import Item, Queue, Slot, Suggestion
from simulation.models import Comment, Thread, User

# Names of columns, in the order of the models' fields: that is how Django takes them.
SLOT = (
    "id",
    "queue_id",
    "item_id",
    "number",
    "position",
    "state",
    "person_id",
    "leased_until",
    "lease_token",
    "skip_reason",
)
ITEM = (
    "id",
    "public_id",
    "queue_id",
    "comment_id",
    "position",
    "blind",
    "gold",
    "agreement",
    "flagged",
)
COMMENT = (
    "id",
    "public_id",
    "corpus_id",
    "thread_id",
    "parent_id",
    "external_id",
    "username",
    "text",
    "depth",
    "state",
)
THREAD = ("id", "public_id", "corpus_id", "external_id")
SUGGESTION = ("id", "comment_id", "tagger", "run_id", "attribute", "guesses", "hardness", "certainty")


def _columns(alias: str, names: tuple[str, ...]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


_PAIRS = ", ".join(f"g.{name}" for name in SUGGESTION)
COLUMNS = f"""
    {_columns("s", SLOT)}, {_columns("i", ITEM)}, {_columns("c", COMMENT)}, {_columns("t", THREAD)},
    CASE WHEN %(assisted)s THEN (
        SELECT jsonb_agg(jsonb_build_array({_PAIRS}) ORDER BY g.id) FROM annotation_suggestion g
        WHERE g.comment_id = c.id AND (%(tagger)s = '' OR g.tagger = %(tagger)s)
          AND (%(run)s::bigint IS NULL OR g.run_id = %(run)s::bigint)
    ) END,
    EXISTS (SELECT 1 FROM annotation_draft d WHERE d.item_id = i.id AND d.person_id = %(person)s)
"""  # noqa: S608 - made of constants
"""To be selected with s, i, c, t for slot, item, comment and thread; see `parameters` and `slot_of`."""

THEIRS = f"""
SELECT {COLUMNS}
FROM annotation_item i
JOIN annotation_slot s ON s.item_id = i.id AND s.person_id = %(person)s
JOIN simulation_comment c ON c.id = i.comment_id
JOIN simulation_thread t ON t.id = c.thread_id
WHERE i.queue_id = %(queue)s AND i.public_id = %(item)s
"""  # noqa: S608 - made of constants


def parameters(queue: Queue, person: User) -> dict[str, Any]:
    """What COLUMNS needs to know."""
    return {
        "assisted": queue.assisted,
        "tagger": queue.tagger,
        "run": queue.tag_run_id,
        "person": person.pk,
        "queue": queue.pk,
    }


def slot_of(row: tuple[Any, ...], queue: Queue) -> Slot:
    """The slot with its item, comment, thread, suggestions and whether there is a draft, from a row."""
    cuts = [len(SLOT), len(ITEM), len(COMMENT), len(THREAD)]
    parts, start = [], 0
    for cut in cuts:
        parts.append(row[start : start + cut])
        start += cut
    slot = Slot.from_db(DEFAULT_DB_ALIAS, SLOT, parts[0])
    item = Item.from_db(DEFAULT_DB_ALIAS, ITEM, parts[1])
    comment = Comment.from_db(DEFAULT_DB_ALIAS, COMMENT, parts[2])
    comment.thread = Thread.from_db(DEFAULT_DB_ALIAS, THREAD, parts[3])
    item.comment, item.queue, slot.item = comment, queue, item
    slot.suggested = [
        Suggestion.from_db(DEFAULT_DB_ALIAS, SUGGESTION, one) for one in json.loads(row[start] or "[]")
    ]
    slot.has_draft = row[start + 1]
    return slot


def theirs(person: User, queue: Queue, public_id: str) -> Slot | None:
    """The slot that `person` has of the item with this public id."""
    with connection.cursor() as cursor:
        cursor.execute(THEIRS, {**parameters(queue, person), "item": public_id})
        row = cursor.fetchone()
    return slot_of(row, queue) if row else None
