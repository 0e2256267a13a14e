"""The labeler's way in two statements: store an answer to what one holds, take the next comment.

Both do what `review` and `claims` do step by step, for the usual case alone, and do nothing where the case is
not usual: then the steps decide. A test compares the rows of the two ways.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction

from annotation.models import Annotation, Item, Queue, Slot
from annotation.selectors import handed
from simulation.models import User

# The item is locked first, as everywhere. Who waited here for another press of the same answer finds the slot
# done when it is looked at again, and stores nothing.
SUBMIT = """
WITH item AS MATERIALIZED (
    SELECT id, comment_id FROM annotation_item WHERE id = %(item)s FOR NO KEY UPDATE
), held AS (
    UPDATE annotation_slot AS s
    SET state = 'done', leased_until = NULL, lease_token = NULL, skip_reason = '', skip_note = '',
        changed_at = %(now)s
    FROM item
    WHERE s.item_id = item.id AND s.person_id = %(person)s AND s.state = 'leased'
      AND NOT EXISTS (SELECT 1 FROM annotation_annotation a
                      WHERE a.item_id = item.id AND a.person_id = %(person)s)
    RETURNING s.item_id, s.number
), answer AS (
    INSERT INTO annotation_annotation (public_id, comment_id, item_id, person_id, reviewer, version,
        over_quota, submitted_at, active_ms, wall_ms, note, arm, guideline_id, extra)
    SELECT %(public_id)s, item.comment_id, item.id, %(person)s, '', 1, false,
        %(now)s, %(active_ms)s, %(wall_ms)s, %(note)s, %(arm)s, %(guideline)s, '{}'
    FROM item JOIN held ON held.item_id = item.id
    RETURNING id
), labels AS (
    INSERT INTO annotation_attributelabel (annotation_id, attribute, state, outcome, value, hardness,
        certainty, evidence, bulk, suggestion_id)
    SELECT answer.id, l.label ->> 'attribute', l.label ->> 'state', l.label ->> 'outcome',
        l.label ->> 'value',
        (l.label ->> 'hardness')::smallint, (l.label ->> 'certainty')::smallint, l.label -> 'evidence',
        (l.label ->> 'bulk')::boolean, (l.label ->> 'suggestion')::bigint
    FROM answer, jsonb_array_elements(%(labels)s) WITH ORDINALITY AS l (label, n) ORDER BY l.n
), events AS (
    INSERT INTO annotation_annotationevent (annotation_id, person_id, attribute, old, new, source,
        active_ms, at)
    SELECT answer.id, %(person)s, e.event ->> 'attribute', NULL, e.event -> 'new', e.event ->> 'source',
        (e.event ->> 'active_ms')::bigint, %(now)s
    FROM answer, jsonb_array_elements(%(events)s) WITH ORDINALITY AS e (event, n) ORDER BY e.n
), press AS (
    INSERT INTO annotation_submission (id, annotation_id, person_id, digest, at)
    SELECT %(submission)s, answer.id, %(person)s, %(digest)s, %(now)s FROM answer
), drafts AS (
    DELETE FROM annotation_draft d USING answer WHERE d.item_id = %(item)s AND d.person_id = %(person)s
)
SELECT answer.id, held.number FROM answer, held
"""

TAKE = f"""
WITH free AS (
    SELECT s.id FROM annotation_slot s
    JOIN annotation_item i ON i.id = s.item_id
    JOIN simulation_comment c ON c.id = i.comment_id AND c.state = 'active'
    WHERE s.queue_id = %(queue)s AND s.state = 'open' AND s.position > %(after)s
      AND NOT i.gold
      AND NOT EXISTS (SELECT 1 FROM annotation_slot m
                      WHERE m.item_id = s.item_id AND m.person_id = %(person)s)
      AND NOT EXISTS (SELECT 1 FROM annotation_annotation a
                      WHERE a.item_id = s.item_id AND a.person_id = %(person)s)
    ORDER BY s.position, s.number LIMIT 1 FOR UPDATE OF s SKIP LOCKED
), taken AS (
    UPDATE annotation_slot AS s
    SET state = 'leased', person_id = %(person)s, leased_until = %(until)s, lease_token = %(token)s,
        changed_at = %(now)s
    FROM free WHERE s.id = free.id
    RETURNING s.*
)
SELECT {handed.COLUMNS}
FROM taken s
JOIN annotation_item i ON i.id = s.item_id
JOIN simulation_comment c ON c.id = i.comment_id
JOIN simulation_thread t ON t.id = c.thread_id
"""  # noqa: S608 - made of constants


def alone(single: bool) -> AbstractContextManager[Any]:
    """A transaction, or none where a `single` statement is one by itself: two ways to the database less."""
    return nullcontext() if single and not connection.in_atomic_block else transaction.atomic()


def store(
    *,
    by: User,
    item: Item,
    submission_id: uuid.UUID,
    digest: str,
    annotation: Annotation,
    labels: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
) -> int:
    """Stores `annotation` (not saved yet) with labels and events.

    The number of the slot that it fills, and `annotation` is the stored row. 0: `by` does not hold the item
    or has answered it before; nothing happened.
    """
    said: dict[str, Any] = {
        "item": item.pk,
        "person": by.pk,
        "now": annotation.submitted_at,
        "public_id": annotation.public_id,
        "active_ms": annotation.active_ms,
        "wall_ms": annotation.wall_ms,
        "note": annotation.note,
        "arm": annotation.arm,
        "guideline": annotation.guideline_id,
        "labels": connection.ops.adapt_json_value(list(labels), None),
        "events": connection.ops.adapt_json_value(list(events), None),
        "submission": submission_id,
        "digest": digest,
    }
    with connection.cursor() as cursor:
        cursor.execute(SUBMIT, said)
        row = cursor.fetchone()
    if row is None:
        return 0
    annotation.pk = row[0]
    annotation._state.adding = False
    return int(row[1])


def take(*, by: User, queue: Queue, after: int, now: datetime, lease: timedelta) -> Slot | None:
    """The first free slot behind position `after`, now held by `by`; with all that its page needs.

    None where there is none, or where `by` holds another one of the queue already.
    """
    wanted = {
        **handed.parameters(queue, by),
        "after": after,
        "until": now + lease,
        "token": uuid.uuid4(),
        "now": now,
    }
    try:
        with alone(True), connection.cursor() as cursor:
            cursor.execute(TAKE, wanted)
            row = cursor.fetchone()
    except IntegrityError:  # another page of theirs was quicker
        return None
    return handed.slot_of(row, queue) if row else None
