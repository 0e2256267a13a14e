"""The leaderboard of a corpus: the numbers of the page."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.domain.boards import Both, Cell, Entry, Measure
from evaluation.models import Scoring
from evaluation.selectors import boards
from evaluation.services import reports
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.strict import PublicId, Strict


class ShareSheet(serializers.Serializer):
    """A share from 0 to 1 with its 95 % interval, clustered by profile; null where it cannot be said."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    clusters = serializers.IntegerField()
    open = serializers.IntegerField(help_text="Items more that are not settled; in no denominator.")
    words = serializers.CharField(help_text="Why there is none, or what was left out.")


class LineSheet(serializers.Serializer):
    """One scored prediction run."""

    scoring = serializers.CharField()
    run = serializers.CharField()
    name = serializers.CharField()
    model = serializers.CharField()
    origin = serializers.CharField()
    text = serializers.CharField()
    asked = ShareSheet(help_text="Over all that was asked.")
    answered = ShareSheet(help_text="Over what was answered.")
    by_attribute = serializers.DictField(child=ShareSheet())
    by_hardness = serializers.DictField(child=ShareSheet())
    outcomes = serializers.DictField(child=serializers.IntegerField())


class BoardSheet(serializers.Serializer):
    """A leaderboard as it was last counted. `is_current`: nothing it rests on has changed since."""

    label_set = serializers.CharField()
    mode = serializers.CharField()
    measure = serializers.CharField()
    min_certainty = serializers.IntegerField()
    min_hardness = serializers.IntegerField()
    made_at = serializers.DateTimeField(allow_null=True)
    is_current = serializers.BooleanField()
    lines = LineSheet(many=True)

    example = {
        "label_set": "s7m2q9x4v3ht",
        "mode": "default",
        "measure": "top1",
        "min_certainty": 3,
        "min_hardness": 1,
        "made_at": "2026-12-01T09:12:44Z",
        "is_current": True,
        "lines": [],
    }


class BoardQuery(Strict):
    labels = PublicId(required=False, help_text="Public id of a label set; without it the best known one.")
    mode = serializers.ChoiceField(choices=Scoring.MODES, required=False)
    measure = serializers.ChoiceField(
        choices=[(one.value, one.value) for one in Measure], default=Measure.TOP1.value
    )
    certainty = serializers.IntegerField(min_value=0, max_value=5, default=boards.CERTAINTY)
    hardness = serializers.IntegerField(min_value=1, max_value=5, default=1)


class Board(Endpoint):
    noun = "evaluations"
    access = {
        "GET": Access(
            Scope.READ, Right.SEE_PROFILES, "The leaderboard of a corpus.", BoardSheet, query=BoardQuery
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        """Counted by a worker: one that was never asked for, or is out of date, is asked for by this. 404
        where nothing was scored against such labels."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_PROFILES), corpus_id)
        offers = boards.offers(corpus)
        if "labels" in self.asked and not any(
            one.label_set.public_id == self.asked["labels"] for one in offers
        ):
            raise Http404
        choice = boards.choose(corpus, {name: str(said) for name, said in self.asked.items()}, among=offers)
        if choice is None or ("mode" in self.asked and choice.mode != self.asked["mode"]):
            raise Http404
        loaded = boards.load(corpus, choice)
        if not loaded.is_current and not loaded.is_asked and not loaded.problem:
            reports.ask_for(corpus, "board", choice.parameters)
        found = {
            **choice.parameters,
            "measure": choice.measure.value,
            "made_at": loaded.made_at,
            "is_current": loaded.is_current,
            "lines": [_line(one, choice.measure) for one in loaded.board.entries] if loaded.board else [],
        }
        return self.answer(found)


def _line(entry: Entry, measure: Measure) -> dict[str, Any]:
    both = entry.overall.get(measure, Both())
    return {
        "scoring": entry.scoring,
        "run": entry.run,
        "name": entry.name,
        "model": entry.model,
        "origin": entry.origin,
        "text": entry.text,
        "asked": _cell(both.asked),
        "answered": _cell(both.answered),
        "by_attribute": _cells(entry.by_attribute.get(measure, {})),
        "by_hardness": _cells(entry.by_hardness.get(measure, {})),
        "outcomes": dict(entry.outcomes),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    names = ("value", "low", "high", "n", "clusters", "open", "words")
    return {name: getattr(cell, name) for name in names}


def _cells(found: Any) -> dict[str, Any]:
    return {str(key): _cell(cell) for key, cell in found.items()}
