"""The door for files on their way in: profiles, thread trees, rows of the flat layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from annotation.exchange.copying import analyze
from annotation.exchange.describing import Described, describe
from annotation.exchange.files import BadPath, Source, TreeFile, files_of, source
from annotation.exchange.journal import Journal
from annotation.exchange.problems import SHOWN, Problem, Problems
from annotation.exchange.reading import Unreadable, is_text
from annotation.exchange.reports import FileReport, ImportReport, Tally, tallies
from annotation.exchange.upsert import Job, lock
from annotation.exchange.upsert_profiles import Authors
from annotation.exchange.watching import NOBODY, Watch, reading_for
from simulation.models import Corpus, User
from simulation.services.corpora import create_corpus

__all__ = ["BadPath", "Described", "ImportReport", "Unreadable", "describe", "import_paths"]

WORTH_ANALYSING = 20_000
"""New rows of one import from which on the planner's numbers are renewed at once."""


@dataclass(frozen=True)
class NewCorpus:
    """What a corpus becomes if there is none of this name."""

    name: str
    by: User | None = None
    description: str = ""
    licence: str = ""
    language: str = "en"


def import_paths(
    *,
    paths: Iterable[Path],
    corpus_name: str,
    dry_run: bool = False,
    by: User | None = None,
    description: str = "",
    licence: str = "",
    language: str = "en",
    options: Mapping[str, Any] | None = None,
    watch: Watch = NOBODY,
    journal: Journal | None = None,
    list_problem: Callable[[Problem], None] | None = None,
) -> ImportReport:
    """Imports files, and folders with profiles.json and threads/, into the corpus of this name.

    One transaction a file: an invalid file changes nothing; those before it stay, those after it are only
    checked. The corpus is made, with description, licence and language, if there is none. A dry run does it
    all and takes it back, so its counts are those of the real run. `options["mapping"]` says what the columns
    of foreign tables among the files stand for (annotation/domain/column_mapping.py).

    `watch` hears how far it is and may stop it; `journal` notes what is made and changed; `list_problem` gets
    every problem, of which the report has the first hundred.

    Raises BadPath for a path without a file, ValidationError for a name that no corpus can have, and Stopped.
    """
    begun = monotonic()
    _check_texts(name=corpus_name, description=description, licence=licence)
    wanted = NewCorpus(corpus_name.strip(), by, description, licence, language)
    run = _Run(wanted, (options or {}).get("mapping"), watch, journal, list_problem)
    with ExitStack() as stack:
        stack.enter_context(reading_for(watch))
        if dry_run:
            stack.enter_context(transaction.atomic())
        for path in files_of(paths):
            run.take(path)
        if dry_run:
            transaction.set_rollback(True)
        else:
            run.renew_statistics()
    return run.report(dry_run=dry_run, seconds=round(monotonic() - begun, 3))


def _check_texts(**texts: str) -> None:
    """Refuses what the database cannot even be asked for, as words of a terminal that is not in UTF-8."""
    message = "Must be UTF-8 text without NUL characters."
    if wrong := [field for field, text in texts.items() if not is_text(text)]:
        raise ValidationError({field: [message] for field in wrong})


@dataclass
class _Run:
    """The files of one import, one after the other."""

    wanted: NewCorpus
    mapping: Mapping[str, Any] | None = None
    watch: Watch = NOBODY
    journal: Journal | None = None
    list_problem: Callable[[Problem], None] | None = None
    tallies: dict[str, Tally] = field(default_factory=tallies)
    files: list[FileReport] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    written: set[type[Model]] = field(default_factory=set)
    corpus: Corpus | None = None
    authors: Authors = field(default_factory=Authors)

    trees: set[str] = field(default_factory=set)

    def take(self, path: Path) -> None:
        """Checks a file and, unless one before it was invalid, stores it."""
        problems = Problems(path.name, self.list_problem)
        job = None
        self.watch.stage("checking")
        try:
            file = source(path, problems, self.mapping)
            if isinstance(file, TreeFile):
                self._check_name(file, problems)
            file.check()
            if not problems.total and not self.problem_count:
                job = self._store(file, problems)
        except Unreadable as fault:
            problems.add(fault.line, fault.field, fault.message)
        self._note(path, problems, job)

    def _check_name(self, file: TreeFile, problems: Problems) -> None:
        if file.name in self.trees:
            message = (
                f"another tree of this import is called {file.name}, too, and the name is the thread's id"
            )
            problems.add(None, "", f"{message}; rename one of them")
        self.trees.add(file.name)

    def _store(self, file: Source, problems: Problems) -> Job:
        self.watch.stage("storing")
        try:
            with transaction.atomic():
                corpus = self.corpus or _corpus(self.wanted)
                lock(corpus)
                job = Job(corpus, problems, timezone.now(), self.watch, self.journal)
                file.store(job, self.authors)
                if problems.total:
                    transaction.set_rollback(True)
        except (DataError, IntegrityError) as error:  # what no check foresaw; the database has the last word
            raise Unreadable(None, "", f"the database refuses it: {error}".strip()) from error
        if not problems.total:
            self.corpus = corpus
        return job

    def _note(self, path: Path, problems: Problems, job: Job | None) -> None:
        counted = tallies()
        if problems.total:
            outcome = "invalid"
            for kind, count in problems.invalid.items():
                counted[kind].invalid = count
        elif job is None:
            outcome = "skipped"
        else:
            counted = job.tallies
            self.written |= job.written
            self.warnings += problems.warnings
            outcome = "imported" if job.written else "unchanged"
        for kind, tally in counted.items():
            self.tallies[kind].add(tally)
        self.files.append(FileReport(path.name, outcome, counted, problems.total))
        self.problem_count += problems.total
        self.problems += problems.shown[: SHOWN - len(self.problems)]

    def renew_statistics(self) -> None:
        """After a large import, once it is committed, the planner learns at once what the tables hold."""
        if sum(one.new for one in self.tallies.values()) >= WORTH_ANALYSING:
            models = sorted(self.written, key=lambda model: model._meta.db_table)
            transaction.on_commit(partial(analyze, models))

    def report(self, *, dry_run: bool, seconds: float) -> ImportReport:
        return ImportReport(
            corpus=self.wanted.name,
            dry_run=dry_run,
            tallies=self.tallies,
            files=tuple(self.files),
            warnings=tuple(f"{count} {kind}" for kind, count in self.warnings.items()),
            problems=tuple(self.problems),
            problem_count=self.problem_count,
            seconds=seconds,
        )


def _corpus(wanted: NewCorpus) -> Corpus:
    """The corpus of this name; of two imports that make it at once, the second waits for the first's."""
    found = Corpus.objects.filter(name=wanted.name).first()
    if found and found.trashed_at:
        raise BadPath(Path(wanted.name), "is a corpus in the trash: restore it, or choose another name")
    if found:
        return found
    try:
        with transaction.atomic():
            return create_corpus(
                name=wanted.name,
                by=wanted.by,
                description=wanted.description,
                licence=wanted.licence,
                language=wanted.language,
            )
    except IntegrityError:
        return Corpus.objects.get(name=wanted.name)
