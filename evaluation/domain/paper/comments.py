"""Lengths of comments and comments a profile (Table 1), and how much the anonymiser masked (section 5)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from evaluation.domain.paper.records import Row
from evaluation.domain.paper.summaries import population_std, summary

MASK = "*"


class CommentTally:
    """Takes the rows of profiles with all their comments. Lengths are characters of the text as it stands."""

    def __init__(self) -> None:
        self._lengths: Counter[float] = Counter()
        self._per_profile: Counter[float] = Counter()

    @property
    def comments(self) -> int:
        return sum(self._lengths.values())

    def take(self, row: Row) -> None:
        """Counts the comments of one profile."""
        self._lengths.update(map(len, row.comments))
        self._per_profile[len(row.comments)] += 1

    def numbers(self) -> dict[str, Any]:
        """Table 1's rows of length and comments a profile; std is that of a sample, as printed."""
        return {
            "length_chars": summary(self._lengths),
            "length_chars_population_std": population_std(self._lengths),
            "per_profile": summary(self._per_profile),
        }


class MaskTally:
    """Takes the comments before and after anonymisation, profile by profile."""

    def __init__(self) -> None:
        self._found = Counter(
            {"comments": 0, "changed": 0, "equal_length": 0, "masked_characters": 0, "characters": 0}
        )

    def take(self, before: Row, after: Row) -> None:
        """Compares place by place; comments that only one of the two rows has are left out."""
        for old, new in zip(before.comments, after.comments, strict=False):
            self._found["comments"] += 1
            self._found["changed"] += old != new
            self._found["equal_length"] += len(old) == len(new)
            self._found["masked_characters"] += sum(
                sign == MASK != was for was, sign in zip(old, new, strict=False)
            )
            self._found["characters"] += len(old)

    def numbers(self) -> dict[str, Any]:
        """Characters are those of the texts before; masked are those that became an asterisk."""
        return dict(self._found)
