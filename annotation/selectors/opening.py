"""A queue as it is opened by who works in it: with the right to, in one query.

Asked with every comment that is handed out, so it is written out instead of composed. `Queue.workable_by`
says the same for lists; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import JSONField

from annotation.models import Queue
from simulation.domain.roles import Right, roles_with
from simulation.models import Corpus, User

QUEUE = [field for field in Queue._meta.concrete_fields if not isinstance(field, JSONField)]
CORPUS = list(Corpus._meta.concrete_fields)
OPEN = f"""
SELECT {", ".join(f"q.{field.column}" for field in QUEUE)},
    {", ".join(f"c.{field.column}" for field in CORPUS)},
    (SELECT max(g.version) FROM annotation_guideline g WHERE g.queue_id = q.id),
    EXISTS (SELECT 1 FROM annotation_queueworker w WHERE w.queue_id = q.id AND w.person_id = %(person)s)
FROM annotation_queue q JOIN simulation_corpus c ON c.id = q.corpus_id
WHERE q.public_id = %(queue)s AND q.trashed_at IS NULL AND c.trashed_at IS NULL
  AND (%(everywhere)s OR EXISTS (
      SELECT 1 FROM simulation_membership m
      WHERE m.person_id = %(person)s AND m.role = ANY(%(roles)s)
        AND (m.corpus_id IS NULL OR m.corpus_id = q.corpus_id)))
  AND (NOT q.named_only OR EXISTS (
      SELECT 1 FROM annotation_queueworker w WHERE w.queue_id = q.id AND w.person_id = %(person)s)
    OR (%(holding)s AND EXISTS (
      SELECT 1 FROM annotation_slot s
      WHERE s.queue_id = q.id AND s.person_id = %(person)s AND s.state = 'leased')))
"""  # noqa: S608 - made of constants
REVIEWING = [role.value for role in roles_with(Right.REVIEW)]


def opened(person: User, public_id: str, *, holding: bool = False) -> Queue | None:
    """The queue in which `person` may work, with its corpus and the version of its guidelines; or None.

    `holding`: also one from whose list they were taken while they hold a comment of it. What they hold stays
    theirs; for them the queue is as good as closed.
    """
    if not person.is_authenticated or not person.is_active:
        return None
    asked: dict[str, Any] = {
        "queue": public_id,
        "person": person.pk,
        "roles": REVIEWING,
        "everywhere": person.is_superuser,
        "holding": holding,
    }
    with connection.cursor() as cursor:
        cursor.execute(OPEN, asked)
        row = cursor.fetchone()
    if row is None:
        return None
    cut = len(QUEUE)
    queue = Queue.from_db(DEFAULT_DB_ALIAS, [field.attname for field in QUEUE], row[:cut])
    queue.corpus = Corpus.from_db(DEFAULT_DB_ALIAS, [field.attname for field in CORPUS], row[cut:-2])
    if person.bound_to not in (None, queue.corpus_id):
        return None  # a token for another corpus
    queue.guideline_version, listed = row[-2:]
    if queue.named_only and not listed:
        queue.state = "closed"  # for them: what they hold may be sent, and nothing new is handed out
    return queue
