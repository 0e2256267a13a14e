"""What people said about items whose answer is known. Truth: for leads only, never for labelers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Left

from annotation.domain.comparing import compare_labels
from annotation.domain.labels import State
from annotation.models import AttributeLabel, Gold, Queue
from simulation.domain.attributes import CATALOGUE
from simulation.domain.matching import Match

EXCERPT = 160
SLIPS_SHOWN = 20
_WORDS = {State.NONE: "nothing in the text", State.UNSURE: "cannot decide", State.UNTOUCHED: "not judged"}


@dataclass(frozen=True)
class Words:
    """A label as far as it is compared."""

    state: str
    value: str = ""

    def __str__(self) -> str:
        return self.value if self.state == State.VALUE else _WORDS.get(State(self.state), self.state)


@dataclass
class GoldCount:
    """How one person did: `n` labels with a known answer, of which some were slips or less precise."""

    n: int = 0
    slips: int = 0
    less_precise: int = 0

    @property
    def rate(self) -> float | None:
        """Slips of all, in percent."""
        return round(100 * self.slips / self.n, 1) if self.n else None

    def take(self, match: Match) -> None:
        self.n += 1
        self.slips += match is Match.DIFFERENT
        self.less_precise += match is Match.LESS_PRECISE


@dataclass(frozen=True)
class Slip:
    """A label that is not as the known answer, or says it less exactly."""

    person: int
    comment_id: str
    excerpt: str
    attribute: str
    gold: str
    said: str
    match: Match
    at: datetime

    @property
    def is_slip(self) -> bool:
        return self.match is Match.DIFFERENT

    @property
    def label(self) -> str:
        return CATALOGUE[self.attribute].label


@dataclass(frozen=True)
class GoldResult:
    people: dict[int, GoldCount]
    slips: list[Slip]
    """All of them, latest first."""

    @property
    def all(self) -> GoldCount:
        total = GoldCount()
        for one in self.people.values():
            total.n += one.n
            total.slips += one.slips
            total.less_precise += one.less_precise
        return total


def gold_of(queue: Queue) -> GoldResult:
    """The labels of answers within quota on gold items, as they stand now, against the known answers.

    Two queries. Attributes that the known answer leaves out and rows that a person did not judge are not
    counted.
    """
    known = dict(Gold.objects.filter(item__queue=queue, item__gold=True).values_list("item", "labels"))
    said = (
        AttributeLabel.objects.filter(
            annotation__item__in=list(known), annotation__over_quota=False, attribute__in=list(CATALOGUE)
        )
        .exclude(state=State.UNTOUCHED)
        .values(
            "attribute",
            "state",
            "value",
            item=F("annotation__item"),
            person=F("annotation__person"),
            at=F("annotation__submitted_at"),
            comment_id=F("annotation__comment__public_id"),
            excerpt=Left("annotation__comment__text", EXCERPT),
        )
        .order_by("-annotation__submitted_at", "-pk")
    )
    people: dict[int, GoldCount] = {}
    slips = []
    for row in said:
        answer = known[row["item"]].get(row["attribute"])
        if not answer:
            continue
        gold = Words(answer["state"], answer.get("value", ""))
        label = Words(row["state"], row["value"])
        match = compare_labels(CATALOGUE[row["attribute"]], gold, label)
        people.setdefault(row["person"], GoldCount()).take(match)
        if match is not Match.SAME:
            slips.append(
                Slip(
                    person=row["person"],
                    comment_id=row["comment_id"],
                    excerpt=row["excerpt"],
                    attribute=row["attribute"],
                    gold=str(gold),
                    said=str(label),
                    match=match,
                    at=row["at"],
                )
            )
    return GoldResult(people, slips)
