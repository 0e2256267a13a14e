"""Communities of threads as files, and the published files of them on their way in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from annotation.exchange.problems import Problem
from annotation.exchange.tables import Table, as_csv
from evaluation.domain.communities import joined
from evaluation.domain.paper.records import Assignment
from evaluation.exchange.released import UnreadableLine
from evaluation.exchange.released_rows import read_assignments
from evaluation.selectors.communities import Row
from simulation.models import Comment, Corpus, Thread, User
from simulation.services import audit

BATCH = 1000
LONGEST = 100
"""Characters of a name."""
MOST_NAMES = 50
"""Names of one thread."""
MOST_LISTED = 5
"""Threads that are not there are listed up to here, and counted beyond."""
COLUMNS = ("id", "thread_id", "target", "topics", "state", "reason", "detail")


def as_table(rows: Iterable[Row]) -> Iterator[str]:
    """Every thread, those without communities too, and why they have none."""
    cells = [
        (
            row.root,
            row.thread.external_id if row.thread else "",
            row.target,
            joined(row.topics),
            row.state,
            row.reason,
            row.detail,
        )
        for row in rows
    ]
    yield as_csv(Table(COLUMNS, cells))


def as_published(rows: Iterable[Row]) -> Iterator[str]:
    """The published form, an object a line, of the threads that have communities."""
    for row in rows:
        if row.thread is not None and row.topics:
            said = {"id": row.root, "thread_id": row.thread.external_id, "topics": joined(row.topics)}
            yield json.dumps(said, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Kind:
    """How a file of one ending is written."""

    content_type: str
    write: Callable[[Iterable[Row]], Iterator[str]]


KINDS = {
    "csv": Kind("text/csv; charset=utf-8", as_table),
    "jsonl": Kind("application/jsonl; charset=utf-8", as_published),
}


class NoThread(Exception):
    """None of the threads of a file is in the corpus."""


@dataclass
class Imported:
    """What a file brought: threads that it named topics for, and those of its lines that are not there."""

    threads: int = 0
    changed: int = 0
    missing: list[str] = field(default_factory=list)
    """Names of threads that the corpus does not have."""

    @property
    def listed(self) -> str:
        more = len(self.missing) - MOST_LISTED
        return ", ".join(self.missing[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


@transaction.atomic
def import_file(corpus: Corpus, path: Path, *, by: User | None) -> Imported:
    """Has the threads of a corpus name the communities of a published file.

    A line finds its thread by the id of its post, else by its name. Raises UnreadableLine and NoThread;
    nothing is changed then. Again the same changes nothing; another file takes the place of the first.
    """
    given = _read(path)
    found, missing = _threads(corpus, given)
    if not found:
        first = ", ".join(missing[:MOST_LISTED]) or "none"
        raise NoThread(
            f"none of the {len(given)} threads of {path.name} is in {corpus.name} (looked for: {first}); "
            "import its threads first, or name another corpus"
        )
    changed = []
    for thread, assignment in found:
        topics = list(assignment.topics)
        if thread.extra.get("topics") != topics:
            thread.extra = {**thread.extra, "topics": topics}
            changed.append(thread)
    Thread.objects.bulk_update(changed, ["extra"], batch_size=BATCH)
    details = {"threads": len(found), "changed": len(changed), "missing": len(missing)}
    audit.record(by=by, action="topics.imported", target=corpus, corpus=corpus, details=details)
    return Imported(len(found), len(changed), missing)


def _read(path: Path) -> list[Assignment]:
    """All lines, or the first problem."""
    found: list[Assignment] = []
    seen: dict[str, int] = {}
    for one in read_assignments(path):
        if not 0 < len(one.topics) <= MOST_NAMES:
            raise _problem(path, one, "topics", f"must hold 1 to {MOST_NAMES} names with commas between them")
        if long := next((name for name in one.topics if len(name) > LONGEST), ""):
            raise _problem(path, one, "topics", f"“{long[:30]}…” is longer than {LONGEST} characters")
        if (first := seen.setdefault(one.thread, one.line)) != one.line:
            raise _problem(path, one, "thread_id", f"{one.thread} stands in line {first} already; keep one")
        found.append(one)
    return found


def _problem(path: Path, one: Assignment, where: str, message: str) -> UnreadableLine:
    return UnreadableLine(Problem(path.name, one.line, where, message))


def _threads(corpus: Corpus, given: list[Assignment]) -> tuple[list[tuple[Thread, Assignment]], list[str]]:
    """Each thread with its line, its row locked; and the names of those that are not there. Three queries."""
    posts = Comment.objects.filter(corpus=corpus, parent=None, external_id__in=[one.root for one in given])
    by_root = dict(posts.values_list("external_id", "thread"))
    names = Thread.objects.filter(corpus=corpus, external_id__in=[one.thread for one in given])
    by_name = dict(names.values_list("external_id", "pk"))
    wanted = {one.line: by_root.get(one.root) or by_name.get(one.thread) for one in given}
    rows = Thread.objects.filter(pk__in=[pk for pk in wanted.values() if pk]).order_by("pk")
    locked = {thread.pk: thread for thread in rows.select_for_update(no_key=True)}
    found = [(locked[pk], one) for one in given if (pk := wanted[one.line]) in locked]
    return found, [one.thread for one in given if wanted[one.line] not in locked]
