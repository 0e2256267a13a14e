"""What changed between two versions of a text, line by line. Rules only, no database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

SAME, GONE, NEW, FOLD = "same", "gone", "new", "fold"
AROUND = 3


@dataclass(frozen=True)
class Line:
    """One line of a comparison. `kind` is same, gone (only in the old text), new (only in the new one), or
    fold: `text` then says how many unchanged lines are left out."""

    kind: str
    text: str


def compare(old: str, new: str) -> list[Line]:
    """The lines of both texts in order, with up to three unchanged ones around each change."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[Line] = []
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for place, (step, i, j, k, m) in enumerate(steps):
        if step == "equal":
            lines.extend(_folded(before[i:j], first=place == 0, last=place == len(steps) - 1))
            continue
        lines.extend(Line(GONE, line) for line in before[i:j])
        lines.extend(Line(NEW, line) for line in after[k:m])
    return lines


def _folded(same: list[str], *, first: bool, last: bool) -> Iterator[Line]:
    head = 0 if first else AROUND
    tail = 0 if last else AROUND
    hidden = len(same) - head - tail
    if hidden <= 1:
        yield from (Line(SAME, line) for line in same)
        return
    yield from (Line(SAME, line) for line in same[:head])
    yield Line(FOLD, f"{hidden} unchanged lines")
    yield from (Line(SAME, line) for line in same[head + hidden :])
