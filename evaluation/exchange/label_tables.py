"""The labels of a set as CSV, written while they are read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from django.db import transaction

from evaluation.models import LabelSet
from evaluation.selectors import label_sets
from evaluation.selectors.label_sets import Listed, Narrowed
from simulation.domain.spreadsheets import guarded

COLUMNS = (
    *("profile", "username", "attribute", "value", "category", "hardness", "certainty", "comment"),
    *("profile_says", "truth_score", "truth_decided_by", "truth", "question"),
)


def lines(label_set: LabelSet, narrowed: Narrowed) -> Iterator[str]:
    """A line of names, then one a label, all of one moment. Scales are empty where the published files say
    0; a cell that begins like a formula gets an apostrophe."""
    yield _line(COLUMNS)
    with transaction.atomic():
        for one in label_sets.everything(label_set, narrowed):
            yield _line(_cells(one))


def _cells(one: Listed) -> list[object]:
    row = one.row
    comment = row.comment.external_id if row.comment else ""
    question = row.truth_question.public_id if row.truth_question else ""
    marks = [row.hardness, row.certainty, comment, one.fact]
    said = [row.attribute, row.value, row.category]
    truth = [row.truth_score, row.truth_rung, one.word, question]
    return [row.profile.external_id, row.profile.username, *said, *marks, *truth]


def _line(cells: object) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(guarded(list(cells)))  # type: ignore[call-overload]
    return out.getvalue()
