"""What `metrics.json` of a release says, as the rows of two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NOTHING = "–"


@dataclass(frozen=True)
class Agreed:
    """How far annotators agree on an attribute ("": all together). `units`: comments with two answers."""

    attribute: str
    units: int
    raters: int
    percent: str
    nominal: str
    aware: str


@dataclass(frozen=True)
class Shifted:
    """How far a model agrees with people who saw its suggestion, and with those who did not yet."""

    attribute: str
    assisted: str
    blind: str
    n_assisted: int
    n_blind: int
    shift: str


def agreed(metrics: Mapping[str, Any]) -> Sequence[Agreed]:
    """A row for each attribute that two people answered on some comment; all together first."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for one in metrics.get("agreement", ()):
        if one.get("part") == "ordinary" and one.get("units"):
            found.setdefault(one["attribute"], {})[one["measure"]] = one
    rows = [
        Agreed(
            attribute,
            by.get("percent", {}).get("units", 0),
            by.get("percent", {}).get("raters", 0),
            _share(by.get("percent")),
            _number(by.get("nominal")),
            _number(by.get("aware")),
        )
        for attribute, by in found.items()
        if "percent" in by
    ]
    return sorted(rows, key=lambda row: row.attribute != "")


def shifted(metrics: Mapping[str, Any]) -> Sequence[Shifted]:
    """A row for each attribute on which people could agree with a suggestion; all together first."""
    return [
        Shifted(
            one["attribute"],
            _share(one["assisted"]),
            _share(one["blind"]),
            one["assisted"]["n"],
            one["blind"]["n"],
            _share(one["shift"]),
        )
        for one in metrics.get("shifts", ())
        if one.get("answers") == "all" and (one["assisted"]["n"] or one["blind"]["n"])
    ]


def _share(one: Mapping[str, Any] | None) -> str:
    """In percent, with the interval of 95 %."""
    return _written(one, 100, 1)


def _number(one: Mapping[str, Any] | None) -> str:
    return _written(one, 1, 3)


def _written(one: Mapping[str, Any] | None, times: int, digits: int) -> str:
    if not one or one.get("value") is None:
        return NOTHING
    said = f"{one['value'] * times:.{digits}f}"
    if one.get("low") is None or one.get("high") is None:
        return said
    return f"{said} ({one['low'] * times:.{digits}f} to {one['high'] * times:.{digits}f})"
