"""`metrics.json`: how good the released labels are, measured as the page of label quality measures it.

Comments, answers and people are numbered as in the release before anything is counted, so that equal labels
give equal intervals whatever keys the database gave them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connection

from evaluation.domain.quality import Said
from evaluation.exchange.release_scope import Scope
from evaluation.selectors import quality
from evaluation.selectors.quality import PERSON, REVIEWER
from evaluation.services.quality import content_of

ABOUT = (
    "Agreement between annotators, suggestions against annotators by arm (assisted, blind, unassisted), and"
    " both against the profiles. Intervals are of 95 %, clustered by comment or profile. attribute “” is all"
    " attributes together; null with words: it cannot be said, and why."
)
ANNOTATED = """SELECT r.comment_id, r.n FROM release_comment r
WHERE EXISTS (SELECT 1 FROM annotation_annotation a WHERE a.comment_id = r.comment_id)"""


def measured(scope: Scope) -> dict[str, Any]:
    """What the file says."""
    return {"about": ABOUT, **content_of(_said(scope))}


def _said(scope: Scope) -> Iterator[Said]:
    numbers, names, keys = _numbers(ANNOTATED), _names(), frozenset(scope.keys)
    answers: dict[int, int] = {}
    authors: dict[int, int] = {}
    for said in _of_queues(scope):
        n = numbers.get(said.comment)
        if n is not None and said.attribute in keys:
            yield said._replace(
                comment=n,
                annotation=answers.setdefault(said.annotation, len(answers) + 1),
                profile=said.profile and authors.setdefault(said.profile, len(authors) + 1),
                rater=names.get(said.rater, said.rater.removeprefix(REVIEWER)),
            )


def _of_queues(scope: Scope) -> Iterator[Said]:
    if not scope.query.queues:
        yield from quality.said(scope.corpus, None)
        return
    for public_id in scope.query.queues:
        if queue := quality.queue_of(scope.corpus, public_id):
            yield from quality.said(scope.corpus, queue)


def _numbers(statement: str) -> dict[int, int]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        return dict(cursor)


def _names() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT person_id, name FROM release_person")
        return {f"{PERSON}{person}": name for person, name in cursor.fetchall()}
