"""Settles the labels of a release: what one person alone said goes straight from table to table; here stand
only comments that several people labelled, that an adjudicator decided, or whose labels are inherited.

Memory holds one comment at a time and a batch of what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection

from annotation.domain.adjudication import NOTHING, Opinion
from annotation.domain.judging import truth_of
from annotation.domain.labels import Quote, State
from evaluation.domain.release_labels import Decided, Released, Voice, released
from evaluation.domain.releasing import ADJUDICATED, INHERITED
from evaluation.exchange.release_scope import FACTS, LABEL_ROWS, Scope, in_scope, run, texts, write_rows
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.models import Profile

FETCHED = 5000
DECIDED = """SELECT DISTINCT i.comment_id FROM annotation_decision d
    JOIN annotation_item i ON i.id = d.item_id JOIN annotation_queue q ON q.id = i.queue_id
    JOIN release_comment r ON r.comment_id = i.comment_id
WHERE NOT i.gold AND {scope}"""
MANY = """
CREATE TEMPORARY TABLE release_many ON COMMIT DROP AS
SELECT comment_id FROM release_voice GROUP BY comment_id HAVING count(*) > 1 {decided}"""
SAID = """
SELECT v.n, v.comment_id, false, v.who, v.at, v.annotation_id, l.attribute, l.state, l.value, l.hardness,
       l.certainty, l.evidence, '', ''
FROM release_voice v JOIN release_many m ON m.comment_id = v.comment_id
    LEFT JOIN annotation_attributelabel l ON l.annotation_id = v.annotation_id AND l.attribute = ANY({keys})
{decisions}
ORDER BY 1, 3, 6"""
DECISIONS = """UNION ALL
SELECT r.n, r.comment_id, true, '', 0, d.id, d.attribute, d.state, d.value, d.hardness, d.certainty,
       d.evidence, d.reason, d.note
FROM annotation_decision d JOIN annotation_item i ON i.id = d.item_id
    JOIN annotation_queue q ON q.id = i.queue_id JOIN release_comment r ON r.comment_id = i.comment_id
WHERE NOT i.gold AND d.attribute = ANY({keys}) AND {scope}"""
# Of several tags of one comment the one with the lowest hardness, as where authors inherit; of equal ones the
# first. A tag that the latest check has found wrong does not count.
INHERIT = """
INSERT INTO release_label
SELECT DISTINCT ON (r.n, s.attribute) r.comment_id, r.n, s.attribute, 'value', f.value, s.hardness,
       s.certainty, '[]'::jsonb, 'inherited', 0, 0, false, '', ''
FROM release_comment r JOIN simulation_comment c ON c.id = r.comment_id
    JOIN annotation_suggestion s ON s.comment_id = r.comment_id
    JOIN release_fact f ON f.profile_id = c.profile_id AND f.attribute = s.attribute
    LEFT JOIN LATERAL (
        SELECT k.kept FROM annotation_suggestioncheck k WHERE k.suggestion_id = s.id
        ORDER BY k.id DESC LIMIT 1
    ) k ON true
WHERE s.hardness IS NOT NULL AND k.kept IS NOT FALSE
ORDER BY r.n, s.attribute, s.hardness, s.position, s.id"""


class _Row(NamedTuple):
    n: int
    comment: int
    is_decision: bool
    who: str
    at: float
    key: int
    attribute: str | None
    state: str
    value: str
    hardness: int | None
    certainty: int | None
    evidence: str
    reason: str
    note: str

    @property
    def opinion(self) -> Opinion:
        quotes = tuple(Quote(**one) for one in json.loads(self.evidence)) if self.evidence != "[]" else ()
        return Opinion(State(self.state), self.value, self.hardness, self.certainty, quotes)


def settle(scope: Scope) -> None:
    """Fills the table `release_label`."""
    run(LABEL_ROWS)
    if scope.policy == INHERITED:
        run(FACTS)
        write_rows("release_fact", _facts(scope))
        run("ANALYZE release_fact")
        run(INHERIT)
        return
    adjudicated = scope.policy == ADJUDICATED
    decided = f"UNION {DECIDED.format(scope=in_scope('q', scope))}" if adjudicated else ""
    run(MANY.format(decided=decided))
    run("CREATE UNIQUE INDEX ON release_many (comment_id)")
    run("ANALYZE release_many")
    keys = texts(scope.keys)
    decisions = DECISIONS.format(keys=keys, scope=in_scope("q", scope)) if adjudicated else ""
    write_rows("release_label", _settled(SAID.format(keys=keys, decisions=decisions), scope))


def _settled(statement: str, scope: Scope) -> Iterator[tuple[Any, ...]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        rows = (_Row(*row) for some in iter(lambda: cursor.fetchmany(FETCHED), []) for row in some)
        for (n, comment), of_comment in groupby(rows, key=lambda row: (row.n, row.comment)):
            for key, label in _of_comment(list(of_comment), scope):
                yield _columns(comment, n, key, label)


def _of_comment(rows: list[_Row], scope: Scope) -> Iterator[tuple[str, Released]]:
    answers: dict[int, tuple[str, float]] = {
        row.key: (row.who, row.at) for row in rows if not row.is_decision
    }
    said = {(row.key, row.attribute): row.opinion for row in rows if row.attribute and not row.is_decision}
    for key in scope.keys:
        voices = [
            Voice(who, (at, answer), said.get((answer, key), NOTHING))
            for answer, (who, at) in answers.items()
        ]
        decisions = [
            Decided(row.key, row.opinion, row.reason, row.note)
            for row in rows
            if row.is_decision and row.attribute == key
        ]
        label = released(CATALOGUE[key], scope.policy, scope.agreeing, voices, decisions)
        if label is not None:
            yield key, label


def _columns(comment: int, n: int, key: str, label: Released) -> tuple[Any, ...]:
    said = label.opinion
    evidence = json.dumps([vars(quote) for quote in said.evidence], ensure_ascii=False)
    marks = (said.hardness, said.certainty)
    how = (label.basis, label.people, label.agreeing, label.basis == "decided", label.reason, label.note)
    return (comment, n, key, said.state.value, said.value, *marks, evidence, *how)


def _facts(scope: Scope) -> Iterator[tuple[int, str, str]]:
    profiles = Profile.objects.filter(corpus=scope.corpus).order_by().values_list("pk", "facts")
    for profile, facts in profiles.iterator(chunk_size=FETCHED):
        whole = {key: _whole(key, fact) for key, fact in facts.items()}
        for key in scope.keys:
            if fact := truth_of(key, whole):
                yield profile, key, fact


def _whole(key: str, fact: Any) -> Any:
    """Ages in whole years, as the table of profiles has them."""
    is_age = key in CATALOGUE and CATALOGUE[key].kind is Kind.AGE
    return int(fact) if is_age and isinstance(fact, float) else fact
