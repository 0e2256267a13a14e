"""Released files that are one JSON value: the profiles, the degrees of their education, the thread trees.

Every reader takes `skipped`: None raises UnreadableLine at the first problem; else problems are noted there,
and the profile, the degree or the tree that has one is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exchange import reading, scanning
from annotation.exchange.problems import Problem, Problems, brief
from annotation.exchange.profiles import profile_json, read_profiles
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import CommentRecord, ProfileRecord, SuggestionRecord
from annotation.exchange.trees import read_tree
from evaluation.domain.paper.records import Node, Tag, Thread
from evaluation.exchange.released import Skipped, report


class Facts(NamedTuple):
    """A profile: the key of its author, such as pers1, and its fields as they stand in the file."""

    key: str
    fields: dict[str, Any]


class Degree(NamedTuple):
    """The degree that the education of a profile stands for."""

    key: str
    category: str


def read_facts(path: Path, skipped: Skipped | None = None) -> Iterator[Facts]:
    """The profiles of a file, one at a time. Raises UnreadableLine unless `skipped` is given."""
    problems = Problems(path.name)
    records = read_profiles(path, problems)
    told = 0
    while True:
        record: ProfileRecord | None = None
        try:
            record = next(records, None)
        except Unreadable as fault:
            report(Problem(path.name, fault.line, fault.field, fault.message), skipped)
        for problem in problems.shown[told:]:
            report(problem, skipped)
        told = len(problems.shown)
        if record is None:
            return
        fields = profile_json(record.facts, record.style, record.username, record.extra)
        yield Facts(record.external_id, fields)


def read_degrees(path: Path, skipped: Skipped | None = None) -> Iterator[Degree]:
    """The degrees of a `{"pers1": "PhD", …}` file. Raises UnreadableLine unless `skipped` is given."""
    try:
        for line, key, value in scanning.Scanner(reading.chunks(path)).entries():
            if key and isinstance(value, str) and value.strip():
                yield Degree(key, value)
            else:
                problem = Problem(
                    path.name, line, key[:60], f"must be a degree in quotes, not {brief(value)}"
                )
                report(problem, skipped)
    except Unreadable as fault:
        report(Problem(path.name, fault.line, fault.field, fault.message), skipped)


def read_thread(path: Path, skipped: Skipped | None = None) -> Iterator[Thread]:
    """The one tree of a file; none where it has a problem. Raises UnreadableLine unless `skipped`."""
    problems = Problems(path.name)
    try:
        tree = read_tree(path, problems)
    except Unreadable as fault:
        problems.add(fault.line, fault.field, fault.message)
    for problem in problems.shown:
        report(problem, skipped)
    if not problems.total:
        yield Thread(tree.thread.external_id, tuple(map(_node, tree.comments)))


def _node(record: CommentRecord) -> Node:
    return Node(
        record.external_id,
        record.parent,
        record.author,
        record.username,
        record.text,
        record.depth,
        tuple(map(_tag, record.suggestions or ())),
    )


def _tag(one: SuggestionRecord) -> Tag:
    return Tag(
        one.attribute,
        tuple(map(str, one.guesses)),
        one.hardness_word,
        one.certainty,
        tuple(map(float, one.model_eval or ())),
    )
