"""Masked texts beside their originals as CSV or JSONL, written while they are read; the table of maskings."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction

from annotation.exchange.tables import Row, Table
from evaluation.models import MaskedText, Masking
from evaluation.selectors import masking as selected
from evaluation.selectors.masking import Narrowed
from evaluation.selectors.masking_table import Asked, Line
from simulation.domain.spreadsheets import guarded

COLUMNS = ("comment", "username", "original", "masked", "changed", "belongs", "spans", "rounds")
KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}


def lines(masking: Masking, narrowed: Narrowed, kind: str) -> Iterator[str]:
    """The texts that the page shows, all of one moment. `belongs` is false where the comment was edited since
    it was masked; spans are places in the original before that, in code points. Cells of the CSV that begin
    like a formula get an apostrophe."""
    if kind == "csv":
        yield _line(COLUMNS)
    with transaction.atomic():
        for row in selected.everything(masking, narrowed):
            one = _object(row)
            yield _line(_cells(one)) if kind == "csv" else json.dumps(one, ensure_ascii=False) + "\n"


def _object(row: Any) -> dict[str, Any]:
    text: MaskedText = row
    return {
        "comment": text.comment.external_id,
        "username": text.comment.username,
        "original": text.comment.text,
        "masked": text.text,
        "changed": text.text != text.comment.text,
        "belongs": bool(row.is_current),
        "spans": text.spans,
        "rounds": text.rounds,
    }


def _cells(one: dict[str, Any]) -> list[Any]:
    flat = {key: int(value) if isinstance(value, bool) else value for key, value in one.items()}
    return [*(flat | {"spans": json.dumps(one["spans"])}).values()]


def _line(cells: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(guarded(list(cells)))
    return out.getvalue()


def table(found: Sequence[Line], asked: Sequence[Asked]) -> Table:
    """A row for each masking without a model, and one for each model and attribute ("" over all)."""
    columns = (
        *("masking", "masker", "style", "texts", "changed", "characters", "masked_characters"),
        *("compared_texts", "edit_similarity", "edit_low", "edit_high", "rouge_l", "bleu"),
        *("model", "attribute", "plain", "masked", "difference", "low", "high", "holm", "n"),
    )
    rows: list[Row] = []
    heads = {one.masking.pk: _head(one) for one in found}
    met = {one.masking.pk for one in asked if one.masking}
    rows += [(*head, *("",) * 9) for pk, head in heads.items() if pk not in met]
    for one in asked:
        head = heads.get(one.masking.pk if one.masking else 0, ("",) * 13)
        for key, (plain, masked, gap) in one.masked.rows.items():
            numbers = (plain.value, masked.value, gap.value, gap.low, gap.high, gap.holm, gap.n)
            rows.append((*head, one.all.model, key, *numbers))
    return Table(columns, rows)


def _head(one: Line) -> Row:
    masking, utility = one.masking, one.utility
    texts = (masking.texts, masking.changed, masking.characters, masking.masked_characters)
    said = (masking.name, masking.masker, masking.style, *texts)
    if utility is None:
        return (*said, *("",) * 6)
    edit = utility.edit
    return (*said, utility.pairs, edit.value, edit.low, edit.high, utility.rouge_l.value, utility.bleu)
