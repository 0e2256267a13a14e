"""What was counted from the files, what could not be, and how a nested number is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.domain.paper.summaries import Counts

Route = tuple[str, ...]
"""Names from the outside in, such as ("comments", "length_chars", "mean")."""
Value = bool | int | float | str | list[Any] | None
TABLES = "labels"
"""The section in which a list is a row of counts for hardness 1, 2 .. and not one value."""


@dataclass
class Found:
    """`numbers` is nested like the expected ones; `missing` says why a part is not there; `model_ids` are the
    names that the files in a model's folder call it by."""

    numbers: dict[str, Any] = field(default_factory=dict)
    missing: dict[Route, str] = field(default_factory=dict)
    model_ids: dict[str, set[str]] = field(default_factory=dict)

    def put(self, path: Route, value: Any) -> None:
        """Stores a number, or a part with many."""
        place = self.numbers
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value

    def flat(self) -> dict[Route, Value]:
        """Every single number by its path."""
        return dict(flatten(self.numbers))

    def at(self, path: Route) -> Any:
        """What stands at a path; None where nothing does."""
        place: Any = self.numbers
        for name in path:
            if not isinstance(place, Mapping) or name not in place:
                return None
            place = place[name]
        return place

    def why_missing(self, path: Route) -> str | None:
        """Why a part was not counted from the files; None where the part that it belongs to was counted."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.missing:
                return self.missing[path[:length]]
        if path[0] == "models" and len(path) > 1 and self.at(path[:2]) is None:
            return f"there is no folder predictions/{path[1]} and no file answers/{path[1]}.jsonl"
        return None if path[0] in self.numbers else "nothing of this name is counted here"

    def default(self, path: Route) -> Value:
        """What a number is that was not met where it is counted: 0 among counts, else nothing."""
        return 0 if isinstance(self.at(path[:-1]), Counts) else None


def flatten(nested: Any, path: Route = ()) -> Iterator[tuple[Route, Value]]:
    """The single values of nested objects with their paths. An empty object holds none."""
    if isinstance(nested, Mapping):
        for name, inner in nested.items():
            yield from flatten(inner, (*path, str(name)))
    elif isinstance(nested, list) and path[:1] == (TABLES,):
        for place, inner in enumerate(nested, start=1):
            yield (*path, str(place)), inner
    else:
        yield path, nested
