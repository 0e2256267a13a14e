"""The shapes of `artefact_shapes.toml`, compiled."""

import re
import tomllib
from functools import cache
from pathlib import Path


@cache
def _shapes() -> dict[str, dict[str, list[str]]]:
    text = Path(__file__).with_name("artefact_shapes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def alternatives(section: str, *names: str) -> str:
    """The lists called so as one alternation. Raises KeyError for one that is not there."""
    return "|".join(one for name in names for one in _shapes()[section][name])


def shape(section: str, *names: str, flags: int = 0) -> re.Pattern[str]:
    """The same compiled."""
    return re.compile(alternatives(section, *names), flags)
