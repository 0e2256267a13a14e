"""Records to rows: what every kind has in common, and threads.

A row is new, changed or the same. The same is never written, so that a second import of a file changes
nothing, not even a row's place on the disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

from annotation.exchange.copying import copy_in, reserve_ids
from annotation.exchange.journal import Journal, overwritten
from annotation.exchange.problems import Problems
from annotation.exchange.records import ThreadRecord
from annotation.exchange.reports import Tally, tallies
from annotation.exchange.sameness import alike
from annotation.exchange.watching import NOBODY, Watch
from simulation.models import Corpus, Thread

BATCH = 2000
UPDATED_AT_ONCE = 500
LOCK_OF_IMPORTS = 0x5350  # the first half of the advisory lock's key; the second is the corpus
NEW_THREAD = ("id", "corpus_id", "external_id", "source", "target_phrase")
Item = TypeVar("Item")


@dataclass
class Job:
    """One file on its way into one corpus, within one transaction."""

    corpus: Corpus
    problems: Problems
    now: datetime
    watch: Watch = NOBODY
    journal: Journal | None = None
    """Where what is made and changed is written down, if anybody wants to take it back."""
    tallies: dict[str, Tally] = field(default_factory=tallies)
    written: set[type[Model]] = field(default_factory=set)

    def insert(
        self,
        model: type[Model],
        names: Sequence[str],
        rows: list[tuple[Any, ...]],
        kind: str = "",
        *,
        implied: bool = False,
    ) -> None:
        """Writes new rows, and counts them as `kind`.

        `implied`: the journal needs no word of them, as they hang on rows that it knows.
        """
        if not rows:
            return
        if self.journal and not implied:
            if names[0] != "id":
                names = ("id", *names)
                keys = reserve_ids(model, len(rows))
                rows = [(key, *row) for key, row in zip(keys, rows, strict=True)]
            self.journal.made(model, [row[0] for row in rows])
        copy_in(model, names, rows)
        self._note(model, len(rows))
        if kind:
            self.tallies[kind].new += len(rows)

    def update(self, rows: Sequence[Model], names: Iterable[str], kind: str) -> None:
        if rows:
            model = type(rows[0])
            self.before(model, [row.pk for row in rows])
            model._default_manager.bulk_update(rows, [*names], batch_size=UPDATED_AT_ONCE)
            self._note(model, len(rows))
            self.tallies[kind].changed += len(rows)

    def before(self, model: type[Model], keys: Collection[int]) -> None:
        """To be called before rows that were there are changed or removed."""
        if self.journal:
            self.journal.keep(model, keys)
        elif keys:
            overwritten(self.corpus.pk, model, keys)

    def _note(self, model: type[Model], count: int) -> None:
        self.written.add(model)
        self.watch.wrote(count)


def lock(corpus: Corpus) -> None:
    """Until the end of the transaction no other import works on this corpus."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_OF_IMPORTS, corpus.pk])


def batches(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def adopt(row: Model, wanted: dict[str, Any]) -> bool:
    """Sets the fields that differ; whether any did."""
    found = differing(row, wanted)
    for name in found:
        setattr(row, name, wanted[name])
    return bool(found)


def differing(row: Model, wanted: dict[str, Any]) -> list[str]:
    """The names of the fields whose values are not those that are wanted, in JSON not even in their type."""
    return [name for name, value in wanted.items() if _differ(getattr(row, name), value)]


def _differ(stored: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict | list):
        return not alike(stored, wanted)
    return bool(stored != wanted)


@dataclass
class Threads:
    """External id -> key of every thread of a file, and those that have just been made."""

    keys: dict[str, int] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)

    def replace(self, others: Threads) -> None:
        """Forgets these for others: a long file is not held as a whole."""
        self.keys, self.new = others.keys, others.new


def store_threads(records: Iterable[ThreadRecord], job: Job) -> Threads:
    threads = Threads()
    for batch in batches(records):
        names = [record.external_id for record in batch]
        stored = {
            thread.external_id: thread
            for thread in Thread.objects.filter(corpus_id=job.corpus.pk, external_id__in=names)
        }
        changed = []
        for record in batch:
            thread = stored.get(record.external_id)
            if thread is None:
                continue
            if thread.source != record.source:
                _report_other_source(thread, record, job.problems)
            elif record.target_phrase is not None and adopt(thread, {"target_phrase": record.target_phrase}):
                changed.append(thread)
            else:
                job.tallies["threads"].same += 1
        job.update(changed, ["target_phrase"], "threads")
        new = _insert_threads([record for record in batch if record.external_id not in stored], job)
        threads.keys |= {name: thread.pk for name, thread in stored.items()} | new
        threads.new |= new.keys()
    return threads


def _insert_threads(records: list[ThreadRecord], job: Job) -> dict[str, int]:
    rows = [
        (key, job.corpus.pk, record.external_id, record.source, record.target_phrase or "")
        for key, record in zip(reserve_ids(Thread, len(records)), records, strict=True)
    ]
    job.insert(Thread, NEW_THREAD, rows, "threads")
    return {record.external_id: row[0] for row, record in zip(rows, records, strict=True)}


def _report_other_source(thread: Thread, record: ThreadRecord, problems: Problems) -> None:
    names = {"tree": "a tree", "flat": "rows", "simulated": "a simulation"}
    problems.invalid["threads"] += 1
    problems.add(
        None,
        "" if record.source == "tree" else "thread_id",
        f"thread “{record.external_id}” is in this corpus as {names[thread.source]}; {names[record.source]}"
        " would double its comments, because their ids differ. Import the file into a corpus of its own",
    )
