"""The report of label quality: counted from one pass over the labels of a corpus or of one queue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from annotation.domain.labels import State
from evaluation.domain.quality import Said, answer_key
from evaluation.metrics.quality import Measured, agreement, on_marks, pairs
from evaluation.models import Report
from evaluation.selectors import quality
from evaluation.services import reports
from evaluation.services.quality_tallies import (
    JSON,
    MARKS,
    Arms,
    Hardness,
    Suggestions,
    Truth,
    estimate,
)
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Corpus

VERSION = 1
"""Of what is counted and how: raised with every change of this file, it makes older reports out of date."""
ORDINARY, GOLD = "ordinary", "gold"


class QueueIsGone(Exception):
    """The queue of the report was deleted or is in the trash."""


class _Ratings:
    """Answers by attribute, of comments that two people or more answered; of two by one person the later."""

    def __init__(self) -> None:
        self._latest: dict[str, dict[tuple[int, str], tuple[float, int]]] = defaultdict(dict)
        self.keys: dict[str, dict[tuple[int, str], str]] = {key: {} for key in TARGET_KEYS}
        self.hardness: dict[str, dict[tuple[int, str], int]] = {key: {} for key in TARGET_KEYS}
        self.certainty: dict[str, dict[tuple[int, str], int]] = {key: {} for key in TARGET_KEYS}

    def take(self, said: Said) -> None:
        key = answer_key(said.attribute, said.state, said.value)
        if not said.shared or key is None:
            return
        at, when = (said.comment, said.rater), (said.at, said.annotation)
        latest = self._latest[said.attribute]
        if at in latest and latest[at] > when:
            return
        latest[at] = when
        self.keys[said.attribute][at] = key
        for marks, mark in ((self.hardness, said.hardness), (self.certainty, said.certainty)):
            marks[said.attribute].pop(at, None)
            if said.state == State.VALUE and mark is not None:
                marks[said.attribute][at] = mark

    def measures(self) -> list[Measured]:
        return [
            *agreement(self.keys),
            *on_marks(self.hardness, "hardness"),
            *on_marks(self.certainty, "certainty"),
        ]


class _Counting:
    """Everything that the report says, label by label."""

    def __init__(self) -> None:
        self.answers: set[int] = set()
        self.raters: set[str] = set()
        self.labels = self.values = self.gold = self.bulk = 0
        self.suggestions, self.arms, self.hardness, self.truth = Suggestions(), Arms(), Hardness(), Truth()
        self.ratings = {ORDINARY: _Ratings(), GOLD: _Ratings()}
        self.counts: dict[str, Counter[int]] = {key: Counter() for key in TARGET_KEYS}

    def take(self, said: Said) -> None:
        self.answers.add(said.annotation)
        self.raters.add(said.rater)
        self.ratings[GOLD if said.gold else ORDINARY].take(said)
        if said.gold:
            self.gold += 1
            return
        self.labels += 1
        self.bulk += said.bulk
        if said.state == State.VALUE:
            self.values += 1
            self.counts[said.attribute][said.hardness or 0] += 1
        for part in (self.suggestions, self.arms, self.hardness, self.truth):
            part.take(said)

    def content(self) -> JSON:
        people, compared = pairs(self.ratings[ORDINARY].keys)
        return {
            "version": VERSION,
            "answers": len(self.answers),
            "people": len(self.raters),
            "labels": self.labels,
            "values": self.values,
            "gold": self.gold,
            "bulk": self.bulk,
            "suggestions": self.suggestions.as_json(),
            "shifts": self.arms.shifts(),
            "moves": self.arms.moves(),
            "agreement": [
                {"part": part, "attribute": one.attribute, "measure": one.measure, **asdict(one.found)}
                for part, ratings in self.ratings.items()
                for one in ratings.measures()
            ],
            "people_compared": [{"person": name, "answers": n} for name, n in people],
            "pairs": [
                {
                    "one": one.one,
                    "other": one.other,
                    "comments": one.comments,
                    "kappa": asdict(one.kappa) if one.kappa else None,
                    "same": estimate(one.same) if one.same else None,
                }
                for one in compared
            ],
            "hardness": self.hardness.as_json(),
            "truth": self.truth.as_json(),
            "counts": [
                {"attribute": key, "hardness": [counted[mark] for mark in MARKS]}
                for key, counted in self.counts.items()
            ],
        }


def content_of(labels: Iterable[Said]) -> dict[str, Any]:
    """Everything that the report says about these labels."""
    counting = _Counting()
    for said in labels:
        counting.take(said)
    return counting.content()


class Labels:
    """How reports of label quality are made; parameters: {"queue": public id, or "" for the whole corpus}."""

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        """Six queries, whatever the size."""
        queue = quality.queue_of(corpus, parameters["queue"])
        if parameters["queue"] and queue is None:
            return reports.stamp_of(VERSION, "gone")
        return reports.stamp_of(VERSION, *quality.state_of(corpus, queue))

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Raises QueueIsGone."""
        queue = quality.queue_of(corpus, parameters["queue"])
        if parameters["queue"] and queue is None:
            raise QueueIsGone(parameters["queue"])
        return content_of(quality.said(corpus, queue))


reports.MAKERS[Report.LABELS] = Labels()
