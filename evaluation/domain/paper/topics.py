"""The subreddits that threads were assigned to (appendix A.4)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from evaluation.domain.paper.records import Assignment

TARGET = re.compile(r"(?:thread_)?(.+?)(?:_\d+)?")
"""A thread's name says which attribute it is about: thread_age_3."""
TOP = 3


class TopicTally:
    """Takes the assignments of one file. Subreddits are compared without regard to letter case."""

    def __init__(self) -> None:
        self._threads = 0
        self._raw: set[str] = set()
        self._by_target: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def take(self, given: Assignment) -> None:
        """Counts the subreddits of one thread."""
        self._threads += 1
        found = TARGET.fullmatch(given.thread)
        target = found[1] if found else given.thread
        self._raw.update(given.topics)
        self._by_target[target].update(topic.lower() for topic in given.topics)

    def numbers(self) -> dict[str, Any]:
        """Of each target the three most frequent are named; of equally frequent ones the first met first."""
        targets = sorted(self._by_target)
        return {
            "threads": self._threads,
            "assignments": sum(tally.total() for tally in self._by_target.values()),
            "unique_casefolded": len({topic for tally in self._by_target.values() for topic in tally}),
            "unique_raw": len(self._raw),
            "unique_per_target": {target: len(self._by_target[target]) for target in targets},
            "top3_per_target": {
                target: [list(one) for one in self._by_target[target].most_common(TOP)] for target in targets
            },
        }
