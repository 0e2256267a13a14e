"""The released files of SynthPAI and others in their layout: which are there, their digests, their problems.

Files are found by name under one folder, plain or packed (.gz):

    profiles.json, profiles_education_category.json, threads/*.json, labels/*.jsonl,
    predictions/<model>/*.jsonl, answers/<model>.jsonl, topic_to_thread*.jsonl
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotation.exchange.problems import SHOWN, Problem
from annotation.exchange.reading import is_text, readable

LINES = ".jsonl"
WHOLE = ".json"


class BadFolder(Exception):
    """A folder that cannot be read as a release; the message says what is wrong and what to do."""

    def __init__(self, folder: Path, message: str) -> None:
        super().__init__(f"{readable(str(folder))}: {message}")


class UnreadableLine(Exception):
    """A line, or a whole file (line None), that cannot be read and that nobody said to skip."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Skipped:
    """What was passed over in one file, because the caller said so: the first hundred in full, all lines."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.lines: list[int] = []
        """1-based numbers of the lines, each once."""
        self.total = 0

    def add(self, problem: Problem) -> None:
        self.total += 1
        if len(self.problems) < SHOWN:
            self.problems.append(problem)
        if problem.line is not None and problem.line not in self.lines[-1:]:
            self.lines.append(problem.line)


def report(problem: Problem, skipped: Skipped | None) -> None:
    """Notes the problem where it may be skipped. Raises UnreadableLine where it may not."""
    if skipped is None:
        raise UnreadableLine(problem)
    skipped.add(problem)


@dataclass(frozen=True)
class Release:
    """The files of a folder. Names are those of the files without .jsonl or .json and .gz."""

    folder: Path
    profiles: Path | None = None
    categories: Path | None = None
    threads: tuple[Path, ...] = ()
    labels: Mapping[str, Path] = field(default_factory=dict)
    predictions: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    """Model, as its folder is called -> kind of file, such as `evaluated` -> file."""
    answers: Mapping[str, Path] = field(default_factory=dict)
    topics: Mapping[str, Path] = field(default_factory=dict)

    def files(self) -> Iterator[Path]:
        """All of them, in the order of the fields."""
        yield from (path for path in (self.profiles, self.categories) if path)
        yield from self.threads
        yield from self.labels.values()
        for kinds in self.predictions.values():
            yield from kinds.values()
        yield from self.answers.values()
        yield from self.topics.values()

    @property
    def models(self) -> tuple[str, ...]:
        """Every model of which there are predictions or answers, in order of name."""
        return tuple(sorted({*self.predictions, *self.answers}))

    def name_of(self, path: Path) -> str:
        """How messages and reports call a file: its path within the folder."""
        return readable(str(path.relative_to(self.folder)))


def find(folder: Path) -> Release:
    """The release in `folder`. Raises BadFolder where it is none, or holds a file twice."""
    if not folder.exists():
        raise BadFolder(folder, "there is no such folder")
    if not folder.is_dir():
        raise BadFolder(folder, "is no folder; name the folder that holds threads/, labels/ or predictions/")
    try:
        found = _find(folder)
    except OSError as error:
        raise BadFolder(folder, f"cannot be read: {error.strerror}") from None
    if not any(found.files()):
        raise BadFolder(
            folder,
            "holds none of the released files: profiles.json, threads/*.json, labels/*.jsonl, "
            "predictions/<model>/*.jsonl, answers/<model>.jsonl or topic_to_thread*.jsonl, plain or .gz",
        )
    return found


def _find(folder: Path) -> Release:
    tops = _named(folder, WHOLE)
    models = sorted(path for path in (folder / "predictions").glob("*") if path.is_dir())
    for path in models:
        _check_name(path)
    topics = _named(folder, LINES)
    return Release(
        folder,
        tops.get("profiles"),
        tops.get("profiles_education_category"),
        tuple(_named(folder / "threads", WHOLE).values()),
        _named(folder / "labels", LINES),
        {one.name: kinds for one in models if (kinds := _named(one, LINES))},
        _named(folder / "answers", LINES),
        {name: path for name, path in topics.items() if name.startswith("topic_to_thread")},
    )


def _named(folder: Path, ending: str) -> dict[str, Path]:
    """Name without endings -> file, in order of name. Raises BadFolder for a name that is there twice."""
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*")):
        name = path.name.removesuffix(".gz")
        if not name.endswith(ending) or not path.is_file():
            continue
        _check_name(path)
        name = name.removesuffix(ending)
        if name in found:
            raise BadFolder(folder, f"has both {found[name].name} and {path.name}; remove one")
        found[name] = path
    return found


def _check_name(path: Path) -> None:
    if not is_text(path.name):
        raise BadFolder(path.parent, f"the name {readable(path.name)} is not UTF-8; rename it")


def digest(path: Path) -> str:
    """SHA-256 of the bytes as they lie there, packed or not, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
