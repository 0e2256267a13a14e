"""What a masking took and what it left: categories, and the likeness of texts, counted by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.domain.boards import as_json, from_json
from evaluation.metrics.utility import Utility, UtilityTally
from evaluation.models import MaskedText, Masking
from evaluation.selectors import masking as selected
from evaluation.selectors.masking import Found
from evaluation.services import reports
from simulation.models import Corpus

REPORT = "masking"
"""The kind of these reports."""
MOST = 2000
"""Texts that are compared; of more, a sample that hangs on the masking's public id alone."""
VERSION = 1
CHUNK = 500


@dataclass(frozen=True)
class Report:
    """`utility` is of all current texts, or of the sample (`utility.pairs` of `texts`)."""

    texts: int
    utility: Utility
    categories: tuple[Found, ...]


class MaskingMaker:
    """Counts a masking's report. Parameter: masking (public id)."""

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        one = corpus.maskings.get(public_id=parameters["masking"])
        return reports.stamp_of(one.state, one.finished_at, one.texts, VERSION)

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        one = corpus.maskings.get(public_id=parameters["masking"])
        found: dict[str, Any] = as_json(count(one))
        return found


reports.MAKERS[REPORT] = MaskingMaker()


def count(masking: Masking) -> Report:
    """The report from the rows as they are now."""
    keys = selected.sample(masking, MOST, seed=str(masking.public_id))
    tally = UtilityTally()
    rows = MaskedText.objects.filter(pk__in=keys).order_by("pk")
    values = rows.values_list("comment__text", "text", "comment__username")
    for before, after, author in values.iterator(chunk_size=CHUNK):
        tally.take(before, after, author)
    return Report(masking.texts, tally.utility(), tuple(selected.categories(masking)))


def load(masking: Masking) -> Report | None:
    """What was counted last, however old; None where nothing was, or the counting failed. One query."""
    row = reports.find(masking.corpus, REPORT, {"masking": masking.public_id})
    return None if row is None or row.content is None else from_json(row.content, Report)


def load_all(corpus: Corpus) -> dict[str, Report]:
    """Public id of a masking -> its report, for those that have one. One query."""
    rows = corpus.reports.filter(kind=REPORT, content__isnull=False)
    return {row.parameters["masking"]: from_json(row.content, Report) for row in rows}
