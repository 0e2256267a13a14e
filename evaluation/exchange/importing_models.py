"""What is publicly known of a model by its name: family and size. The table is `importing_models.toml`."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("importing_models.toml")
SIZE = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)b(?![a-z0-9])", re.IGNORECASE)
"""“70b” in a name; “8x22b” states no size, because experts share parameters."""


class About(NamedTuple):
    """Family, "" where unknown; parameters in billions, None where the maker has not published them."""

    family: str = ""
    parameters: Decimal | None = None


class Known(NamedTuple):
    pattern: re.Pattern[str]
    family: str
    billions: Decimal | None


@cache
def table() -> tuple[Known, ...]:
    """The rows of the table, in its order."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"), parse_float=Decimal)["model"]
    return tuple(
        Known(
            re.compile(row["pattern"], re.IGNORECASE),
            row["family"],
            Decimal(row["billions"]) if "billions" in row else None,
        )
        for row in rows
    )


def about(name: str) -> About:
    """What is known of the model of this name; nothing is guessed that neither table nor name says."""
    said = SIZE.search(name)
    stated = Decimal(said[1]) if said else None
    for known in table():
        if known.pattern.search(name):
            return About(known.family, known.billions if known.billions is not None else stated)
    return About("", stated)
