"""How two values relate, and whether two words differ by a slip of the fingers only."""

from enum import StrEnum


class Match(StrEnum):
    SAME = "same"
    LESS_PRECISE = "less precise"
    """One says the same as the other, less exactly: the country of a city."""
    DIFFERENT = "different"


def is_slip(one: str, other: str) -> bool:
    """Whether one letter is missing, too many, wrong or swapped with the next; in names of eight letters or
    more, two. Words of fewer than four letters are never taken for each other."""
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < 4:
        return False
    allowed = 2 if longer >= 8 else 1
    return abs(len(one) - len(other)) <= allowed and _distance(one, other) <= allowed


def _distance(one: str, other: str) -> int:
    """Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, sign in enumerate(one, 1):
        this = [row]
        for column, its in enumerate(other, 1):
            best = min(last[column] + 1, this[column - 1] + 1, last[column - 1] + (sign != its))
            if row > 1 and column > 1 and sign == other[column - 2] and one[row - 2] == its:
                best = min(best, before[column - 2] + 1)
            this.append(best)
        before, last = last, this
    return last[-1]
