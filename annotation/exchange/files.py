"""Which files a request means, and how each layout is checked and stored."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from annotation.exchange.flat import read_rows
from annotation.exchange.layouts import Layout, layout_of
from annotation.exchange.outline import Outline
from annotation.exchange.problems import Problems
from annotation.exchange.profiles import read_profiles
from annotation.exchange.reading import is_text, readable, stem
from annotation.exchange.trees import Tree, read_tree
from annotation.exchange.upsert import Job, batches, store_threads
from annotation.exchange.upsert_comments import CommentStore
from annotation.exchange.upsert_profiles import Authors, store_profiles

ENDINGS = (".json", ".json.gz")


class BadPath(Exception):
    """A path that names nothing to import; the message says what to write instead."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{readable(str(path))}: {message}")


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files that `paths` mean, in the order in which they are imported. Raises BadPath."""
    found: list[Path] = []
    for path in dict.fromkeys(paths):
        try:
            found += _files_at(path)
        except OSError as error:  # a name too long for the system, a folder that may not be entered
            raise BadPath(path, f"cannot be read: {error.strerror}.") from None
    for path in found:
        if not is_text(path.name):
            raise BadPath(path, "the file's name is not UTF-8; rename it.")
        if not os.access(path, os.R_OK):
            raise BadPath(path, "may not be read; change its permissions.")
    return found


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        return _in_folder(path)
    if not path.exists():
        raise BadPath(path, "there is no such file or folder.")
    if not path.is_file():
        raise BadPath(path, "is neither a file nor a folder.")
    return [path]


def _in_folder(folder: Path) -> list[Path]:
    profiles = [
        folder / f"profiles{ending}" for ending in ENDINGS if (folder / f"profiles{ending}").is_file()
    ]
    trees = folder / "threads"
    threads = [path for path in trees.glob("*") if path.name.endswith(ENDINGS) and path.is_file()]
    if not profiles and not threads:
        raise BadPath(
            folder, "has neither profiles.json nor trees in threads/ (plain or .gz); name the files."
        )
    for group in (profiles, sorted(threads)):
        names = [path.name.removesuffix(".gz") for path in group]
        for one, other, name in zip(group, group[1:], names, strict=False):
            if other.name.removesuffix(".gz") == name:
                raise BadPath(
                    folder, f"has both {readable(one.name)} and {readable(other.name)}; remove one."
                )
    return profiles + sorted(threads, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts thread_2 before thread_10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]


class Source(Protocol):
    """A file of a known layout. `check` reads it all without the database; `store` writes what it found."""

    def check(self) -> None: ...
    def store(self, job: Job, authors: Authors) -> None: ...


def source(path: Path, problems: Problems) -> Source:
    """The file, by its layout. Raises Unreadable."""
    layout = layout_of(path)
    if layout is Layout.PROFILES:
        return ProfilesFile(path, problems)
    if layout is Layout.TREE:
        return TreeFile(path, problems)
    return RowsFile(path, layout, problems)


class ProfilesFile:
    def __init__(self, path: Path, problems: Problems) -> None:
        self._path, self._problems = path, problems

    def check(self) -> None:
        for _ in read_profiles(self._path, self._problems):
            pass

    def store(self, job: Job, authors: Authors) -> None:
        store_profiles(read_profiles(self._path, job.problems), job)


class TreeFile:
    """A tree is one JSON value, and kept between checking and storing."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self.name = stem(path.name)
        self._path, self._problems = path, problems
        self._tree: Tree | None = None

    def check(self) -> None:
        self._tree = read_tree(self._path, self._problems)

    def store(self, job: Job, authors: Authors) -> None:
        assert self._tree
        threads = store_threads([self._tree.thread], job)
        store = CommentStore(job, authors, threads, lambda record: record.position or 0)
        ids = [record.external_id for record in self._tree.comments]
        store.register(ids, all_new=bool(threads.new))
        for batch in batches(self._tree.comments):
            store.store(batch)
        store.finish()


class RowsFile:
    """Rows are read twice: once to check them and to learn who replies to whom, once to store them."""

    def __init__(self, path: Path, layout: Layout, problems: Problems) -> None:
        self._path, self._layout, self._problems = path, layout, problems
        self._outline = Outline()

    def check(self) -> None:
        for _ in read_rows(self._path, self._layout, self._problems, self._outline):
            pass
        if self._problems.total:
            self._outline.settle((), self._problems)

    def store(self, job: Job, authors: Authors) -> None:
        job.problems.warnings.clear()  # the second reading finds them again
        outline = self._outline
        store = CommentStore(
            job, authors, store_threads(outline.threads.values(), job), outline.next_position
        )
        store.register(list(outline.rows))
        outline.settle(store.stored_above(outline.strangers()), job.problems)
        for batch in batches(read_rows(self._path, self._layout, job.problems)):
            for record in batch:
                outline.place(record)
            store.store(batch)
        store.finish()
