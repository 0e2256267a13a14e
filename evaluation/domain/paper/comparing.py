"""Paper, expected and ours side by side: one row a number, with a status and a reason.

Neither the paper's nor the expected numbers enter what is counted; they are read here only, to be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

from evaluation.domain.paper.found import Found, Route, Value, flatten
from evaluation.domain.paper.printed import Printed, printed
from evaluation.domain.paper.tables import table_of

NOT_NUMBERS = frozenset({"source", "tolerance", "definitions", "vectors"})
"""Parts of the expected numbers that are no result of files; the vectors are cases for tests of rules."""
FLOORS = {
    "baseline_three": "read by our reader; at least the expected",
    "baseline_any": "read by our reader; at least the expected",
    "equal": "read as the published scripts do; at least the expected",
}
"""Numbers of the answers that ours must reach and may pass, and how they are told."""


SLACK = 1e-12
"""What subtracting two decimal fractions may add to their distance."""


class Status(StrEnum):
    """What became of a number. `OURS_ONLY`: nothing was expected. `NOT_IN_FILES`: they do not allow it."""

    EQUAL = "equal"
    DIFFERS = "differs"
    OURS_ONLY = "ours only"
    NOT_IN_FILES = "not in files"


class BadTolerance(ValueError):
    """A tolerance of the expected numbers is no number of at least 0; the message names it."""


@dataclass(frozen=True)
class Tolerances:
    """The largest difference that counts as equal: of counts, of means and shares, of the rules alone."""

    counts: float = 0
    means: float = 1e-6
    rules: float = 0.006

    @classmethod
    def of(cls, expected: Mapping[str, Any] | None) -> Tolerances:
        """Those that the expected numbers bring along, else ours. Raises BadTolerance."""
        given = (expected or {}).get("tolerance") or {}
        if not isinstance(given, Mapping):
            raise BadTolerance("tolerance: must be an object")
        names = {"counts": "counts", "means": "means_and_accuracies", "rules": "det_top1_*"}
        found = {own: given[name] for own, name in names.items() if name in given}
        for own, number in found.items():
            if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
                raise BadTolerance(f"tolerance.{names[own]}: must be a number of at least 0")
        return cls(**found)

    def for_number(self, path: Route, ours: Value) -> float:
        """The one that a number is held to."""
        if any(name.startswith("det_top1_") for name in path):
            return self.rules
        return self.counts if isinstance(ours, int) else self.means


@dataclass(frozen=True)
class Compared:
    """One number. `paper` is as printed, a percentage where `percent`; no tolerance: nothing to hold to."""

    table: str
    name: str
    paper: Value
    expected: Value
    ours: Value
    tolerance: float | None
    status: Status
    reason: str = ""
    percent: bool = False


def compare(
    found: Found, expected: Mapping[str, Any] | None = None, paper: Mapping[str, Any] | None = None
) -> list[Compared]:
    """A row for every number that is expected, counted or printed. Raises BadTolerance.

    Status `differs` rests on the expected numbers alone. What the paper prints is compared at its own
    precision, and only the reason tells of it: some printed numbers have causes of their own.
    """
    tolerances = Tolerances.of(expected)
    ours = found.flat()
    wanted = dict(flatten({key: one for key, one in (expected or {}).items() if key not in NOT_NUMBERS}))
    notes = printed(found, paper or {})
    by_path = {one.ours: one for one in notes if one.ours}
    rows = [
        _row(path, ours, wanted, found, tolerances, by_path.get(path), paper or {})
        for path in dict.fromkeys([*ours, *wanted])
    ]
    seen = ours.keys() | wanted.keys()
    rows += [
        _only_printed(one, found, paper or {}) for one in notes if one.ours is None or one.ours not in seen
    ]
    return rows


def _row(
    path: Route,
    ours: Mapping[Route, Value],
    wanted: Mapping[Route, Value],
    found: Found,
    tolerances: Tolerances,
    note: Printed | None,
    paper: Mapping[str, Any],
) -> Compared:
    table, name = note.table if note else table_of(path), ".".join(path)
    on_paper = _at(paper, note.paper) if note else None
    percent = bool(note and note.percent)
    if path not in ours and (why := found.why_missing(path)):
        return Compared(
            table, name, on_paper, wanted.get(path), None, None, Status.NOT_IN_FILES, why, percent
        )
    number = ours[path] if path in ours else found.default(path)
    said = _of_paper(on_paper, number, note) if note else ""
    if path not in wanted:
        return Compared(table, name, on_paper, None, number, None, Status.OURS_ONLY, said, percent)
    tolerance = tolerances.for_number(path, number)
    is_equal, why = _judged(path, wanted[path], number, tolerance)
    status = Status.EQUAL if is_equal else Status.DIFFERS
    reason = "; ".join(part for part in (why, said) if part)
    return Compared(table, name, on_paper, wanted[path], number, tolerance, status, reason, percent)


def _judged(path: Route, expected: Value, ours: Value, tolerance: float) -> tuple[bool, str]:
    """Whether the two are equal, and what to say of it."""
    if ours is None:
        return expected is None, "nothing of this name was found in the files"
    if _is_number(expected) and _is_number(ours):
        assert isinstance(expected, int | float)
        assert isinstance(ours, int | float)
        apart = ours - expected
        if path[0] == "models" and path[-1] in FLOORS:
            return apart >= -tolerance, f"{apart:+g}, {FLOORS[path[-1]]}" if apart else FLOORS[path[-1]]
        is_equal = abs(apart) <= tolerance + SLACK
        return is_equal, f"{apart:+.6g}" if apart and (not is_equal or abs(apart) > Tolerances.means) else ""
    is_equal = type(expected) is type(ours) and expected == ours
    return is_equal, "" if is_equal else "not the same"


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _only_printed(note: Printed, found: Found, paper: Mapping[str, Any]) -> Compared:
    """A row for a printed number that belongs to none of ours."""
    why = note.why
    if note.ours:
        why = found.why_missing(note.ours) or "nothing of this name was found in the files"
    name = ".".join(("paper", *note.paper))
    return Compared(
        note.table, name, _at(paper, note.paper), None, None, None, Status.NOT_IN_FILES, why, note.percent
    )


def _of_paper(on_paper: Value, ours: Value, note: Printed) -> str:
    """Whether ours rounds to what is printed; a known cause where it does not."""
    if not _is_number(on_paper) or not _is_number(ours):
        return ""
    assert isinstance(ours, int | float)
    if rounds_to(ours * 100 if note.percent else ours, str(on_paper)):
        return "as printed"
    return f"not as printed: {note.why}" if note.why else "not as printed"


def rounds_to(number: float, text: str) -> bool:
    """Whether `number`, rounded to as many places as `text` has, is the number that `text` is.

    A number that lies half way may have been rounded either way.
    """
    target = Decimal(text)
    # Twelve places are more than any table prints and fewer than arithmetic with halves blurs.
    exact = Decimal(repr(round(number, 12)))
    return any(exact.quantize(target, rounding=way) == target for way in (ROUND_HALF_EVEN, ROUND_HALF_UP))


def _at(paper: Mapping[str, Any], path: Route) -> Value:
    """What the paper has at a path; names of digits are places of lists. None where no single value is."""
    place: Any = paper
    for name in path:
        if isinstance(place, Mapping) and name in place:
            place = place[name]
        elif isinstance(place, list) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place if isinstance(place, int | float | str) and path[0] != "models" else None


def tally(rows: Iterable[Compared]) -> dict[Status, int]:
    """How many rows have each status, in the order of the statuses."""
    found = Counter(row.status for row in rows)
    return {status: found[status] for status in Status}
