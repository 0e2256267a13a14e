"""Several people labelled one attribute of one comment: which of their labels is the comment's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.domain.labels import State
from evaluation.domain.rollup import CommentLabel, Policy, roll_up
from evaluation.selectors.label_sources import Said
from simulation.domain.attributes import Attribute
from simulation.domain.normalise import same_value


class Several(StrEnum):
    """What becomes of several people's labels on one comment that nobody has decided."""

    MAJORITY = "majority"
    FIRST = "first"
    ALL_AGREE = "all agree"


SEVERAL_WORDS = {
    Several.MAJORITY: "the value that most people gave, by its easiest label; of values that equally many "
    "gave the one with the easiest label, then the one given first. Who gave no value has no vote.",
    Several.FIRST: "the label that was given first.",
    Several.ALL_AGREE: "only where all who looked gave the same value, by its easiest label; one who found "
    "no evidence, or was unsure, is enough to leave it out.",
}


@dataclass(frozen=True)
class Heard:
    """The label of a comment; None where there is none. `differ`: the people's answers were not the same.
    `tied`: the easiest label decided between values that equally many people gave."""

    label: CommentLabel | None
    differ: bool = False
    tied: bool = False


def heard(attribute: Attribute, voices: Sequence[Said], several: Several) -> Heard:
    """The label of one comment for one attribute, from what was said of it in the order of the answers.

    A decision that gives a value stands before everything that people said, the latest of several. Of one
    person who answered twice, in two queues, the later answer counts (for `FIRST` the earlier one). An
    untouched suggestion is heard only where nobody said anything else.
    """
    decided = [one for one in voices if not one.is_label]
    if decided:
        return Heard(_label(decided[-1]))
    spoken = [one for one in voices if one.state != State.UNTOUCHED]
    if not spoken:
        return Heard(_label(voices[0]) if voices else None)
    own = {one.who: one for one in (reversed(spoken) if several is Several.FIRST else spoken)}
    people = sorted(own.values(), key=lambda one: one.key)
    values = [_label(one) for one in people if one.state == State.VALUE]
    if not values:
        return Heard(None)
    groups = Counter(_group(attribute, values, one.value) for one in values)
    differ = len(groups) > 1 or len(values) < len(people)
    if several is Several.FIRST:
        return Heard(values[0], differ)
    if several is Several.ALL_AGREE and differ:
        return Heard(None, differ)
    found = roll_up(attribute, values, Policy.MOST_FREQUENT)
    most = max(groups.values())
    return Heard(values[found.source] if found else None, differ, list(groups.values()).count(most) > 1)


def _group(attribute: Attribute, labels: Sequence[CommentLabel], value: str) -> int:
    """The place of the first label of the same value."""
    return next(at for at, one in enumerate(labels) if same_value(attribute, one.value, value))


def _label(one: Said) -> CommentLabel:
    return CommentLabel(one.value, one.hardness, one.certainty)
