"""The known answer to a gold item, attribute by attribute. Rules only, no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.labels import Problem, State
from simulation.domain.attributes import Attribute
from simulation.domain.normalise import BadValue, canonical

JUDGED = (State.VALUE, State.NONE, State.UNSURE)


@dataclass(frozen=True)
class Typed:
    """What stands in one row of the form for a known answer. An empty state: the attribute is not checked."""

    state: str = ""
    value: str = ""
    hardness: str = ""
    certainty: str = ""


@dataclass(frozen=True)
class Known:
    """What is right for one attribute. Scales that are None are not part of the answer."""

    state: State
    value: str = ""
    hardness: int | None = None
    certainty: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The form in which `Gold.labels` keeps it."""
        return {
            "state": self.state.value,
            "value": self.value,
            "hardness": self.hardness,
            "certainty": self.certainty,
        }


def typed(label: Mapping[str, Any]) -> Typed:
    """A stored label as the form shows it."""
    scales = {scale: str(label.get(scale) or "") for scale in ("hardness", "certainty")}
    return Typed(str(label.get("state") or ""), str(label.get("value") or ""), **scales)


def read_known(attribute: Attribute, row: Typed) -> Known | list[Problem] | None:
    """The known answer of one row; None where the attribute is not checked; or everything wrong with it.

    A value without a state means that value. Beside “no evidence” and “unsure” a value and scales say
    nothing and are dropped.
    """
    state = row.state or (State.VALUE.value if row.value else "")
    if not state:
        return None
    if state not in {one.value for one in JUDGED}:
        return [Problem(attribute.key, "state", f"“{state[:20]}” is not on the list; choose again.")]
    if state != State.VALUE.value:
        return Known(State(state))
    problems: list[Problem] = []
    value = ""
    try:
        value = canonical(attribute, row.value)
    except BadValue as error:
        problems.append(Problem(attribute.key, "value", error.problem))
    scales: dict[str, int | None] = {}
    for scale, words in (("hardness", row.hardness), ("certainty", row.certainty)):
        if words and words not in {"1", "2", "3", "4", "5"}:
            told = f"{scale.capitalize()} is a number from 1 to 5, or left open; not “{words[:20]}”."
            problems.append(Problem(attribute.key, scale, told))
        scales[scale] = int(words) if words in {"1", "2", "3", "4", "5"} else None
    return problems or Known(State.VALUE, value, scales["hardness"], scales["certainty"])
