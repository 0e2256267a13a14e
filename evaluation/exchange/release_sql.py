"""The tables of a release as queries over what `release_scope` has chosen: one expression a column.

Whatever order rows have comes from data that an import of the released files brings back: never from keys or
times of the database.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.domain import release_schema
from evaluation.domain.release_schema import Table, Type
from evaluation.domain.releasing import INHERITED
from evaluation.exchange.release_scope import Scope, in_scope, texts
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.spreadsheets import FORMULA

WORDS = """CASE WHEN jsonb_path_exists({it}, '$[*] ? (@.type() != "string")')
    THEN (SELECT jsonb_agg(v.w ORDER BY v.o) FROM jsonb_array_elements_text({it}) WITH ORDINALITY v(w, o))
    ELSE {it} END"""
# Comments are named by their own ids; a quote of one that was withdrawn goes with it.
QUOTES = """CASE WHEN {it} = '[]' THEN '[]'::json ELSE (
    SELECT coalesce(json_agg(json_build_object(
        'comment_id', e.external_id, 'start', v.q -> 'start', 'end', v.q -> 'end', 'quote', v.q ->> 'quote'
    ) ORDER BY v.o), '[]')
    FROM jsonb_array_elements({it}) WITH ORDINALITY v(q, o)
        JOIN simulation_comment e ON e.public_id = v.q ->> 'comment' AND e.corpus_id = {corpus} AND {shown}
) END"""
HAS_TIME = "(a.person_id IS NOT NULL OR jsonb_typeof(a.extra -> 'timestamp') = 'number')"
MOMENT = """to_char(a.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
WHOLE = """CASE WHEN jsonb_typeof({it}) = 'number' THEN
    CASE WHEN abs(({it})::numeric) < 1000000 THEN trunc(({it})::numeric)::int END END"""
LATEST_CHECK = """LEFT JOIN LATERAL (
    SELECT k.scores FROM annotation_suggestioncheck k WHERE k.suggestion_id = s.id ORDER BY k.id DESC LIMIT 1
) k ON true"""


def rows(table: Table, scope: Scope) -> str:
    """The query of a table: its columns by name, its rows in their order."""
    return _QUERIES[table.name](table, scope)


def json_lines(table: Table, scope: Scope) -> str:
    """One JSON object a row, its keys in the order of the columns. Its text holds no control character, so
    that a COPY with two of them as quote and delimiter hands it out as it is."""
    return (
        f"COPY (SELECT row_to_json(x) FROM ({rows(table, scope)}) x)"  # noqa: S608 - our own words and keys
        " TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
    )


def csv_lines(table: Table, scope: Scope) -> str:
    """The same as CSV with a line of names; a text that begins like a formula gets an apostrophe."""
    cells = ", ".join(f'{_cell(one.name, one.type)} AS "{one.name}"' for one in table.columns)
    return f"COPY (SELECT {cells} FROM ({rows(table, scope)}) x) TO STDOUT (FORMAT csv, HEADER)"  # noqa: S608 - our own words and keys


def _cell(name: str, type_: Type) -> str:
    column = f'x."{name}"'
    if type_ is not Type.TEXT:
        return f"{column}::text"
    signs = ", ".join(f"chr({ord(sign)})" for sign in FORMULA)
    return f"CASE WHEN left({column}, 1) IN ({signs}) THEN '''' || {column} ELSE {column} END"


def _select(table: Table, said: Mapping[str, str], rest: str) -> str:
    columns = ", ".join(f'{said[name]} AS "{name}"' for name in table.names)
    return f"SELECT {columns} {rest}"


def _comments(table: Table, scope: Scope) -> str:
    depth = "d.depth" if scope.has_orphans else "c.depth"
    return _select(
        table,
        {
            "id": "c.external_id",
            "thread_id": "t.external_id",
            "parent_id": "coalesce(c.extra ->> 'parent_id', p.external_id)",
            "author": "c.author",
            "username": "c.username",
            "text": "c.text",
            "depth": depth,
            "topic": "t.target_phrase",
            "created_at": "c.extra ->> 'created_at'",
            "source": "CASE WHEN c.extra ->> 'source' IN ('real', 'synthetic') THEN c.extra ->> 'source' END",
            "state": "c.state",
        },
        f"""FROM simulation_comment c
            JOIN release_comment r ON r.comment_id = c.id
            JOIN simulation_thread t ON t.id = c.thread_id
            LEFT JOIN simulation_comment p ON p.id = c.parent_id
            {"JOIN release_depth d ON d.comment_id = c.id" if scope.has_orphans else ""}
        WHERE c.corpus_id = {scope.corpus.pk} ORDER BY c.sequence, c.id""",
    )


def _suggestions(table: Table, scope: Scope) -> str:
    return _select(
        table,
        {
            "comment_id": "c.external_id",
            "attribute": "s.attribute",
            "tagger": "s.tagger",
            "run": "coalesce(u.name, nullif(s.batch, ''))",
            "guesses": WORDS.format(it="s.guesses"),
            "hardness_word": "s.hardness_word",
            "hardness": "s.hardness",
            "certainty": "s.certainty",
            "model_eval": "nullif(s.model_eval, 'null')",
            "check_scores": "k.scores" if scope.has_checks else "NULL::jsonb",
            "reasoning": "s.extra ->> 'reasoning'",
            "prompt": "v.name",
            "prompt_digest": "coalesce(v.digest, s.extra ->> 'prompt_hash')",
            "model": "m.model",
            "served_model": "nullif(m.served_model, '')",
        },
        f"""FROM release_comment r
            JOIN simulation_comment c ON c.id = r.comment_id
            JOIN annotation_suggestion s ON s.comment_id = r.comment_id
            LEFT JOIN simulation_run u ON u.id = s.run_id
            LEFT JOIN simulation_modelcall m ON m.id = s.call_id
            LEFT JOIN simulation_promptversion v ON v.id = m.prompt_id
            {LATEST_CHECK if scope.has_checks else ""}
        WHERE {_wanted("s", scope)} ORDER BY r.n, s.position, s.id""",
    )


def _annotations(table: Table, scope: Scope) -> str:
    first = "f.labels -> l.attribute"
    return _select(
        table,
        {
            "comment_id": "c.external_id",
            "annotator": "coalesce(w.name, a.reviewer)",
            "attribute": "l.attribute",
            "state": "l.state",
            "outcome": "l.outcome",
            "value": "l.value",
            "hardness": "l.hardness",
            "certainty": "l.certainty",
            "evidence": _quotes("l.evidence", scope),
            "bulk": "l.bulk",
            "arm": "nullif(a.arm, '')",
            "queue": "q.name",
            "gold": "coalesce(i.gold, false)",
            "over_quota": "a.over_quota",
            "first_state": f"{first} ->> 'state'",
            "first_value": f"{first} ->> 'value'",
            "first_hardness": f"({first} ->> 'hardness')::int",
            "first_certainty": f"({first} ->> 'certainty')::int",
            "seen_tagger": "s.tagger",
            "seen_value": "s.guesses ->> 0",
            "submitted_at": f"CASE WHEN {HAS_TIME} THEN {MOMENT} END",
            "active_ms": "a.active_ms",
            "guideline": "g.version",
            "note": "nullif(a.note, '')" if scope.query.notes else "NULL::text",
        },
        f"""FROM release_comment r
            JOIN simulation_comment c ON c.id = r.comment_id
            JOIN annotation_annotation a ON a.comment_id = r.comment_id
            LEFT JOIN annotation_item i ON i.id = a.item_id
            LEFT JOIN annotation_queue q ON q.id = i.queue_id
            LEFT JOIN release_person w ON w.person_id = a.person_id
            LEFT JOIN annotation_guideline g ON g.id = a.guideline_id
            LEFT JOIN annotation_firstanswer f ON f.item_id = a.item_id AND f.person_id = a.person_id
            JOIN annotation_attributelabel l ON l.annotation_id = a.id
            LEFT JOIN annotation_suggestion s ON s.id = l.suggestion_id
        WHERE {in_scope("q", scope)} AND {_wanted("l", scope)}
        ORDER BY r.n, w.name IS NOT NULL, length(w.name), w.name COLLATE "C", a.submitted_at, a.id,
            {_place("l")}""",
    )


def _labels(table: Table, scope: Scope) -> str:
    alone = "" if scope.policy == INHERITED or not scope.one_voice_is_enough else f"UNION ALL {_alone(scope)}"
    return _select(
        table,
        {
            "comment_id": "c.external_id",
            "evidence": _quotes("l.evidence", scope),
            "note": "nullif(l.note, '')" if scope.query.notes else "NULL::text",
            "reason": "nullif(l.reason, '')",
            **{
                name: f"l.{name}"
                for name in (
                    *("attribute", "state", "value", "hardness", "certainty"),
                    *("basis", "people", "agreeing", "decided"),
                )
            },
        },
        f"""FROM (SELECT * FROM release_label {alone}) l JOIN simulation_comment c ON c.id = l.comment_id
        ORDER BY l.n, {_place("l")}""",  # noqa: S608 - our own words and keys
    )


def _alone(scope: Scope) -> str:
    """The labels of comments about which one person alone has said something that counts."""
    basis = "agreed" if scope.policy == "adjudicated" else scope.policy
    return f"""SELECT v.comment_id, v.n, l.attribute, l.state, l.value, l.hardness, l.certainty, l.evidence,
        '{basis}', 1, 1, false, '', ''
    FROM release_voice v JOIN annotation_attributelabel l ON l.annotation_id = v.annotation_id
    WHERE l.state <> 'untouched' AND {_wanted("l", scope)}
        AND NOT EXISTS (SELECT 1 FROM release_many m WHERE m.comment_id = v.comment_id)"""  # noqa: S608 - our own words and keys


def _profiles(table: Table, scope: Scope) -> str:
    facts = {
        key: WHOLE.format(it=f"p.facts -> '{key}'") if one.kind is Kind.AGE else f"p.facts ->> '{key}'"
        for key, one in CATALOGUE.items()
    }
    others = "false" if scope.query.chooses_comments else "p.state = 'approved'"
    return _select(
        table,
        {"id": "p.external_id", "username": "p.username", "style": "p.style", **facts},
        f"""FROM simulation_profile p
        WHERE p.corpus_id = {scope.corpus.pk} AND ({others} OR EXISTS (
            SELECT 1 FROM simulation_comment c JOIN release_comment r ON r.comment_id = c.id
            WHERE c.profile_id = p.id
        ))
        ORDER BY length(p.external_id), p.external_id COLLATE "C" """,  # noqa: S608 - our own words and keys
    )


def _study_answers(table: Table, scope: Scope) -> str:
    nothing = {
        Type.TEXT: "text",
        Type.INTEGER: "int",
        Type.BOOLEAN: "boolean",
        Type.TEXTS: "jsonb",
    }
    return _select(table, {one.name: f"NULL::{nothing[one.type]}" for one in table.columns}, "WHERE false")


def _quotes(column: str, scope: Scope) -> str:
    shown = "true" if scope.query.include_withdrawn else "e.state = 'active'"
    return QUOTES.format(it=column, corpus=scope.corpus.pk, shown=shown)


def _wanted(alias: str, scope: Scope) -> str:
    return f"{alias}.attribute = ANY({texts(scope.keys)})"


def _place(alias: str) -> str:
    """Attributes in the catalogue's order."""
    return f"array_position({texts(tuple(CATALOGUE))}, {alias}.attribute::text)"


_QUERIES = {
    release_schema.COMMENTS.name: _comments,
    release_schema.SUGGESTIONS.name: _suggestions,
    release_schema.ANNOTATIONS.name: _annotations,
    release_schema.LABELS.name: _labels,
    release_schema.PROFILES.name: _profiles,
    release_schema.STUDY_ANSWERS.name: _study_answers,
}
