"""Two releases of a corpus, compared row by row into a file: what differs, and why labels do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, Any

from evaluation.domain import release_changes as rules
from evaluation.domain.release_changes import Between
from evaluation.exchange.release_index import Pair, Paired
from evaluation.exchange.release_notes import Notes, known
from evaluation.exchange.release_reading import path_of
from evaluation.exchange.release_verifying import files_of
from evaluation.models import Release

AT_ONCE = 500
ORDER = (rules.COMMENTS, rules.PROFILES, rules.SUGGESTIONS, rules.ANNOTATIONS, rules.LABELS)
"""Labels are last: the others explain them."""


class FileGone(Exception):
    """A file of one of the two is not there any more; the message names it."""


class Comparison:
    """Counts as it writes. `counts`: table -> change -> number, and the same by attribute and by cause."""

    def __init__(self, old: Release, new: Release, place: Path) -> None:
        self._old, self._new, self._place = old, new, place
        self._between = Between(
            policy=(old.policy, old.agreeing) != (new.policy, new.agreeing),
            filters=old.query != new.query,
            inherited=Release.INHERITED in (old.policy, new.policy),
        )
        self._tables: dict[str, Counter[str]] = {}
        self._attributes: dict[str, Counter[str]] = {}
        self._causes: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, Any]:
        """As ReleaseDifference keeps them."""
        return {
            **{table: dict(self._tables[table]) for table in rules.TABLES if table in self._tables},
            "attributes": {key: dict(self._attributes[key]) for key in sorted(self._attributes)},
            "why": dict(self._causes.most_common()),
        }

    def write(self, out: IO[str]) -> None:
        """All differences, one JSON object a line. Raises FileGone."""
        with Notes(self._place) as notes:
            for table in ORDER:
                counted = self._tables[table] = Counter({rules.SAME: 0})
                if self._is_same(table):
                    counted[rules.SAME] = int(_listed(self._new, table).get("rows") or 0)
                    continue
                pairs = self._pairs(table)
                lines = (
                    self._labels(pairs, notes) if table == rules.LABELS else self._others(table, pairs, notes)
                )
                for line in lines:
                    counted[line["change"]] += 1
                    out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                counted[rules.SAME] += pairs.same

    def _is_same(self, table: str) -> bool:
        old, new = _listed(self._old, table), _listed(self._new, table)
        return bool(old.get("sha256")) and old.get("sha256") == new.get("sha256")

    def _pairs(self, table: str) -> Paired:
        return Paired(table, _file(self._old, table), _file(self._new, table), self._place)

    def _others(self, table: str, pairs: Iterable[Pair], notes: Notes) -> Iterator[dict[str, Any]]:
        for pair in pairs:
            change, differing = _change(table, pair)
            if change == rules.SAME:  # the same row in other bytes
                self._tables[table][rules.SAME] += 1
                continue
            notes.take(table, pair, change, differing)
            yield _line(table, pair, change) | ({"fields": differing} if differing else {})

    def _labels(self, pairs: Iterable[Pair], notes: Notes) -> Iterator[dict[str, Any]]:
        waiting = iter(pairs)
        while some := list(islice(waiting, AT_ONCE)):
            what = known([(pair.key[0], pair.key[1]) for pair in some], notes, self._old, self._new)
            for pair in some:
                change, differing = _change(rules.LABELS, pair)
                if change == rules.SAME:
                    self._tables[rules.LABELS][rules.SAME] += 1
                    continue
                one = what[pair.key[0], pair.key[1]]
                rules.decide(one, pair.old, pair.new)
                causes = rules.why(change, one, self._between)
                self._causes.update(causes)
                self._attributes.setdefault(pair.key[1], Counter())[change] += 1
                line = _line(rules.LABELS, pair, change) | {"old": _said(pair.old), "new": _said(pair.new)}
                if change == rules.CHANGED:
                    line["fields"] = differing
                yield line | {"why": causes} | _words(one, causes)


def _words(one: Any, causes: list[str]) -> dict[str, str]:
    """Reasons that people gave."""
    said = {}
    if one.decision and one.reason:
        said["reason"] = one.reason
    if "text" in causes and one.edit:
        said["edit"] = one.edit
    return said


def _change(table: str, pair: Pair) -> tuple[str, dict[str, list[Any]]]:
    if pair.old is None:
        return rules.ADDED, {}
    if pair.new is None:
        return rules.REMOVED, {}
    differing = rules.fields(pair.old, pair.new)
    return rules.change_of(table, differing), differing


def _line(table: str, pair: Pair, change: str) -> dict[str, Any]:
    return {"table": table, "change": change, **rules.named(table, pair.key)}


def _said(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if row is None else {name: row.get(name) for name in rules.SAID}


def _listed(release: Release, table: str) -> dict[str, Any]:
    return files_of(release.manifest or {}).get(f"{table}.jsonl", {})


def _file(release: Release, table: str) -> Path:
    path = path_of(release, f"{table}.jsonl")
    if path is None:
        raise FileGone(f"{table}.jsonl of release {release.name} is not on the server any more.")
    return path
