"""Leaderboards are counted from the verdicts of all scorings of one label set in one mode."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, QuerySet

from evaluation.domain.boards import Board, Entry, Masked, Measure, as_json
from evaluation.metrics.boards import Scores, compared, masked, measured
from evaluation.models import LabelSet, Prediction, PredictionRun, ProfileLabel, Report, Scoring, Verdict
from evaluation.selectors.board_stamps import VERSIONS, rows_of
from evaluation.services import reports
from simulation.models import Corpus

CHUNK = 5000
"""Verdicts that are read at once."""


class BoardMaker:
    """Counts a leaderboard. Parameters: label_set (public id), mode, min_certainty, min_hardness.

    Labels without certainty are below every threshold; a threshold of 0 is none.
    """

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        return rows_of(corpus, parameters).stamp

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        versions = rows_of(corpus, parameters).versions
        return {**as_json(count(corpus, parameters)), VERSIONS: dict(versions)}


KIND = Report.BOARD
reports.MAKERS[KIND] = BoardMaker()


@dataclass
class _Read:
    """One scoring and what its verdicts say."""

    scoring: Scoring
    scores: Scores = field(default_factory=Scores)
    outcomes: Counter[str] = field(default_factory=Counter)
    rungs: Counter[str] = field(default_factory=Counter)

    @property
    def run(self) -> PredictionRun:
        return self.scoring.prediction_run


def count(corpus: Corpus, parameters: Mapping[str, Any]) -> Board:
    """The whole board, from the rows as they are now. Raises LabelSet.DoesNotExist for an unknown set."""
    labels = corpus.label_sets.get(public_id=parameters["label_set"])
    scorings = (
        labels.scorings.filter(mode=parameters["mode"])
        .select_related("prediction_run__run", "prediction_run__counterpart")
        .order_by("pk")
    )
    read = {
        str(one.public_id): _read(one, _kept(parameters)) for one in scorings if not _is_outdated(one, labels)
    }
    entries = sorted((_entry(one) for one in read.values()), key=_place)
    rated = {one.scoring: read[one.scoring].scores for one in entries if not one.is_baseline}
    kept = labels.rows.filter(_kept(parameters), hardness__gte=1)
    return Board(
        label_set=str(labels.public_id),
        label_set_name=labels.name,
        mode=parameters["mode"],
        min_hardness=parameters["min_hardness"],
        min_certainty=parameters["min_certainty"],
        labels=kept.count(),
        profiles=kept.aggregate(n=Count("profile", distinct=True))["n"],
        entries=tuple(entries),
        pairs=compared(rated),
        masked=tuple(_masked(read, entries)),
        by_attribute=_counts(kept, "attribute"),
        by_hardness=_counts(kept, "hardness"),
        by_certainty=_counts(kept, "certainty"),
    )


def _is_outdated(scoring: Scoring, labels: LabelSet) -> bool:
    """Whether it is of a baseline that was made from an older version of these labels."""
    run = scoring.prediction_run
    of_these = run.origin == PredictionRun.BASELINE and run.recipe.get("labels") == str(labels.public_id)
    return of_these and run.recipe.get("version") != labels.version


def _kept(parameters: Mapping[str, Any]) -> Q:
    """Labels and verdicts that the thresholds keep; certainty NULL is kept by none."""
    kept = Q(hardness__gte=parameters["min_hardness"])
    return kept & Q(certainty__gte=parameters["min_certainty"]) if parameters["min_certainty"] else kept


def _read(scoring: Scoring, kept: Q) -> _Read:
    found = _Read(scoring)
    rows = Verdict.objects.filter(kept, scoring=scoring).order_by("label_id")
    values = rows.values_list(
        "profile_id", "attribute", "hardness", "certainty", "outcome", "scores", "rungs"
    )
    for profile, attribute, hardness, certainty, outcome, scores, rungs in values.iterator(chunk_size=CHUNK):
        found.scores.add(profile, sys.intern(attribute), hardness, certainty, sys.intern(outcome), scores)
        found.outcomes[outcome] += 1
        if outcome == Prediction.ANSWERED and scores:
            found.rungs[rungs[0] if rungs else ""] += 1
    return found


def _entry(one: _Read) -> Entry:
    run, shares = one.run, measured(one.scores)
    return Entry(
        scoring=str(one.scoring.public_id),
        run=str(run.public_id),
        name=run.name,
        model=run.model,
        family=run.family,
        parameters=None if run.parameters is None else float(run.parameters),
        origin=run.origin,
        text=run.text,
        counterpart=str(run.counterpart.public_id) if run.counterpart else "",
        overall=shares.overall,
        by_attribute=shares.by_attribute,
        by_hardness=shares.by_hardness,
        by_certainty=shares.by_certainty,
        outcomes=dict(one.outcomes.most_common()),
        rungs=dict(one.rungs.most_common()),
        open=shares.open,
        cost=run.run.cost if run.run else None,
        profiles=run.profiles if run.run else None,
    )


def _place(entry: Entry) -> tuple[bool, bool, float, str]:
    """Best first by top-1 over all that was asked; behind them those without a number; baselines last."""
    value = entry.overall[Measure.TOP1].asked.value
    return entry.is_baseline, value is None, -(value or 0.0), entry.name


def _masked(read: Mapping[str, _Read], entries: list[Entry]) -> list[Masked]:
    """Runs on anonymised text whose counterpart on plain text is scored as well, in the board's order."""
    by_run = {one.run: one.scoring for one in entries}
    found = []
    for entry in entries:
        plain = by_run.get(entry.counterpart, "")
        if entry.text == PredictionRun.ANONYMISED and plain:
            rows = masked(read[plain].scores, read[entry.scoring].scores, (plain, entry.scoring))
            found.append(Masked(plain, entry.scoring, read[plain].run.model, rows))
    return found


def _counts(labels: QuerySet[ProfileLabel], field: str) -> dict[str, int]:
    """Labels by a field's values in their order; those without a value are left out."""
    rows = labels.exclude(**{field: None}).values_list(field).annotate(n=Count("pk")).order_by(field)
    return {str(value): n for value, n in rows}
