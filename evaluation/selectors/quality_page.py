"""The report of label quality as its page reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_uppercase
from typing import Any

from django.db.models import Count

from evaluation.domain.quality import CUTS, JUDGED
from evaluation.models import LabelSet, ProfileLabel
from evaluation.selectors.quality import PERSON, REVIEWER
from evaluation.selectors.quality_numbers import Number, agreed, coefficient, points, share, steps
from simulation.domain.attributes import CATALOGUE, HARDNESS, HARDNESS_WORDS, TARGETS
from simulation.models import Corpus, User

Content = Mapping[str, Any]
ALL = "All"
WORDS_OF = {number: word for word, number in HARDNESS_WORDS.items()}


def attribute_name(key: str) -> str:
    """The attribute's label; “All” for all together."""
    return CATALOGUE[key].label if key in CATALOGUE else key or ALL


@dataclass(frozen=True)
class Judged:
    """Labels beside the suggestions of one tagger and prompt: of one attribute, or of one cut."""

    name: str
    is_sum: bool
    counts: Mapping[str, int]
    bulk: int
    first: Number
    top3: Number
    recall: Number
    found: Number
    hardness: Number
    certainty: Number

    @property
    def judged(self) -> int:
        return sum(self.counts[word] for word in JUDGED)

    @property
    def open(self) -> int:
        """Suggestions that nobody judged."""
        return self.counts["left"] + self.counts["untouched"]

    @classmethod
    def of(cls, row: Content, name: str) -> Judged:
        return cls(
            name=name,
            is_sum=not row["attribute"] and not row["cut"],
            counts=row["counts"],
            bulk=row["bulk"],
            first=share(row["first"]),
            top3=share(row["top3"]),
            recall=share(row["recall"]),
            found=share(row["found"]),
            hardness=steps(row["hardness"]),
            certainty=steps(row["certainty"]),
        )


@dataclass(frozen=True)
class Margins:
    """One line of the table of model against person (the paper's Table 3): what people said where the model
    suggested something, or did not."""

    name: str
    value: int
    none: int
    unsure: int
    left: int
    """Not judged, with a value beside it: the paper counts these as labels."""
    untouched: int


@dataclass(frozen=True)
class Source:
    """The suggestions of one tagger and prompt."""

    tagger: str
    prompt: str
    attributes: list[Judged]
    cuts: list[Judged]
    margins: tuple[Margins, Margins]

    @property
    def name(self) -> str:
        return self.tagger or "No suggestion to compare with"


def sources(content: Content) -> list[Source]:
    """By tagger and prompt; the row of all attributes last."""
    found = []
    for (tagger, prompt), group in groupby(
        content["suggestions"], key=lambda row: (row["tagger"], row["prompt"])
    ):
        rows = list(group)
        whole = [row for row in rows if not row["cut"]]
        everything = next(row for row in whole if not row["attribute"])
        attributes = [row for row in whole if row["attribute"]] + [everything]
        cuts = [row for row in rows if row["cut"] and not row["attribute"]]
        found.append(
            Source(
                tagger,
                prompt,
                [Judged.of(row, attribute_name(row["attribute"])) for row in attributes],
                [Judged.of(row, CUTS[row["cut"]]) for row in cuts],
                margins(everything["counts"]),
            )
        )
    return found


def margins(counts: Mapping[str, int]) -> tuple[Margins, Margins]:
    """The two lines of Table 3, from the counts of outcomes."""
    some = sum(counts[word] for word in ("confirmed", "less_precise", "different"))
    with_one = Margins(
        "Suggested", some, counts["rejected"], counts["unsure"], counts["left"], counts["untouched"]
    )
    alone = (counts[word] for word in ("added", "none", "unsure_alone", "left_alone", "untouched_alone"))
    return with_one, Margins("Not suggested", *alone)


@dataclass(frozen=True)
class Contrast:
    """Agreement with suggestions in two arms, or before and after, and the difference."""

    name: str
    is_sum: bool
    one: Number
    other: Number
    shift: Number
    left_out: int = 0


def shifts(content: Content, answers: str) -> list[Contrast]:
    """Assisted, blind, assisted less blind; `answers` is "all" or "single" (without bulk)."""
    rows = [row for row in content["shifts"] if row["answers"] == answers]
    return [
        Contrast(
            attribute_name(row["attribute"]),
            not row["attribute"],
            share(row["assisted"]),
            share(row["blind"]),
            points(row["shift"]),
            row["left_out"],
        )
        for row in _sum_last(rows)
    ]


def moves(content: Content) -> list[Contrast]:
    """The same people before and after they saw the suggestion."""
    return [
        Contrast(
            attribute_name(row["attribute"]),
            not row["attribute"],
            share(row["before"]),
            share(row["after"]),
            points(row["shift"]),
        )
        for row in _sum_last(content["moves"])
    ]


def _sum_last(rows: Iterable[Content]) -> list[Content]:
    return sorted(rows, key=lambda row: not row["attribute"])


@dataclass(frozen=True)
class Agreement:
    """The measures of one attribute; of all together some are not given."""

    name: str
    is_sum: bool
    units: int
    raters: int
    percent: Number
    nominal: Number
    aware: Number | None
    ac1: Number
    hardness: Number
    certainty: Number


def agreement(content: Content, part: str) -> list[Agreement]:
    """`part` is "ordinary" or "gold"; none where nobody answered."""
    by_attribute: dict[str, dict[str, Content]] = {}
    for row in content["agreement"]:
        if row["part"] == part:
            by_attribute.setdefault(row["attribute"], {})[row["measure"]] = row
    if not by_attribute.get("", {}).get("percent", {}).get("answers"):
        return []
    order = [*(one.key for one in TARGETS if one.key in by_attribute), ""]
    return [_agreement(key, by_attribute[key]) for key in order]


def _agreement(key: str, found: Mapping[str, Content]) -> Agreement:
    percent = found["percent"]
    return Agreement(
        attribute_name(key),
        not key,
        percent["units"],
        percent["raters"],
        agreed(percent),
        coefficient(found["nominal"]),
        coefficient(found["aware"]) if "aware" in found else None,
        coefficient(found["ac1"]),
        coefficient(found["hardness"]),
        coefficient(found["certainty"]),
    )


@dataclass(frozen=True)
class Person:
    letter: str
    name: str
    answers: int


@dataclass(frozen=True)
class Pair:
    letters: str
    names: str
    comments: int
    kappa: Number
    same: Number | None


@dataclass(frozen=True)
class People:
    """The people with the most answers, and the table of kappas: a row each, None on the diagonal."""

    people: list[Person]
    table: list[tuple[Person, list[Number | None]]]
    pairs: list[Pair]


def people(content: Content) -> People:
    """One query, for the names of people here; somebody whose account is gone is “person”."""
    keys = [row["person"] for row in content["people_compared"]]
    names = names_of(keys)
    listed = [
        Person(ascii_uppercase[place % 26], names[row["person"]], row["answers"])
        for place, row in enumerate(content["people_compared"])
    ]
    of_key = dict(zip(keys, listed, strict=True))
    pairs, kappas = [], {}
    for row in content["pairs"]:
        one, other = of_key[row["one"]], of_key[row["other"]]
        kappa = coefficient(row["kappa"])
        kappas[one.letter, other.letter] = kappas[other.letter, one.letter] = kappa
        same = share(row["same"]) if row["same"] else None
        pairs.append(
            Pair(f"{one.letter}–{other.letter}", f"{one.name}, {other.name}", row["comments"], kappa, same)
        )
    table = [(one, [kappas.get((one.letter, other.letter)) for other in listed]) for one in listed]
    return People(listed, table, pairs)


def names_of(keys: Sequence[str]) -> dict[str, str]:
    """Rater keys of a report -> names. One query."""
    here = {key: int(key.removeprefix(PERSON)) for key in keys if key.startswith(PERSON)}
    users = User.objects.in_bulk(set(here.values()))
    return {
        key: (users[here[key]].username if here[key] in users else "person")
        if key in here
        else f"{key.removeprefix(REVIEWER)} (imported)"
        for key in keys
    }


@dataclass(frozen=True)
class HardnessTable:
    """Rows: what the model said, as (number, word, counts by the person's hardness)."""

    which: str
    n: int
    rows: list[tuple[int, str, list[int]]]
    same: Number
    linear: Number
    quadratic: Number


def hardness(content: Content) -> list[HardnessTable]:
    """The three tables of hardness; rows of numbers that have a word, and of others that occur."""
    return [
        HardnessTable(
            row["which"],
            row["n"],
            [
                (mark.number, WORDS_OF.get(mark.number, ""), counts)
                for mark, counts in zip(HARDNESS, row["table"], strict=True)
                if mark.number in WORDS_OF or any(counts)
            ],
            share(row["same"]),
            coefficient(row["linear"]),
            coefficient(row["quadratic"]),
        )
        for row in content["hardness"]
    ]


@dataclass(frozen=True)
class Matched:
    name: str
    is_sum: bool
    n: int
    same: int
    less_precise: int
    different: int
    share: Number


def truth(content: Content, side: str, *, by: str) -> list[Matched]:
    """Labels against facts (`side` "labels") or suggestions against labels ("suggestions"), by "attribute"
    or by "hardness"."""
    rows = [row for row in content["truth"] if row["side"] == side]
    if by == "attribute":
        rows = _sum_last(row for row in rows if not row["hardness"])
    else:
        rows = [row for row in rows if row["hardness"] and not row["attribute"]]
    words = {mark.number: f"{mark.number} {mark.word}" for mark in HARDNESS}
    return [
        Matched(
            words[row["hardness"]] if row["hardness"] else attribute_name(row["attribute"]),
            not row["attribute"] and not row["hardness"],
            row["same"]["n"],
            row["counts"]["same"],
            row["counts"]["less precise"],
            row["counts"]["different"],
            share(row["same"]),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Counts:
    """How many labels of each hardness an attribute has."""

    name: str
    counts: list[int]

    @property
    def n(self) -> int:
        return sum(self.counts)


def comment_counts(content: Content) -> list[Counts]:
    """Labels of comments (the paper's Fig. 7), in the catalogue's order."""
    return [Counts(attribute_name(row["attribute"]), row["hardness"]) for row in content["counts"]]


def profile_counts(labels: LabelSet) -> list[Counts]:
    """Labels of profiles (the paper's Fig. 6). One query."""
    rows = (
        ProfileLabel.objects.filter(label_set=labels, hardness__gte=1)
        .order_by()
        .values_list("attribute", "hardness")
        .annotate(n=Count("pk"))
    )
    counted = Counter({(attribute, mark): n for attribute, mark, n in rows})
    return [Counts(one.label, [counted[one.key, mark.number] for mark in HARDNESS]) for one in TARGETS]


def label_sets(corpus: Corpus) -> list[LabelSet]:
    """The sets of a corpus that have labels. One query."""
    return list(LabelSet.objects.filter(corpus=corpus, labels__gt=0).order_by("name"))
