"""Leaderboards that were counted, as the pages ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max, Q

from evaluation.domain.boards import Board, Measure, from_json
from evaluation.domain.report_keys import key_of
from evaluation.models import LabelSet, Report, Scoring
from evaluation.selectors.board_stamps import VERSIONS, rows_of
from simulation.models import Corpus

CERTAINTY = 3
"""The published threshold (arXiv:2406.07217, section 5)."""
STEPS = range(1, 6)
MODES = dict(Scoring.MODES)
_BETTER_FIRST = (Scoring.DEFAULT, Scoring.RECORDED, Scoring.COMPATIBLE)


@dataclass(frozen=True)
class Choice:
    """Which board, and how it is looked at. A `min_certainty` of 0 keeps labels without certainty, too."""

    label_set: LabelSet
    mode: str = Scoring.DEFAULT
    min_certainty: int = CERTAINTY
    min_hardness: int = 1
    measure: Measure = Measure.TOP1

    @property
    def query(self) -> str:
        """As an address carries it, without a question mark: labels=…&mode=…&certainty=…&measure=…"""
        fields: dict[str, object] = {
            "labels": self.label_set.public_id,
            "mode": self.mode,
            "certainty": self.min_certainty,
            "measure": self.measure.value,
        }
        if self.min_hardness > 1:
            fields["hardness"] = self.min_hardness
        return urlencode(fields)

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the report that holds the board."""
        return {
            "label_set": self.label_set.public_id,
            "mode": self.mode,
            "min_certainty": self.min_certainty,
            "min_hardness": self.min_hardness,
        }

    @property
    def mode_words(self) -> str:
        """Which rules decided, in words."""
        return MODES[self.mode]


@dataclass(frozen=True)
class Loaded:
    """A board, however old; None where it was never counted."""

    board: Board | None
    made_at: datetime | None = None
    is_current: bool = False
    is_asked: bool = False
    """A worker has it on the list."""
    problem: str = ""
    behind: int = 0
    """Changes of verdicts since it was counted; 0 where it is current or something else has changed."""
    stale: int = 0
    """Scorings whose labels have changed since; they are scored anew first."""


@dataclass(frozen=True)
class Offer:
    """A label set that something was scored against: mode -> number of its scorings, where there are any."""

    label_set: LabelSet
    modes: Mapping[str, int]
    newest: int
    """Key of its newest scoring."""


def offers(corpus: Corpus) -> list[Offer]:
    """The label sets of the corpus that have scorings, by name; one query."""
    counts = {mode: Count("scorings", filter=Q(scorings__mode=mode)) for mode in MODES}
    sets = corpus.label_sets.annotate(newest=Max("scorings"), **counts)
    return [
        Offer(one, {mode: n for mode in MODES if (n := getattr(one, mode))}, one.newest)
        for one in sets.filter(newest__isnull=False).order_by("name")
    ]


def choose(
    corpus: Corpus, asked: Mapping[str, str], *, among: Sequence[Offer] | None = None
) -> Choice | None:
    """What an address asks for, with the corpus' best known label set and mode where it says nothing, or
    something unknown; None where the corpus has no scoring at all.

    Best known is the label set with the most scorings of one mode; among equals the default mode, then the
    newest. `among` are its `offers`, where the caller has them.
    """
    found = offers(corpus) if among is None else among
    if not found:
        return None
    by_id = {one.label_set.public_id: one for one in found}
    wanted, mode = by_id.get(asked.get("labels", "")), asked.get("mode", "")
    candidates = [(one, key) for one in ([wanted] if wanted else found) for key in one.modes]
    if any(key == mode for _, key in candidates):
        candidates = [pair for pair in candidates if pair[1] == mode]
    offer, mode = max(
        candidates, key=lambda one: (one[0].modes[one[1]], -_BETTER_FIRST.index(one[1]), one[0].newest)
    )
    return Choice(
        offer.label_set,
        mode,
        _step(asked.get("certainty", ""), CERTAINTY, least=0),
        _step(asked.get("hardness", ""), 1, least=1),
        _measure(asked.get("measure", "")),
    )


def load(corpus: Corpus, choice: Choice) -> Loaded:
    """The board of a choice; two queries."""
    report = Report.objects.filter(corpus=corpus, kind=Report.BOARD, key=key_of(choice.parameters)).first()
    if report is None:
        return Loaded(None)
    rows = rows_of(corpus, choice.parameters)
    current = report.content is not None and report.stamp == rows.stamp and not rows.stale
    return Loaded(
        from_json(report.content) if report.content is not None else None,
        report.made_at,
        current,
        report.asked_at is not None,
        report.problem,
        0 if current or report.content is None else rows.changes_since(report.content.get(VERSIONS, {})),
        rows.stale,
    )


def _step(asked: str, otherwise: int, *, least: int) -> int:
    return int(asked) if asked in map(str, range(least, STEPS.stop)) else otherwise


def _measure(asked: str) -> Measure:
    try:
        return Measure(asked)
    except ValueError:
        return Measure.TOP1
