"""Which files a request means, and how each layout is checked and stored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from annotation.exchange.flat import read_rows, values
from annotation.exchange.layouts import Layout, layout_of
from annotation.exchange.mapped import Mapped
from annotation.exchange.outline import Outline
from annotation.exchange.problems import Problems
from annotation.exchange.profiles import read_profile_lines, read_profiles
from annotation.exchange.reading import is_text, readable, stem
from annotation.exchange.records import Given
from annotation.exchange.trees import Tree, read_tree, read_trees
from annotation.exchange.upsert import BATCH, Job, Threads, batches, store_threads
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
    if (folder / "manifest.json").is_file() and (released := _of_release(folder)):
        return released
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


def _of_release(folder: Path) -> list[Path]:
    """The files of a release that together say all that can be imported: the others repeat it as tables.

    A release without profiles has an empty file of them.
    """
    found = []
    for name in ("profiles.jsonl", "synthpai.jsonl"):
        there = [path for ending in ("", ".gz") if (path := folder / f"{name}{ending}").is_file()][:1]
        found += [path for path in there if path.stat().st_size]
    return found if found and found[-1].name.startswith("synthpai") else []


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts thread_2 before thread_10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]


class Source(Protocol):
    """A file of a known layout. `check` reads it all without the database; `store` writes what it found."""

    def check(self) -> None: ...
    def store(self, job: Job, authors: Authors) -> None: ...


def source(path: Path, problems: Problems, mapping: Mapping[str, Any] | None = None) -> Source:
    """The file, by its layout; `mapping` says what a foreign table's columns stand for. Raises Unreadable."""
    layout = layout_of(path)
    if layout in (Layout.PROFILES, Layout.PROFILE_LINES):
        return ProfilesFile(path, layout, problems)
    if layout is Layout.TREE:
        return TreeFile(path, problems)
    if layout is Layout.TREES:
        return TreesFile(path, problems)
    if layout.foreign or mapping:
        return RowsFile(Mapped(path, layout, mapping), problems)
    return RowsFile(partial(values, path, layout), problems)


class ProfilesFile:
    def __init__(self, path: Path, layout: Layout, problems: Problems) -> None:
        self._path, self._problems = path, problems
        self._read = read_profiles if layout is Layout.PROFILES else read_profile_lines

    def check(self) -> None:
        for _ in self._read(self._path, self._problems):
            pass

    def store(self, job: Job, authors: Authors) -> None:
        store_profiles(self._read(self._path, job.problems), job)


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


class TreesFile:
    """Trees, one a line, are read twice; never more than some thousand comments are held."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path, self._problems = path, problems

    def check(self) -> None:
        for _ in read_trees(self._path, self._problems):
            pass

    def store(self, job: Job, authors: Authors) -> None:
        job.problems.warnings.clear()  # the second reading finds them again
        threads = Threads()
        store = CommentStore(job, authors, threads, lambda record: record.position or 0)
        for group in _together(read_trees(self._path, job.problems)):
            threads.replace(store_threads([tree.thread for tree in group], job))
            store.forget()
            for new in (True, False):
                mine = (tree for tree in group if (tree.thread.external_id in threads.new) is new)
                store.register([one.external_id for tree in mine for one in tree.comments], all_new=new)
            for batch in batches(chain.from_iterable(tree.comments for tree in group)):
                store.store(batch)
        store.finish()


def _together(trees: Iterable[Tree]) -> Iterator[list[Tree]]:
    """Small trees in groups that are worth a COPY; a large one is a group of its own."""
    group: list[Tree] = []
    size = 0
    for tree in trees:
        group.append(tree)
        size += len(tree.comments)
        if size >= BATCH:
            yield group
            group, size = [], 0
    if group:
        yield group


class RowsFile:
    """Rows are read twice: once to check them and to learn who replies to whom, once to store them."""

    def __init__(self, rows: Callable[[Problems], Iterable[Given]], problems: Problems) -> None:
        self._rows, self._problems = rows, problems
        self._outline = Outline()

    def check(self) -> None:
        for _ in read_rows(self._rows(self._problems), self._problems, self._outline):
            pass
        if self._problems.total:
            self._outline.settle(self._problems)

    def store(self, job: Job, authors: Authors) -> None:
        job.problems.warnings.clear()  # the second reading finds them again
        outline, threads = self._outline, Threads()
        store = CommentStore(job, authors, threads, outline.next_position)
        for records in outline.threads():
            outline.keep_threads(store_threads(records, job).keys)
        for ids in outline.ids():
            store.forget()
            store.register(ids)
            outline.keep_keys(store.keys, store.stored)
        for parents in outline.strangers():
            outline.take_in(store.stored_above(parents))
        outline.settle(job.problems)
        for batch in batches(read_rows(self._rows(job.problems), job.problems)):
            known = outline.place(batch)
            threads.keys = known.threads
            store.keys, store.stored = known.keys, known.stored
            store.store(batch)
        store.finish()
