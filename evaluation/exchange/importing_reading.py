"""Rows of a released file, checked against a corpus: known profiles, each once; known attributes; lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exchange.problems import Problem, brief
from evaluation.domain.paper.records import EDUCATION_CATEGORY, Mark, Row, Scores
from evaluation.exchange.released import Skipped
from evaluation.exchange.released_rows import objects, read_rows
from evaluation.models import LabelSet, PredictionRun, ProfileLabel
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus, Profile

SCORES = (0.0, 0.5, 1.0)
LONGEST_NAME = min(
    LabelSet._meta.get_field("name").max_length or 0, PredictionRun._meta.get_field("name").max_length or 0
)
LONGEST_VALUE = ProfileLabel._meta.get_field("value").max_length or 0
LONGEST_CATEGORY = ProfileLabel._meta.get_field("category").max_length or 0
FIRST_PROFILES = (
    "import the profiles first: profiles.json, on the corpus’ page Import or with manage.py import_synthpai"
)


BIDI = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def plain(name: str) -> str:
    """A name without blanks around it and characters that turn the direction of writing: two that look the
    same are the same."""
    return name.translate(BIDI).strip()


class Refused(Exception):
    """A file that was not imported. `problems` are the first hundred, `total` all that were found."""

    def __init__(self, problems: list[Problem], total: int | None = None) -> None:
        self.problems = problems
        self.total = len(problems) if total is None else total
        more = f" (and {self.total - 1} more)" if self.total > 1 else ""
        super().__init__(f"{problems[0]}{more}")


class Checked(NamedTuple):
    """A row and the key of the profile that it is about."""

    profile: int
    row: Row


def refusal(path: Path, field: str, message: str) -> Refused:
    """A problem of a whole file."""
    return Refused([Problem(path.name, None, field, message)])


def holds_comments(path: Path) -> bool:
    """Whether the lines of a file are comments with labels of their own, and no profiles. Reads one line."""
    first = next(objects(path, Skipped()), None)
    return first is not None and "text" in first.value and "comments" not in first.value


class Reader:
    """Reads a file once. A line is taken whole or not at all.

    `skip` False: from the first problem on nothing is given any more, but all problems are collected.
    """

    def __init__(self, corpus: Corpus, path: Path, *, skip: bool) -> None:
        self.skipped = Skipped()
        self.rows = 0
        """Lines that were given."""
        self._corpus, self._path, self._skip = corpus, path, skip
        self._lines: dict[str, int] = {}
        self._spelled: dict[tuple[str, str], str] = {}

    def read(self, *, labels: bool) -> Iterator[Checked]:
        """The rows; of a file of predictions the labels are a copy and are not looked at.

        Raises Refused, after the last line, for problems that are not to be skipped, or a file without rows.
        """
        known = dict(Profile.objects.filter(corpus=self._corpus).values_list("username", "pk"))
        try:
            for row in read_rows(self._path, self.skipped):
                if problem := self._problem(row, known, labels):
                    self.skipped.add(problem)
                    continue
                if labels or _says_something(row):
                    self._lines[row.username] = row.line
                if self._skip or not self.skipped.total:
                    self.rows += 1
                    yield Checked(known[row.username], row)
        except OSError as error:
            raise refusal(self._path, "", f"cannot be read: {error.strerror}") from None
        if self.skipped.total and not (self._skip and self.rows):
            raise Refused(self.skipped.problems, self.skipped.total)
        if not self.rows:
            raise refusal(self._path, "", "is empty: it has to hold one profile a line")

    def _problem(self, row: Row, known: Mapping[str, int], labels: bool) -> Problem | None:
        if row.username not in known:
            said = f"there is no profile {brief(row.username)} in {self._corpus.name}; {FIRST_PROFILES}"
            return Problem(self._path.name, row.line, "username", said)
        if row.username in self._lines and (labels or _says_something(row)):
            before = self._lines[row.username]
            said = f"{brief(row.username)} stands in line {before} already; keep one of the two lines"
            return Problem(self._path.name, row.line, "username", said)
        for field, message in [*(self._spelled_twice(row) if labels else ()), *_wrong(row, labels)]:
            return Problem(self._path.name, row.line, field, message)
        return None

    def _spelled_twice(self, row: Row) -> Iterator[tuple[str, str]]:
        """Names of which another spelling that looks the same was met before."""
        for block, names in (("reviews", row.reviews), ("predictions", row.predictions)):
            for who in names:
                if (first := self._spelled.setdefault((block, plain(who)), who)) != who:
                    said = f"{_short(ascii(first))} and {_short(ascii(who))} differ in blanks or invisible"
                    yield f"{block}.{_short(plain(who))}", f"{said} characters only; spell them alike"


def _says_something(row: Row) -> bool:
    """Whether a line of predictions holds a guess or a score. One that holds none, as was left where a script
    was interrupted and run again, stands beside the true line of its profile."""
    return any(row.predictions.values()) or any(any(kinds.values()) for kinds in row.evaluations.values())


def _wrong(row: Row, labels: bool) -> Iterator[tuple[str, str]]:
    """Field and message of everything that cannot be kept."""
    for who, marks in row.reviews.items() if labels else ():
        yield from _wrong_keys(marks, f"reviews.{_short(who)}")
        for key, mark in marks.items():
            yield from _wrong_mark(mark, key, f"reviews.{_short(who)}.{key}.estimate")
    for who, guessed in row.predictions.items():
        yield from _wrong_keys(guessed, f"predictions.{_short(who)}")
    for who, kinds in row.evaluations.items():
        for kind, scores in kinds.items():
            where = ".".join(filter(None, ("evaluations", _short(who), _short(kind))))
            yield from _wrong_keys(scores, where)
            yield from _wrong_scores(scores, where)


def _wrong_keys(block: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    for key in block:
        if key not in CATALOGUE and key != EDUCATION_CATEGORY:
            known = ", ".join(CATALOGUE)
            yield f"{where}.{_short(key)}", f"is no attribute of the catalogue, which has {known}"


def _wrong_mark(mark: Mark, key: str, field: str) -> Iterator[tuple[str, str]]:
    most = LONGEST_CATEGORY if key == EDUCATION_CATEGORY else LONGEST_VALUE
    if len(mark.value) > most:
        yield field, f"has {len(mark.value)} characters; at most {most} are possible"
    if mark.truth is not None and mark.truth not in SCORES:
        yield field.replace(".estimate", ".acc_gt"), f"must be 0, 0.5 or 1, not {mark.truth:g}"


def _wrong_scores(scores: Scores, where: str) -> Iterator[tuple[str, str]]:
    for key, given in scores.items():
        for place, one in enumerate(given):
            if one not in SCORES:
                yield f"{where}.{key}[{place}]", f"a score is 0, 0.5 or 1, not {one:g}"


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
