"""The table of a run: what was measured, what was wanted, whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.bench.measuring import Against


@dataclass(frozen=True)
class Aim:
    """A number that must not be larger than another, or, with `least`, not smaller. None: it could not be
    measured here."""

    what: str
    got: float | None
    most: float
    unit: str = "x"
    least: bool = False

    @property
    def met(self) -> bool | None:
        if self.got is None:
            return None
        return self.got >= self.most if self.least else self.got <= self.most

    def line(self) -> str:
        got = "not measured" if self.got is None else f"{self.got:.2f} {self.unit}".rstrip()
        word = {True: "ok", False: "MISSED", None: "?"}[self.met]
        bound = "at least" if self.least else "at most"
        return f"  {word:<7} {self.what:<62} {got:>14}   {bound} {self.most:g} {self.unit}".rstrip()


def compared(found: Against, first: str, second: str) -> str:
    """Both kinds side by side, and the ratios."""
    rows = [f"{found.name}", f"  {'':<22}{first:>12}{second:>12}{'ratio':>9}"]
    parts = {
        "a_second": "pairs a second",
        "p50": "p50, ms",
        "p95": "p95, ms",
        "web_cpu": "CPU of the server, ms",
        "database_cpu": "CPU of the database",
        "cpu": "CPU, both",
        "client_cpu": "(CPU of the client)",
    }
    for part, label in parts.items():
        ours, other = found.typical(found.ours, part), found.typical(found.other, part)
        ratio = found.ratio(part)
        rows.append(f"  {label:<22}{number(ours):>12}{number(other):>12}{number(ratio):>9}")
    return "\n".join(rows)


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if value < 20 else f"{value:.1f}"


def verdict(aims: list[Aim]) -> str:
    missed = [aim for aim in aims if aim.met is False]
    unknown = [aim for aim in aims if aim.met is None]
    said = f"{len(aims) - len(missed) - len(unknown)} of {len(aims)} aims met"
    if unknown:
        said += f", {len(unknown)} not measured"
    return said + (f", {len(missed)} missed" if missed else "")


def as_rows(aims: list[Aim]) -> list[dict[str, Any]]:
    return [
        {
            "what": a.what,
            "got": a.got,
            "least" if a.least else "most": a.most,
            "unit": a.unit,
            "met": a.met,
        }
        for a in aims
    ]
