"""Artefacts planted by somebody who had not seen the rules: at least four of five are found.

Each line of the file is {"text", "kind"} and, where the writer said it, "span": [start, end] in code points.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from simulation.domain.artefacts import find

FILE = Path(__file__).parent.parent / "data" / "planted_artefacts.jsonl"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"NO PLANTED ARTEFACTS: {FILE.name} is missing")
SHARE = 0.8


@pytest.fixture(scope="module")
def planted():
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_at_least_four_of_five_are_found(planted):
    hits = [find(row["text"]) for row in planted]
    missed = [(index, row["kind"]) for index, row in enumerate(planted) if not hits[index]]
    print(f"\nfound {len(planted) - len(missed)} of {len(planted)}; missed: {missed}")  # noqa: T201
    print(Counter(one.rule for found in hits for one in found).most_common())  # noqa: T201
    assert len(planted) >= 40
    assert len(planted) - len(missed) >= SHARE * len(planted)


def test_what_is_found_touches_what_was_planted(planted):
    """A hit somewhere else in the text would be luck."""
    spans = [(row["span"], find(row["text"])) for row in planted if row.get("span")]
    beside = [
        span
        for span, found in spans
        if found and not any(one.start < span[1] and span[0] < one.end for one in found)
    ]
    assert len(beside) <= (1 - SHARE) * len(spans)
