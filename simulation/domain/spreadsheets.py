"""Lines of CSV that a spreadsheet does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet would take for a formula; it gets an apostrophe."""


def guarded(cells: Iterable[Any]) -> list[Any]:
    """Texts that begin like a formula get an apostrophe; everything else stays as it is."""
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in cells]


def csv_line(cells: Iterable[Any]) -> str:
    """One line, guarded, with its end."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(guarded(cells))
    return out.getvalue()
