"""The corpora that have results, with the best line of each one's leaderboard and what is to be done next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Count, Q, Sum

from evaluation.domain.boards import Cell, Entry, from_json
from evaluation.domain.report_keys import key_of
from evaluation.models import LabelSet, PredictionRun, Report, Scoring
from evaluation.selectors.board_lines import Line, Said
from evaluation.selectors.boards import MODES, Choice, Offer, choose
from simulation.domain.roles import Right
from simulation.models import Corpus, User

WITHOUT = 50
"""Corpora without results that are listed."""


class Next(StrEnum):
    """What the results of a corpus lack."""

    LABELS = "labels"
    PREDICTIONS = "predictions"
    SCORING = "scoring"
    SETTLE = "settle"
    NOTHING = ""


@dataclass(frozen=True)
class Best:
    """The best line of a board that was counted."""

    name: str
    said: Said
    made_at: datetime | None
    hints: str = ""
    """Why it has no rank on its board; empty where it has one."""


@dataclass(frozen=True)
class Results:
    """What there is of one corpus; `best` is None where its usual board was never counted or is empty."""

    corpus: Corpus
    runs: int
    models: int
    label_sets: int
    open: int
    choice: Choice | None
    best: Best | None

    @property
    def next(self) -> Next:
        if not self.label_sets:
            return Next.LABELS
        if not self.runs:
            return Next.PREDICTIONS
        if self.choice is None:
            return Next.SCORING
        return Next.SETTLE if self.open else Next.NOTHING


@dataclass(frozen=True)
class Overview:
    """Corpora with results, and some of those without."""

    results: list[Results]
    without: list[Corpus]


def overview(person: User) -> Overview:
    """All corpora in which the person sees profiles, by name; five queries."""
    corpora = list(Corpus.objects.with_right(person, Right.SEE_PROFILES).order_by("name"))
    runs = {
        corpus: (n, models)
        for corpus, n, models in PredictionRun.objects.filter(corpus__in=corpora)
        .order_by()
        .values_list("corpus")
        .annotate(n=Count("pk"), models=Count("model", distinct=True, filter=~Q(origin="baseline")))
    }
    offers, sets = _offers(corpora)
    waiting = dict(
        Scoring.objects.filter(label_set__corpus__in=corpora)
        .order_by()
        .values_list("label_set__corpus")
        .annotate(n=Sum("open"))
    )
    choices = {
        key: choice for one in corpora if (choice := choose(one, {}, among=offers.get(key := one.pk, [])))
    }
    best = _best(choices)
    found = [
        Results(
            one,
            *runs.get(one.pk, (0, 0)),
            sets.get(one.pk, 0),
            waiting.get(one.pk, 0),
            choices.get(one.pk),
            best.get(one.pk),
        )
        for one in corpora
        if one.pk in runs or one.pk in sets
    ]
    known = {one.corpus.pk for one in found}
    return Overview(found, [one for one in corpora if one.pk not in known][:WITHOUT])


def _offers(corpora: list[Corpus]) -> tuple[dict[int, list[Offer]], dict[int, int]]:
    """What each corpus offers, and how many label sets it has."""
    counts = {mode: Count("scorings", filter=Q(scorings__mode=mode)) for mode in MODES}
    offers: dict[int, list[Offer]] = {}
    sets: dict[int, int] = {}
    for one in LabelSet.objects.filter(corpus__in=corpora).annotate(**counts):
        sets[one.corpus_id] = sets.get(one.corpus_id, 0) + 1
        modes = {mode: n for mode in MODES if (n := getattr(one, mode))}
        if modes:
            offers.setdefault(one.corpus_id, []).append(Offer(one, modes, one.pk))
    return offers, sets


def _best(choices: Mapping[int, Choice]) -> dict[int, Best]:
    """Corpus -> best line; of each board only its first entry is read."""
    keys = {key_of(choice.parameters): corpus for corpus, choice in choices.items()}
    rows = Report.objects.filter(kind=Report.BOARD, key__in=keys, content__isnull=False).values_list(
        "key",
        "corpus_id",
        "made_at",
        "content__entries__0__name",
        "content__entries__0__overall__top1__asked",
        "content__entries__0__open",
        "content__labels",
    )
    return {
        corpus: _said(name, Said(from_json(cell, Cell)), made_at, still or 0, labels or 0)
        for key, corpus, made_at, name, cell, still, labels in rows
        if keys[key] == corpus and name is not None and cell
    }


def _said(name: str, said: Said, made_at: datetime | None, still: int, labels: int) -> Best:
    line = Line(Entry("", "", name, ""), None, said, said, None, (), still, labels)
    return Best(name, said, made_at, line.unranked)
