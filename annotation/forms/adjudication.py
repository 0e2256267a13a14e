"""What the decision page and the filter of the list send, read into typed values."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.domain.rulings import Choice
from annotation.selectors.adjudication import KINDS, OPEN
from simulation.domain.attributes import CATALOGUE, TARGETS

LONGEST = 2000
"""Signs of a field that are read at all; what is longer is refused with a sentence by the rules."""


def read_choices(posted: Mapping[str, str]) -> dict[str, Choice]:
    """Attribute key -> what was typed for it; a field that is missing counts as left alone."""

    def part(key: str, name: str) -> str:
        return posted.get(f"{key}-{name}", "").strip()[:LONGEST]

    return {
        attribute.key: Choice(
            take=part(attribute.key, "take"),
            own=part(attribute.key, "own"),
            hardness=part(attribute.key, "hardness"),
            certainty=part(attribute.key, "certainty"),
            reason=part(attribute.key, "reason"),
            note=part(attribute.key, "note"),
            guideline_gap=bool(part(attribute.key, "gap")),
        )
        for attribute in TARGETS
    }


@dataclass(frozen=True)
class Wanted:
    """The filter of the list: a kind of items, an attribute ("" for any), the mark to begin behind."""

    kind: str = OPEN
    attribute: str = ""
    after: str = ""


def read_filter(asked: Mapping[str, str]) -> Wanted:
    """Words that the page does not know count as not given."""
    kind, attribute = asked.get("kind", ""), asked.get("attribute", "")
    return Wanted(
        kind if kind in KINDS else OPEN,
        attribute if attribute in CATALOGUE else "",
        asked.get("after", "")[:30],
    )


def read_numbers(posted: Mapping[str, str], *names: str) -> list[int]:
    """The whole numbers of these fields; -1 for what is none, which equals no count."""
    return [
        int(text) if (text := posted.get(name, "")).isdecimal() and len(text) < 10 else -1 for name in names
    ]
