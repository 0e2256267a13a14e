"""Which comments of the label files stand in which thread: the two rows of Table 1 that count by thread.

The label files name no thread. As in the published assignment of ids, a comment is found by the first 50
characters of its text and the name of its author, else by the first 20.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from evaluation.domain.paper.records import Row, Thread
from evaluation.domain.paper.summaries import summary

LENGTHS = (50, 20)
MANY = 50
"""Appendix A.2 counts the threads with more profiles than this."""


class Attaching:
    """Takes all trees first, then the rows of comments. Keeps the beginnings of the texts, not the texts."""

    def __init__(self) -> None:
        self._by_start: dict[int, dict[tuple[str, str], tuple[str, int]]] = {length: {} for length in LENGTHS}
        self._tags: dict[tuple[str, int], int] = {}
        self._met: set[tuple[str, int]] = set()
        self._comments: Counter[str] = Counter()
        self._profiles: defaultdict[str, set[str]] = defaultdict(set)
        self._matched_tags = 0

    def take_thread(self, thread: Thread) -> None:
        """Notes how the comments of a tree begin."""
        for place, node in enumerate(thread.nodes):
            spot = (thread.name, place)
            self._tags[spot] = len(node.tags)
            for length, known in self._by_start.items():
                known.setdefault((node.text[:length], node.username), spot)

    def take_row(self, row: Row) -> None:
        """Attaches the comments of one profile."""
        for text in row.comments:
            spot = self._find(text.strip(), row.username)
            if spot is None:
                continue
            self._met.add(spot)
            self._comments[spot[0]] += 1
            self._profiles[spot[0]].add(row.username)
            self._matched_tags += self._tags[spot]

    def _find(self, text: str, username: str) -> tuple[str, int] | None:
        found = (known.get((text[:length], username)) for length, known in self._by_start.items())
        return next((spot for spot in found if spot is not None), None)

    def numbers(self) -> dict[str, Any]:
        """Threads to which no comment was attached are left out of the two summaries."""
        profiles = {name: len(names) for name, names in self._profiles.items()}
        return {
            "matched_comments": sum(self._comments.values()),
            "tree_nodes_without_comment": len(self._tags) - len(self._met),
            "llm_tags_on_matched_comments": self._matched_tags,
            "comments_per_thread": summary(Counter[float](self._comments.values())),
            "profiles_per_thread": summary(Counter[float](profiles.values())),
            "threads_with_more_than_50_profiles": sum(number > MANY for number in profiles.values()),
        }
