"""What a release would hold, before it is made: numbers that a page asks for at every change of a filter."""

from __future__ import annotations

from typing import Any

from django.db import connection

from evaluation.domain.releasing import ADJUDICATED, AGREEING, INHERITED, Query
from evaluation.exchange.release_scope import CHOSEN, COMPLETE, Scope, conditions, in_scope, left, texts
from simulation.models import Corpus

WITH = "WITH chosen AS MATERIALIZED (SELECT c.id, c.profile_id {chosen})"
ANSWERS = """FROM chosen r JOIN annotation_annotation a ON a.comment_id = r.id
    LEFT JOIN annotation_item i ON i.id = a.item_id LEFT JOIN annotation_queue q ON q.id = i.queue_id
    JOIN annotation_attributelabel l ON l.annotation_id = a.id
WHERE {scope} AND l.attribute = ANY({keys})"""
COUNTED = "AND NOT a.over_quota AND NOT coalesce(i.gold, false) AND l.state <> 'untouched'"
INHERITED_LABELS = """SELECT count(DISTINCT (r.id, s.attribute)) FROM chosen r
    JOIN simulation_profile p ON p.id = r.profile_id
    JOIN annotation_suggestion s ON s.comment_id = r.id
WHERE s.hardness IS NOT NULL AND p.facts ->> s.attribute <> '' AND s.attribute = ANY({keys})"""
DECIDED = """SELECT r.id, d.attribute FROM chosen r JOIN annotation_item i ON i.comment_id = r.id
    JOIN annotation_queue q ON q.id = i.queue_id JOIN annotation_decision d ON d.item_id = i.id
WHERE NOT i.gold AND {scope} AND d.attribute = ANY({keys})"""


def counts(corpus: Corpus, query: Query, policy: str, agreeing: int | None) -> dict[str, int]:
    """Rows of comments, suggestions, annotations, labels and profiles, and under `left:<filter>` how many
    comments are left after each filter, one after the other (`left:all`: of the corpus).

    Labels are what the policy allows at most: whether differently written values are the same is found out
    only when the release is made.
    """
    scope = Scope(corpus, query, policy, agreeing)
    after = {f"left:{name}": number for name, number in left(scope).items()}
    where = " AND ".join([CHOSEN, *conditions(query).values()])
    said = {"scope": in_scope("q", scope), "keys": texts(scope.keys)}
    begin = WITH.format(chosen=where)
    others = "false" if query.chooses_comments else "p.state = 'approved'"
    answers = ANSWERS.format(**said)
    asked = {
        "comments": "SELECT count(*) FROM chosen",
        "suggestions": "SELECT count(*) FROM chosen r JOIN annotation_suggestion s ON s.comment_id = r.id"  # noqa: S608 - our own words and keys
        f" WHERE s.attribute = ANY({said['keys']})",
        "annotations": f"SELECT count(*) {answers}",
        "labels": _labels(scope, answers, said),
        "profiles": "SELECT count(*) FROM simulation_profile p WHERE p.corpus_id = %(corpus)s"  # noqa: S608 - our own words and keys
        f" AND ({others} OR p.id IN (SELECT profile_id FROM chosen))",
    }
    return {name: _count(f"{begin} {one}", scope) for name, one in asked.items()} | after


def _labels(scope: Scope, answers: str, said: dict[str, str]) -> str:
    if scope.policy == INHERITED:
        return INHERITED_LABELS.format(**said)
    who = "coalesce('p' || a.person_id, 'r' || a.reviewer)"
    if scope.policy == AGREEING:
        several = f"GROUP BY r.id, l.attribute HAVING count(DISTINCT {who}) >= {int(scope.agreeing or 1)}"
        return f"SELECT count(*) FROM (SELECT 1 {answers} {COUNTED} {several}) x"  # noqa: S608 - our own words and keys
    if scope.policy == ADJUDICATED:
        decided = DECIDED.format(**said)
        return (
            f"SELECT count(*) FROM (SELECT r.id, l.attribute {answers} {COUNTED} AND {COMPLETE}"  # noqa: S608 - our own words and keys
            f" UNION {decided}) x"
        )
    return f"SELECT count(DISTINCT (r.id, l.attribute)) {answers} {COUNTED}"


def _count(statement: str, scope: Scope) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, scope.parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
    return int(found[0]) if found else 0
