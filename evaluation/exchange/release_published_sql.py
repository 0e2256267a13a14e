"""Rows of the published form as the database writes them, for comments about which nothing is out of the way.

Byte for byte what `published_row` makes of them, a hundred times as fast; which comments those are the query
decides, and all others are left to Python.
"""

from __future__ import annotations

from annotation.exchange.comments import PHRASE
from annotation.exchange.profiles import AGES
from annotation.exchange.records import TAGGER

SCORES = r"^\[((0|1|0\.5)(, (0|1|0\.5))*)?\]$"
AGE_KEYS = ", ".join(f"'{key}'" for key in sorted(AGES)) or "''"
NUMBER = r"^(0|[1-9][0-9]{0,14})(\.[0-9]+)?$"
"""Numbers that the database writes as Python does, save very small ones."""


def _is_plain(key: str) -> str:
    value = f"a.extra -> '{key}'"
    written = f"({value})::text ~ '{NUMBER}' AND ({value})::text !~ '^0\\.0000'"
    return f"coalesce(jsonb_typeof({value}) = 'number' AND {written}, true)"


PROFILES = "CREATE TEMPORARY TABLE release_body (profile_id bigint PRIMARY KEY, body text) ON COMMIT DROP"
LINES = "CREATE TEMPORARY TABLE release_line (n int PRIMARY KEY, line text) ON COMMIT DROP"
REPLIES = """
CREATE TEMPORARY TABLE release_reply ON COMMIT DROP AS
SELECT c.parent_id, array_agg(c.external_id ORDER BY c.position, c.sequence, c.id) AS replies
FROM simulation_comment c WHERE c.corpus_id = :corpus AND c.parent_id IS NOT NULL AND c.state = 'active'
GROUP BY c.parent_id"""
# One object a suggestion; numbers that Python writes in another way than the database are out of the way.
GUESSES = f"""
CREATE TEMPORARY TABLE release_guess ON COMMIT DROP AS
SELECT g.comment_id, array_to_json(array_agg(row_to_json(g.said) ORDER BY g.position, g.id)) AS guesses,
       bool_and(g.plain) AND min(g.whose) = max(g.whose) AS plain
FROM (
    SELECT s.comment_id, s.position, s.id, concat_ws('/', s.tagger, s.run_id, s.batch) AS whose,
           s.extra = '{{}}' AND (s.tagger = '{TAGGER}') = (s.run_id IS NULL) AND s.batch = ''
               AND (NOT jsonb_path_exists(s.guesses, '$[*] ? (@.type() != "string")')
                    OR (s.attribute IN ({AGE_KEYS}) AND s.guesses::text ~ '^[][0-9", -]*$'))
               AND (s.model_eval IS NULL OR s.model_eval::text ~ '{SCORES}') AS plain,
           (SELECT x FROM (SELECT
               s.attribute AS feature,
               array_to_json(ARRAY(
                   SELECT v.w FROM jsonb_array_elements_text(s.guesses) WITH ORDINALITY v(w, o) ORDER BY v.o
               )) AS guesses,
               s.hardness_word AS hardness,
               s.certainty,
               replace(s.model_eval::text, ', ', ',')::json AS model_eval
           ) x) AS said
    FROM release_comment r JOIN annotation_suggestion s ON s.comment_id = r.comment_id
) g GROUP BY g.comment_id"""  # noqa: S608 - our own words and keys
# One block a reviewer of a file; answers of people here are out of the way, as is what came in other types.
REVIEWS = f"""
CREATE TEMPORARY TABLE release_review ON COMMIT DROP AS
SELECT a.comment_id,
       '{{' || string_agg(
           to_json(a.reviewer)::text || ':{{' || b.labels || b.times || '}}', ',' ORDER BY a.id
       ) || '}}' AS reviews,
       bool_and(
           a.person_id IS NULL AND a.item_id IS NULL AND NOT a.over_quota AND b.labels IS NOT NULL
           AND a.extra - ARRAY['timestamp', 'time'] = '{{}}'
           AND {_is_plain("timestamp")} AND {_is_plain("time")}
       ) AS plain
FROM release_comment r JOIN annotation_annotation a ON a.comment_id = r.comment_id
    CROSS JOIN LATERAL (
        SELECT string_agg(
            to_json(l.attribute)::text || ':{{"estimate":' || to_json(l.value)::text
                || ',"hardness":' || coalesce(l.hardness, 0)
                || ',"certainty":' || coalesce(l.certainty, 0) || '}}',
            ',' ORDER BY l.id
        ) AS labels,
        coalesce(',"timestamp":' || (a.extra ->> 'timestamp'), '')
            || coalesce(',"time":' || (a.extra ->> 'time'), '') AS times
        FROM annotation_attributelabel l WHERE l.annotation_id = a.id
    ) b
GROUP BY a.comment_id"""  # noqa: S608 - our own words and keys
KEPT = f"ARRAY['parent_id', 'children', 'reviews', 'around', '{PHRASE}']"
JOINED = """FROM simulation_comment c
    JOIN release_comment r ON r.comment_id = c.id
    JOIN simulation_thread t ON t.id = c.thread_id
    LEFT JOIN simulation_comment p ON p.id = c.parent_id
    LEFT JOIN release_body b ON b.profile_id = c.profile_id
    LEFT JOIN release_reply k ON k.parent_id = c.id
    LEFT JOIN release_guess g ON g.comment_id = c.id
    LEFT JOIN release_review v ON v.comment_id = c.id
WHERE c.corpus_id = :corpus AND c.state = 'active'"""
PLAIN = f"""(
    c.extra - {KEPT} = '{{}}' AND coalesce(c.extra -> 'reviews' = '{{}}', true) AND coalesce(g.plain, true)
    AND coalesce(jsonb_typeof(c.extra -> '{PHRASE}') = 'string', true)
    AND coalesce(jsonb_typeof(c.extra -> 'parent_id') = 'string', true)
    AND coalesce(b.body <> '{{}}', true)
    AND coalesce(c.extra -> 'children' = CASE
        WHEN k.replies IS NOT NULL THEN to_jsonb(k.replies)
        WHEN c.extra -> 'children' = 'null' THEN 'null' ELSE '[]' END, true)
    AND coalesce(v.plain, true)
)"""
ODD = f"SELECT c.id {JOINED} AND NOT {PLAIN} ORDER BY c.sequence, c.id"
_PHRASE = f"""coalesce(c.extra ->> '{PHRASE}',
    CASE WHEN t.source <> 'flat' AND c.parent_id IS NULL THEN nullif(t.target_phrase, '') END)"""
# The rows are sorted without their profiles, which are longer than all the rest, and written afterwards.
_SORTED = f"""SELECT l.line, c.author, c.username, c.profile_id, {_PHRASE} AS phrase,
    CASE WHEN t.source = 'flat' AND c.original_text = '' AND c.extra ? 'around'
         THEN (c.extra -> 'around' ->> 0) || c.text || (c.extra -> 'around' ->> 1) ELSE c.text END AS text,
    g.guesses, v.reviews, c.external_id AS id, coalesce(c.extra ->> 'parent_id', p.external_id) AS parent_id,
    t.external_id AS thread_id,
    CASE WHEN k.replies IS NOT NULL THEN array_to_json(k.replies)
         WHEN c.extra -> 'children' = 'null' THEN NULL ELSE '[]' END AS children
{JOINED.replace("WHERE", "LEFT JOIN release_line l ON l.n = r.n WHERE")}
ORDER BY c.sequence, c.id OFFSET 0"""
_BODY = "(SELECT b.body FROM release_body b WHERE b.profile_id = s.profile_id)"
_ROW = f"""(SELECT row_to_json(x)::text FROM (SELECT
    s.author, s.username,
    (CASE WHEN s.phrase IS NULL THEN {_BODY}
          ELSE left({_BODY}, -1) || ',"{PHRASE}":' || to_json(s.phrase) || '}}' END)::json AS profile,
    s.text, s.guesses, coalesce(s.reviews, '{{}}')::json AS reviews,
    s.id, s.parent_id, s.thread_id, s.children
) x)"""  # noqa: S608 - our own words and keys
WRITTEN = (
    f"COPY (SELECT coalesce(s.line, {_ROW}) FROM ({_SORTED}) s)"  # noqa: S608 - our own words and keys
    " TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
)


def of_corpus(statement: str, corpus: int) -> str:
    """The statement about the corpus with this primary key."""
    return statement.replace(":corpus", str(corpus))
