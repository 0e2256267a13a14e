"""What a release is about: its comments, people and what counts, in tables that only this transaction sees.

Every table of the release is then one query over them. Keys of the database stay inside; what goes out is in
the order in which comments arrived in the corpus, which an import of the released files keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection, transaction

from annotation.exchange.chunks import Pseudonyms
from annotation.exchange.upsert import batches
from annotation.models import Annotation
from evaluation.domain.release_labels import is_complete_alone
from evaluation.domain.releasing import ADJUDICATED, FILTERS, INHERITED, Query
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus

TEMPORARY = (
    "release_comment",
    "release_depth",
    "release_person",
    "release_voice",
    "release_label",
    "release_fact",
    "release_many",
    "release_body",
    "release_line",
    "release_reply",
    "release_guess",
    "release_review",
)
WORK_MEMORY = "64MB"
"""For each sort and hash of the release's queries; what is more goes to the server's disk."""
CONDITIONS: Mapping[str, str] = {
    "include_withdrawn": "(c.state = 'active' OR %(include_withdrawn)s)",
    "sources": "(t.source = ANY(%(sources)s) OR c.extra ->> 'source' = ANY(%(sources)s))",
    "threads": "t.external_id = ANY(%(threads)s)",
    "profiles": (
        "c.profile_id IN (SELECT id FROM simulation_profile WHERE corpus_id = %(corpus)s"
        " AND external_id = ANY(%(profiles)s))"
    ),
    "queues": (
        "EXISTS (SELECT 1 FROM annotation_item i JOIN annotation_queue q ON q.id = i.queue_id"
        " WHERE i.comment_id = c.id AND q.trashed_at IS NULL AND q.public_id = ANY(%(queues)s))"
    ),
    "reviewed_only": (
        "EXISTS (SELECT 1 FROM annotation_annotation a"
        " LEFT JOIN annotation_item i ON i.id = a.item_id LEFT JOIN annotation_queue q ON q.id = i.queue_id"
        " WHERE a.comment_id = c.id AND NOT a.over_quota AND NOT coalesce(i.gold, false)"
        " AND q.trashed_at IS NULL AND (%(queues)s::text[] = '{}' OR q.public_id = ANY(%(queues)s)))"
    ),
    "min_words": r"cardinality(regexp_split_to_array(btrim(c.text), '\s+')) >= %(min_words)s",
}
CHOSEN = (
    "FROM simulation_comment c JOIN simulation_thread t ON t.id = c.thread_id WHERE c.corpus_id = %(corpus)s"
)
COMMENTS = (
    "CREATE TEMPORARY TABLE release_comment ON COMMIT DROP AS"
    " SELECT row_number() OVER (ORDER BY c.sequence, c.id)::int AS n, c.id AS comment_id {chosen} ORDER BY 1"
)
INDEXED = "CREATE UNIQUE INDEX ON release_comment (comment_id)"
SOME_LEFT = """
SELECT (SELECT count(*) FROM simulation_comment WHERE corpus_id = %(corpus)s)
    > (SELECT count(*) FROM release_comment)"""
ORPHANS = """
SELECT EXISTS (
    SELECT 1 FROM release_comment r JOIN simulation_comment c ON c.id = r.comment_id
        LEFT JOIN release_comment p ON p.comment_id = c.parent_id
    WHERE (p.comment_id IS NULL) <> (c.depth = 0)
)"""
CHECKS = """
SELECT EXISTS (
    SELECT 1 FROM annotation_suggestioncheck k JOIN simulation_run u ON u.id = k.run_id
    WHERE u.corpus_id = %(corpus)s
)"""
DEPTHS = """
CREATE TEMPORARY TABLE release_depth ON COMMIT DROP AS
WITH RECURSIVE below AS (
    SELECT r.comment_id, 0 AS depth
    FROM release_comment r JOIN simulation_comment c ON c.id = r.comment_id
        LEFT JOIN release_comment p ON p.comment_id = c.parent_id
    WHERE p.comment_id IS NULL
  UNION ALL
    SELECT c.id, b.depth + 1
    FROM below b JOIN simulation_comment c ON c.parent_id = b.comment_id
        JOIN release_comment r ON r.comment_id = c.id
)
SELECT comment_id, depth FROM below"""
PEOPLE = "CREATE TEMPORARY TABLE release_person (person_id bigint PRIMARY KEY, name text) ON COMMIT DROP"
# Answers that may be labels; `who` is the same for all that one person said.
VOICES = """
CREATE TEMPORARY TABLE release_voice ON COMMIT DROP AS
SELECT a.id AS annotation_id, a.comment_id, r.n,
       coalesce('p' || a.person_id, 'r' || a.reviewer) AS who,
       CASE WHEN a.person_id IS NOT NULL OR jsonb_typeof(a.extra -> 'timestamp') = 'number'
            THEN extract(epoch FROM a.submitted_at)::float8 ELSE 0 END AS at
FROM release_comment r
    JOIN annotation_annotation a ON a.comment_id = r.comment_id
    LEFT JOIN annotation_item i ON i.id = a.item_id
    LEFT JOIN annotation_queue q ON q.id = i.queue_id
WHERE NOT a.over_quota AND NOT coalesce(i.gold, false) AND {scope} AND {complete}"""
# Where a queue has finished a comment, the reviewers of a file are not asked any more.
OVERRULED = """
DELETE FROM release_voice v WHERE v.who LIKE 'r%' AND EXISTS (
    SELECT 1 FROM release_voice o WHERE o.comment_id = v.comment_id AND o.who LIKE 'p%'
)"""
COMPLETE = """(
    i.id IS NULL OR i.agreement = 'settled' OR (NOT i.flagged AND q.people_per_item <= (
        SELECT count(*) FROM annotation_annotation o
        WHERE o.item_id = i.id AND o.person_id IS NOT NULL AND NOT o.over_quota
    ))
)"""
LABEL_ROWS = """
CREATE TEMPORARY TABLE release_label (
    comment_id bigint, n int, attribute text, state text, value text, hardness int, certainty int,
    evidence jsonb, basis text, people int, agreeing int, decided boolean, reason text, note text
) ON COMMIT DROP"""
FACTS = "CREATE TEMPORARY TABLE release_fact (profile_id bigint, attribute text, value text) ON COMMIT DROP"


class NothingToRelease(Exception):
    """No comment is left; the message says which filter left none."""


@dataclass(frozen=True)
class Scope:
    """What is asked of which corpus, and by which policy labels are made."""

    corpus: Corpus
    query: Query
    policy: str
    agreeing: int | None
    has_orphans: bool = False
    """Whether depths had to be counted anew."""
    has_checks: bool = False
    """Whether any suggestion was checked against the profiles."""

    @property
    def parameters(self) -> dict[str, Any]:
        named = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self.query).items()
        }
        return {**named, "corpus": self.corpus.pk}

    @property
    def keys(self) -> tuple[str, ...]:
        """The attributes that are released, in the catalogue's order."""
        return tuple(key for key in CATALOGUE if not self.query.attributes or key in self.query.attributes)

    @property
    def one_voice_is_enough(self) -> bool:
        return is_complete_alone(self.policy, self.agreeing)


def conditions(query: Query) -> dict[str, str]:
    """The filters that this query uses, in their order."""
    return {name: CONDITIONS[name] for name in FILTERS if getattr(query, name) or name == "include_withdrawn"}


def in_scope(queue: str, scope: Scope) -> str:
    """Whether what was said there goes out: not in the trash, and in a queue that was asked for."""
    if not scope.query.queues:
        return f"{queue}.trashed_at IS NULL"
    return f"({queue}.trashed_at IS NULL AND {queue}.public_id = ANY({texts(scope.query.queues)}))"


def texts(words: tuple[str, ...]) -> str:
    """An array of texts, as SQL writes it."""
    inner = ", ".join("'" + one.replace("'", "''") + "'" for one in words)
    return f"ARRAY[{inner}]::text[]"


@contextmanager
def snapshot() -> Iterator[None]:
    """One moment of the database for all that is read inside, whatever others write meanwhile."""
    with transaction.atomic():
        if not connection.savepoint_ids:  # else a transaction is open, and its level is settled
            run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        run(f"SET LOCAL work_mem = '{WORK_MEMORY}'")
        run("SET LOCAL jit = off")
        run("SET LOCAL standard_conforming_strings = on")
        yield
        run(f"DROP TABLE IF EXISTS {', '.join(TEMPORARY)}")  # after an error the rollback takes them away


def choose(scope: Scope) -> int:
    """Makes the tables of comments, people and voices; returns how many comments there are.

    Raises NothingToRelease.
    """
    chosen = " AND ".join([CHOSEN, *conditions(scope.query).values()])
    run(COMMENTS.format(chosen=chosen), scope.parameters)
    run(INDEXED)
    run("ANALYZE release_comment")
    found: int = ask("SELECT count(*) FROM release_comment")
    if not found:
        raise NothingToRelease(why_nothing(left(scope)))
    _name_people(scope.corpus)
    if scope.policy != INHERITED:
        complete = COMPLETE if scope.policy == ADJUDICATED else "true"
        run(VOICES.format(scope=in_scope("q", scope), complete=complete))
        run("CREATE INDEX ON release_voice (comment_id)")
        if scope.policy == ADJUDICATED:
            run(OVERRULED)
        run("ANALYZE release_voice")
    return found


def find_out(scope: Scope) -> Scope:
    """The scope with what the chosen comments are like, so that queries ask only for what is there."""
    return replace(scope, has_orphans=_find_orphans(scope), has_checks=bool(ask(CHECKS, scope.parameters)))


def _find_orphans(scope: Scope) -> bool:
    """Whether a comment's depth in the corpus is not its depth in the release; it is then counted anew."""
    if not ask(SOME_LEFT, scope.parameters) or not ask(ORPHANS):
        return False
    run(DEPTHS)
    run("CREATE UNIQUE INDEX ON release_depth (comment_id)")
    run("ANALYZE release_depth")
    return True


def _name_people(corpus: Corpus) -> None:
    run(PEOPLE)
    names = Pseudonyms.of(corpus)
    mine = Annotation.objects.filter(comment__corpus=corpus, person__isnull=False)
    people = mine.order_by().values_list("person", flat=True).distinct()
    rows = [(person, names.of_person(person)) for person in people if person is not None]
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO release_person VALUES (%s, %s)", rows)


def left(scope: Scope) -> dict[str, int]:
    """How many comments are left after each filter, one after the other; "all": of the corpus."""
    applied = [CHOSEN]
    found = {"all": ask(f"SELECT count(*) {CHOSEN}", scope.parameters)}
    for name, condition in conditions(scope.query).items():
        applied.append(condition)
        found[name] = ask(f"SELECT count(*) {' AND '.join(applied)}", scope.parameters)
    return found


def why_nothing(numbers: Mapping[str, int]) -> str:
    """Which filter left no comment, in a sentence."""
    before = 0
    for name, number in numbers.items():
        if number == 0:
            if name == "all":
                return "The corpus has no comments: there is nothing to release."
            if name == "include_withdrawn":
                return f"All {before} comments were withdrawn: there is nothing to release."
            return f"The filter “{name}” leaves none of {before} comments: there is nothing to release."
        before = number
    return "There is nothing to release."


def run(statement: str, parameters: Mapping[str, Any] | None = None) -> None:
    """Runs a statement that answers nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def ask(statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """The one value of a statement's one row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()[0]


def write_rows(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Puts rows into a temporary table, a batch at a time: `rows` may ask the database meanwhile."""
    for batch in batches(rows):
        with (
            connection.wrap_database_errors,
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN") as copy,
        ):
            for row in batch:
                copy.write_row(row)
