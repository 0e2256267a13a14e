"""What is asked of a corpus for a release: which comments, and of what is said about them which attributes.

A query is frozen with its release. It is kept as JSON; a field that is not known is refused, so that no
filter is passed over in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from simulation.domain.attributes import CATALOGUE

ADJUDICATED, AGREEING, SINGLE, INHERITED = "adjudicated", "agreeing", "single", "inherited"
SOURCES = ("simulated", "tree", "flat", "real", "synthetic")
"""Where a comment comes from: how it came into the corpus, or what its file said that it is."""
MOST_NAMED = 10_000
"""Threads, authors or queues that one query may name."""
LONGEST_NAME = 200
FILTERS = ("include_withdrawn", "sources", "threads", "profiles", "queues", "reviewed_only", "min_words")
"""Fields that choose comments, in the order in which a preview applies them."""


class BadQuery(ValueError):
    """A query that cannot be asked; `field` is the one to mend."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Query:
    """Empty tuples: all of them. The default is everything that was not withdrawn."""

    reviewed_only: bool = False
    """Only comments that somebody, here or in an imported file, has labelled so that it counts."""
    attributes: tuple[str, ...] = ()
    """Keys of the catalogue: of which attributes suggestions, annotations and labels are released."""
    queues: tuple[str, ...] = ()
    """Public ids: only comments of these queues, and only what was said in them."""
    sources: tuple[str, ...] = ()
    """Of SOURCES."""
    threads: tuple[str, ...] = ()
    """External ids."""
    profiles: tuple[str, ...] = ()
    """External ids of authors."""
    include_withdrawn: bool = False
    min_words: int = 0
    notes: bool = False
    """Whether the free words that annotators and adjudicators wrote beside labels go out. They may name
    anybody, so nobody's do unless somebody has looked."""

    def to_json(self) -> dict[str, Any]:
        """The form in which a release keeps it: all fields, whatever their values."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Query:
        """The query that `to_json` wrote; what is not there is the default. Raises BadQuery."""
        known = {one.name: one.default for one in fields(cls)}
        for name in said:
            if name not in known:
                raise BadQuery(str(name), f"“{name}” is no filter; known are {', '.join(known)}.")
        return cls(**{name: _read(name, said[name], known[name]) for name in said})

    @property
    def chooses_comments(self) -> bool:
        """Whether anything but withdrawal decides which comments are in it."""
        return any(getattr(self, name) for name in FILTERS if name != "include_withdrawn")


def _read(name: str, given: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if not isinstance(given, bool):
            raise BadQuery(name, f"{name}: must be true or false.")
        return given
    if isinstance(default, int):
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 1_000_000:
            raise BadQuery(name, f"{name}: must be a whole number from 0 to 1,000,000.")
        return given
    if not isinstance(given, list | tuple) or any(not isinstance(one, str) for one in given):
        raise BadQuery(name, f"{name}: must be a list of names.")
    named = tuple(dict.fromkeys(given))
    _check_names(name, named)
    return named


def _check_names(name: str, named: tuple[str, ...]) -> None:
    if len(named) > MOST_NAMED:
        raise BadQuery(name, f"{name}: names {len(named)}; at most {MOST_NAMED} are possible.")
    known = {"attributes": tuple(CATALOGUE), "sources": SOURCES}.get(name)
    for one in named:
        if known is not None and one not in known:
            raise BadQuery(name, f"{name}: “{one[:40]}” is none of {', '.join(known)}.")
        if not one.strip() or len(one) > LONGEST_NAME or "\0" in one:
            raise BadQuery(name, f"{name}: “{one[:40]}” is no name; give 1 to {LONGEST_NAME} characters.")
