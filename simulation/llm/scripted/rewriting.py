"""Answers both questions of a rewriting: what a comment gives away, and the comment without it."""

from __future__ import annotations

import json
import re

from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.finding import hints_in
from simulation.llm.scripted.tags import CERTAINTY

SENTENCE = re.compile(r"[^.!?;\n]+[.!?;]*\s*")
SILENT = "No more of that."
"""What is left of a comment that gave something away in every sentence."""


def findings(brief: Brief) -> str:
    """What the bank hears, as JSON, the sentence it was heard in as evidence."""
    comment = brief.block("comment")
    rows = []
    for hint in hints_in(comment):
        said = next((one.strip() for one in SENTENCE.findall(comment) if hint in hints_in(one)), "")
        rows.append(
            {
                "attribute": hint.attribute,
                "guess": hint.value,
                "certainty": CERTAINTY[hint.hardness][0],
                "evidence": said,
            }
        )
    return json.dumps({"findings": rows}, ensure_ascii=False)


def rewritten(brief: Brief) -> str:
    """The comment without the sentences in which the bank hears something."""
    sentences = SENTENCE.findall(brief.block("comment"))
    kept = "".join(one for one in sentences if not hints_in(one)).strip()
    return f"<text>{kept or SILENT}</text>"
