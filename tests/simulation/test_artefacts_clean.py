"""Ordinary comments that look odd, written by somebody who had not seen the rules: hardly any is reported.

Each line of the file is {"text"}: jokes about typing, arrows, greetings in other scripts, shouting, lists.
"""

import json
from pathlib import Path

import pytest

from simulation.domain.artefacts import find

FILE = Path(__file__).parent.parent / "data" / "clean_comments.jsonl"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"NO CLEAN COMMENTS: {FILE.name} is missing")
AT_MOST = 4


def test_odd_but_ordinary_comments_are_left_alone():
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines() if line.strip()]
    alarms = [(row["text"], [one.rule for one in find(row["text"])]) for row in rows if find(row["text"])]
    print(f"\n{len(alarms)} of {len(rows)} ordinary comments reported: {alarms}")  # noqa: T201
    assert len(rows) >= 80
    assert len(alarms) <= AT_MOST
