"""Suggestions against people, arms, hardness and truth, counted label by label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.domain.labels import State
from evaluation.domain.quality import (
    BULK,
    CUTS,
    JUDGED,
    OUTCOMES,
    SINGLE,
    VALUES,
    Said,
    agrees,
    hit,
    match_of,
    outcome,
)
from evaluation.metrics.comparing import confusion
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.quality import Scores, arms
from simulation.domain.attributes import HARDNESS, TARGET_KEYS
from simulation.domain.matching import Match

JSON = dict[str, Any]
ALL = ("", *TARGET_KEYS)
"""All attributes together, then each, in the catalogue's order."""
MARKS = tuple(mark.number for mark in HARDNESS)
BLIND, ASSISTED = "blind", "assisted"


def estimate(found: Estimate) -> JSON:
    """An estimate as a report holds it."""
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "clusters": found.clusters,
        "words": found.words,
    }


@dataclass
class _Judgements:
    """The labels of one tagger and prompt, one cut and one attribute."""

    counts: Counter[str] = field(default_factory=Counter)
    bulk: int = 0
    first: Scores = field(default_factory=Scores)
    top3: Scores = field(default_factory=Scores)
    recall: Scores = field(default_factory=Scores)
    found: Scores = field(default_factory=Scores)
    hardness: Scores = field(default_factory=Scores)
    certainty: Scores = field(default_factory=Scores)

    def take(self, said: Said, word: str, is_hit: bool) -> None:
        self.counts[word] += 1
        self.bulk += said.bulk
        if word in JUDGED:
            self.first.add(float(word == "confirmed"), said.comment)
            self.top3.add(float(is_hit), said.comment)
        if word in VALUES:
            self.recall.add(float(word == "confirmed"), said.comment)
            self.found.add(float(said.guess is not None), said.comment)
        if word == "confirmed" and said.guess:
            if said.hardness is not None and said.guess.hardness is not None:
                self.hardness.add(said.hardness - said.guess.hardness, said.comment)
            if said.certainty is not None and said.guess.certainty is not None:
                self.certainty.add(said.certainty - said.guess.certainty, said.comment)

    def as_json(self) -> JSON:
        return {
            "counts": {word: self.counts[word] for word in OUTCOMES},
            "bulk": self.bulk,
            "first": estimate(self.first.share()),
            "top3": estimate(self.top3.share()),
            "recall": estimate(self.recall.share()),
            "found": estimate(self.found.share()),
            "hardness": estimate(self.hardness.steps()),
            "certainty": estimate(self.certainty.steps()),
        }


class Suggestions:
    """Suggestion against person, by tagger and prompt, by cut and by attribute."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, str, str], _Judgements] = defaultdict(_Judgements)

    def take(self, said: Said) -> None:
        word = outcome(said)
        is_hit = hit(said)
        for cut in ("", said.arm, BULK if said.bulk else SINGLE):
            for attribute in ("", said.attribute):
                row = self._rows[said.tagger, said.prompt, cut, attribute]
                row.take(said, word, is_hit)

    def as_json(self) -> list[JSON]:
        """A row for each tagger, prompt, cut and attribute, each in its order."""
        cuts, attributes = list(CUTS), list(ALL)
        order = sorted(
            self._rows, key=lambda key: (key[0], key[1], cuts.index(key[2]), attributes.index(key[3]))
        )
        return [
            {
                "tagger": tagger,
                "prompt": prompt,
                "cut": cut,
                "attribute": attribute,
                **self._rows[tagger, prompt, cut, attribute].as_json(),
            }
            for tagger, prompt, cut, attribute in order
        ]


class Arms:
    """Agreement with suggestions that were seen from the start, and that were seen after a first answer."""

    def __init__(self) -> None:
        self._assisted: dict[tuple[str, str], Scores] = defaultdict(Scores)
        self._blind: dict[str, Scores] = defaultdict(Scores)
        self._after: dict[str, Scores] = defaultdict(Scores)
        self._moved: dict[str, Scores] = defaultdict(Scores)

    def take(self, said: Said) -> None:
        if said.guess is None:
            return
        score = agrees(said.attribute, said.state, said.value, said.guess)
        if said.arm == ASSISTED and score is not None:
            for which in ("all", SINGLE) if not said.bulk else ("all",):
                for attribute in ("", said.attribute):
                    self._assisted[which, attribute].add(score, said.comment)
        if said.arm == BLIND and said.first is not None:
            before = agrees(said.attribute, said.first.state, said.first.value, said.guess)
            for attribute in ("", said.attribute):
                self._take_blind(attribute, before, score, said.comment)

    def _take_blind(self, attribute: str, before: float | None, after: float | None, comment: int) -> None:
        if before is not None:
            self._blind[attribute].add(before, comment)
        if before is not None and after is not None:
            self._after[attribute].add(after, comment)
            self._moved[attribute].add(after - before, comment)

    def shifts(self) -> list[JSON]:
        """Assisted less blind, of all answers and without those set for several rows at once."""
        found = []
        for which in ("all", SINGLE):
            for attribute in ALL:
                shift, gone = arms(self._assisted[which, attribute], self._blind[attribute])
                if shift.assisted.n or shift.blind.n or gone or not attribute:
                    whole = Estimate(
                        shift.value,
                        shift.low,
                        shift.high,
                        shift.assisted.n + shift.blind.n,
                        0,
                        words=shift.words,
                    )
                    found.append(
                        {
                            "answers": which,
                            "attribute": attribute,
                            "assisted": estimate(shift.assisted),
                            "blind": estimate(shift.blind),
                            "shift": estimate(whole),
                            "left_out": gone,
                        }
                    )
        return found

    def moves(self) -> list[JSON]:
        """The same people's answers before and after they saw the suggestion."""
        return [
            {
                "attribute": attribute,
                "before": estimate(self._blind[attribute].share()),
                "after": estimate(self._after[attribute].share()),
                "shift": estimate(self._moved[attribute].shift()),
            }
            for attribute in ALL
            if self._moved[attribute].values or not attribute
        ]


WHICH = {
    "all": "Every value beside a suggestion",
    "same": "Values that are the same as the first guess",
    "first": "First answers, before the suggestion was seen",
}


class Hardness:
    """The model's hardness against people's."""

    def __init__(self) -> None:
        self._pairs: dict[str, Counter[tuple[int, int]]] = {which: Counter() for which in WHICH}

    def take(self, said: Said) -> None:
        if said.guess is None or said.guess.hardness is None:
            return
        if said.state == State.VALUE and said.hardness is not None:
            pair = (said.guess.hardness, said.hardness)
            self._pairs["all"][pair] += 1
            self._pairs["same"][pair] += outcome(said) == "confirmed"
        first = said.first
        if first is not None and first.state == State.VALUE and first.hardness is not None:
            self._pairs["first"][said.guess.hardness, first.hardness] += 1

    def as_json(self) -> list[JSON]:
        found = []
        for which, counted in self._pairs.items():
            table = confusion(sorted(counted.elements()), MARKS)
            share = Scores()
            for place, (one, other) in enumerate(counted.elements()):
                share.add(float(one == other), place)
            found.append(
                {
                    "which": which,
                    "table": [list(row) for row in table.table],
                    "n": table.n,
                    "same": estimate(share.share("label")),
                    "linear": asdict(table.linear),
                    "quadratic": asdict(table.quadratic),
                }
            )
        return found


@dataclass
class _Matched:
    counts: Counter[Match] = field(default_factory=Counter)
    same: Scores = field(default_factory=Scores)

    def take(self, match: Match, cluster: int) -> None:
        self.counts[match] += 1
        self.same.add(float(match is Match.SAME), cluster)

    def as_json(self, of: str) -> JSON:
        counts = {match.value: self.counts[match] for match in Match}
        return {"counts": counts, "same": estimate(self.same.share(of))}


class Truth:
    """Labels against the facts of profiles, and suggestions against labels; by attribute and by hardness."""

    SIDES = ("labels", "suggestions")

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, int], _Matched] = defaultdict(_Matched)

    def take(self, said: Said) -> None:
        if said.state != State.VALUE:
            return
        if said.fact:
            self._take("labels", said, match_of(said.attribute, said.value, said.fact), said.profile)
        if said.guess is not None and said.guess.guesses:
            match = match_of(said.attribute, said.value, said.guess.guesses[0])
            self._take("suggestions", said, match, said.comment)

    def _take(self, side: str, said: Said, match: Match, cluster: int) -> None:
        for attribute in ("", said.attribute):
            for hardness in (0, said.hardness or 0) if said.hardness else (0,):
                self._rows[side, attribute, hardness].take(match, cluster)

    def as_json(self) -> list[JSON]:
        return list(self._each())

    def _each(self) -> Iterator[JSON]:
        """Hardness 0: of whatever hardness."""
        rows: Mapping[tuple[str, str, int], _Matched] = self._rows
        for side in self.SIDES:
            of = "profile" if side == "labels" else "comment"
            for attribute in ALL:
                for hardness in (0, *MARKS):
                    row = rows.get((side, attribute, hardness))
                    if row is not None:
                        head = {"side": side, "attribute": attribute, "hardness": hardness}
                        yield {**head, **row.as_json(of)}
