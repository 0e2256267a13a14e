"""Numbers of label quality: shares and shifts with intervals by cluster, agreement between people.

Items of one comment (or of one profile, where truth is asked for) hang together: intervals are clustered by
them, see `evaluation.metrics.intervals`. Agreement comes from `annotation.metrics.agreement`; answers are put
into an order that does not depend on who gave them, so that people can be exchanged without any change.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from annotation.metrics.agreement import (
    Agreement,
    Ratings,
    TooManyValues,
    attribute_alpha,
    cohen_kappa,
    gather,
    gwet_ac1,
    nominal_alpha,
    ordinal_alpha,
    percent_agreement,
)
from evaluation.domain.quality import distance, presence_key
from evaluation.metrics.comparing import HARDNESS, Shift, anchoring_shift
from evaluation.metrics.intervals import ONE_CLUSTER, Estimate, clustered, clustered_difference

STEPS = 4
"""The widest difference of two marks from 1 to 5."""
COMMON = 5
"""Two people are compared from so many common comments on."""
MOST_PEOPLE = 12
"""So many people, those with the most answers, are compared in pairs."""
FEW = 30
"""Below so many items a share is marked as resting on few."""

ONE_IN_ARM = "All are of one comment in one arm: no interval can be given."

Answers = Mapping[tuple[int, str], str]
"""(Comment, rater) -> answer key."""


@dataclass
class Scores:
    """Numbers one by one, each of a cluster (a key); kept in 16 bytes."""

    values: array[float] = field(default_factory=lambda: array("d"))
    clusters: array[int] = field(default_factory=lambda: array("q"))

    def add(self, value: float, cluster: int) -> None:
        self.values.append(value)
        self.clusters.append(cluster)

    def share(self, of: str = "comment") -> Estimate:
        """Mean of scores from 0 to 1 with the interval clustered as `intervals.clustered` does it."""
        return _worded(clustered(list(self.values), list(self.clusters)), of)

    def shift(self, of: str = "comment") -> Estimate:
        """Mean of paired differences of scores, -1 to 1."""
        return _worded(clustered_difference(list(self.values), list(self.clusters)), of)

    def steps(self, of: str = "comment") -> Estimate:
        """Mean difference of two marks from 1 to 5, in steps of the scale (-4 to 4)."""
        scaled = [value / STEPS for value in self.values]
        found = _worded(clustered_difference(scaled, list(self.clusters)), of)
        return replace(
            found,
            value=_times(found.value),
            low=_times(found.low),
            high=_times(found.high),
            error=_times(found.error),
        )


def _times(number: float | None) -> float | None:
    return None if number is None else number * STEPS


def _worded(found: Estimate, of: str) -> Estimate:
    if found.words == ONE_CLUSTER:
        return replace(found, words=f"All are of one {of}: no interval can be given.")
    return found


class Arms(NamedTuple):
    """An anchoring shift, and how many items were left out because their comment is in both arms."""

    shift: Shift
    left_out: int


def arms(assisted: Scores, blind: Scores) -> Arms:
    """How much more often people agree with suggestions that they see from the start.

    Comments were shared out to the arms by lot, so they are the clusters; one that other queues put into both
    arms is left out of both. Formula and source: `comparing.anchoring_shift`.
    """
    common = set(assisted.clusters) & set(blind.clusters)
    one, other = _without(assisted, common), _without(blind, common)
    gone = len(assisted.values) + len(blind.values) - len(one.values) - len(other.values)
    found = anchoring_shift(
        (list(one.values), list(one.clusters)), (list(other.values), list(other.clusters))
    )
    words = ONE_IN_ARM if found.words == ONE_CLUSTER else found.words
    return Arms(
        replace(
            found,
            words=words,
            assisted=_worded(found.assisted, "comment"),
            blind=_worded(found.blind, "comment"),
        ),
        gone,
    )


def _without(scores: Scores, clusters: set[int]) -> Scores:
    if not clusters:
        return scores
    kept = Scores()
    for value, cluster in zip(scores.values, scores.clusters, strict=True):
        if cluster not in clusters:
            kept.add(value, cluster)
    return kept


class Measured(NamedTuple):
    """One measure of agreement of one attribute ("": all together)."""

    attribute: str
    measure: str
    found: Agreement


def agreement(by_attribute: Mapping[str, Answers]) -> list[Measured]:
    """Percent agreement, nominal alpha, attribute-aware alpha and AC1 of each attribute and of all.

    Units are comments with two answers or more. Over all attributes percent agreement takes the values; alpha
    and AC1 take only whether there was a value, none or unsure: a value of one attribute can never be taken
    for that of another, so that chance would be too small, and agreement beyond it too large.
    """
    found: list[Measured] = []
    for attribute, answers in by_attribute.items():
        ratings = _ratings((unit, rater, key) for (unit, rater), key in answers.items())
        found += [
            Measured(attribute, "percent", percent_agreement(ratings)),
            Measured(attribute, "nominal", nominal_alpha(ratings)),
            Measured(attribute, "aware", _aware(attribute, ratings)),
            Measured(attribute, "ac1", gwet_ac1(ratings)),
        ]
    whole = [
        ((unit, attribute), rater, key)
        for attribute, answers in by_attribute.items()
        for (unit, rater), key in answers.items()
    ]
    present = _ratings((unit, rater, presence_key(key)) for unit, rater, key in whole)
    keyed = _ratings((unit, rater, f"{unit[1]} {key}") for unit, rater, key in whole)
    return [
        *found,
        Measured("", "percent", percent_agreement(keyed)),
        Measured("", "nominal", nominal_alpha(present)),
        Measured("", "ac1", gwet_ac1(present)),
    ]


def _ratings(rows: Iterable[tuple[object, str, str]]) -> Ratings:
    """In an order that depends on answers only: patterns, and with them the draws, come out the same."""
    return gather(sorted(rows, key=lambda row: (row[2], str(row[0]), row[1])))


def _aware(attribute: str, ratings: Ratings) -> Agreement:
    def apart(one: object, other: object) -> float:
        return distance(attribute, str(one), str(other))

    try:
        return attribute_alpha(ratings, apart)
    except TooManyValues as error:
        counts = (int(ratings.unit.size), ratings.raters, len(ratings.values), int(ratings.value.size))
        return Agreement(None, None, None, *counts, words=f"Not counted: {error}.")


def on_marks(by_attribute: Mapping[str, Mapping[tuple[int, str], int]], measure: str) -> list[Measured]:
    """Ordinal alpha of hardness or certainty, 1 to 5, of each attribute and of all together: of those who
    gave a value, whatever value it was."""
    found = []
    everything: dict[tuple[tuple[int, str], str], int] = {}
    for attribute, marks in by_attribute.items():
        rows = sorted(((unit, rater, mark) for (unit, rater), mark in marks.items()), key=lambda row: row[2])
        found.append(Measured(attribute, measure, ordinal_alpha(gather(rows), HARDNESS)))
        everything |= {((unit, attribute), rater): mark for (unit, rater), mark in marks.items()}
    whole = sorted(
        ((unit, rater, mark) for (unit, rater), mark in everything.items()), key=lambda row: row[2]
    )
    return [*found, Measured("", measure, ordinal_alpha(gather(whole), HARDNESS))]


class Pair(NamedTuple):
    """Two people on the comments that both answered. `kappa` is Cohen's, of value, none or unsure; `same` the
    share of units with the same answer, values by their canonical spelling; None: too few in common."""

    one: str
    other: str
    comments: int
    kappa: Agreement | None
    same: Estimate | None


def pairs(by_attribute: Mapping[str, Answers]) -> tuple[list[tuple[str, int]], list[Pair]]:
    """The people with the most answers (name, answers), and every two of them, by name."""
    of_person: dict[str, dict[tuple[int, str], str]] = defaultdict(dict)
    for attribute, answers in by_attribute.items():
        for (unit, rater), key in answers.items():
            of_person[rater][unit, attribute] = key
    chosen = sorted(of_person, key=lambda name: (-len(of_person[name]), name))[:MOST_PEOPLE]
    people = sorted(chosen)
    found = [_pair(one, other, of_person[one], of_person[other]) for one, other in combinations(people, 2)]
    return [(name, len(of_person[name])) for name in people], found


def _pair(
    one: str, other: str, first: Mapping[tuple[int, str], str], second: Mapping[tuple[int, str], str]
) -> Pair:
    common = sorted(first.keys() & second.keys())
    comments = len({unit for unit, _ in common})
    if comments < COMMON:
        return Pair(one, other, comments, None, None)
    kappa = cohen_kappa([(presence_key(first[at]), presence_key(second[at])) for at in common])
    same = Scores()
    for at in common:
        same.add(float(first[at] == second[at]), at[0])
    return Pair(one, other, comments, kappa, same.share())
