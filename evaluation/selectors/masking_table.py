"""Privacy against utility: what each masking took, what it left, and how right models still are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.domain.boards import Board, Masked
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.utility import Utility
from evaluation.models import Masking, PredictionRun
from evaluation.plots.masking import Point
from evaluation.selectors.board_pairs import MaskedRow, masked_rows
from simulation.models import Corpus

FEW = 30


@dataclass(frozen=True)
class Part:
    """`n` of `of`, and the share in percent; None where there is nothing to share."""

    n: int
    of: int

    @property
    def percent(self) -> float | None:
        return 100 * self.n / self.of if self.of else None


@dataclass(frozen=True)
class Line:
    """One masking. `utility` is None where it was not counted yet."""

    masking: Masking
    changed: Part
    characters: Part
    utility: Utility | None

    @property
    def similarity(self) -> str:
        return _percent(self.utility.edit if self.utility else None)

    @property
    def interval(self) -> str:
        edit = self.utility.edit if self.utility else None
        if edit is None or edit.low is None or edit.high is None:
            return ""
        return f"{100 * max(0.0, edit.low):.1f} to {100 * min(1.0, edit.high):.1f}"


def _percent(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.value is None else f"{100 * estimate.value:.1f}"


def line_of(masking: Masking, utility: Utility | None) -> Line:
    """What one masking says of itself."""
    return Line(
        masking,
        Part(masking.changed, masking.texts),
        Part(masking.masked_characters, masking.characters),
        utility,
    )


@dataclass(frozen=True)
class Asked:
    """One model asked about masked texts: over all, and by attribute. `masking` is None where nobody has
    said from which one the texts were."""

    masking: Masking | None
    run: str
    """Public id of the prediction run on masked text."""
    all: MaskedRow
    attributes: Sequence[MaskedRow]
    masked: Masked


def asked(corpus: Corpus, board: Board | None, maskings: Sequence[Masking]) -> list[Asked]:
    """Every pair of runs on plain and masked text of a board, by masking, then model. One query."""
    if board is None or not board.masked:
        return []
    runs = PredictionRun.objects.filter(corpus=corpus, text=PredictionRun.ANONYMISED)
    told = {str(run): masking for run, masking in runs.values_list("public_id", "masking")}
    known = {one.pk: one for one in maskings}
    found = []
    for one in board.masked:
        entry = board.entry(one.anonymised)
        run = entry.run if entry else ""
        rows = masked_rows(replace(board, masked=(one,)))
        masking = known.get(told.get(run) or 0)
        found.append(Asked(masking, run, rows[0], rows[1:], one))
    order = {one.pk: place for place, one in enumerate(maskings)}
    return sorted(
        found, key=lambda one: (order.get(one.masking.pk, 0) if one.masking else len(order), one.all.model)
    )


def points(rows: Sequence[Asked], utilities: Mapping[str, Utility]) -> list[Point]:
    """What the figure shows: those whose masking is known and compared."""
    found = []
    for one in rows:
        if one.masking is None:
            continue
        utility = utilities.get(str(one.masking.public_id))
        if utility is None or utility.edit.value is None:
            continue
        plain, masked, _ = one.masked.rows[""]
        found.append(Point(one.all.model, one.masking.name, utility.edit.value, plain, masked))
    return found
