"""From labels of comments to labels of the profile, by named policies; "revised" and "inherited" labels.

Published (SynthPAI, appendix on aggregation): per author and attribute the label with the least hardness, the
first of several. The two published files differ in how they begin, so both are here by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from annotation.domain.rollup import Claim
from annotation.domain.rollup import roll_up as easiest_claim
from evaluation.domain.verdicts import Label
from simulation.domain.attributes import Attribute, hardness_of_word
from simulation.domain.normalise import same_value

KEPT_ABOVE = 0.1
"""A label scored above this against the persona's truth is kept in the revised set."""


class Policy(StrEnum):
    """Which of an author's comment labels becomes the profile's."""

    MINIMUM_HARDNESS = "minimum hardness"
    """The least hardness of those above 0, the first of several. Published variant B."""
    FIRST_COMMENT_BLOCKS = "first comment blocks"
    """As above, but the first comment's label stands from the start, prefilled or not: a value there with
    hardness 0 is never replaced. Later ones need a value. Published variant A."""
    MOST_CERTAIN = "most certain"
    """The highest certainty, then the least hardness, then the first."""
    LATEST = "latest"
    """The last one: the most recent statement wins, as people are told when they label."""
    MOST_FREQUENT = "most frequent"
    """The value given most often, by its easiest label; of equally frequent ones the easiest."""


@dataclass(frozen=True)
class CommentLabel:
    """What was labelled on one comment. Hardness and certainty 1-5, 0 where not given: such a label is an
    untouched suggestion and does not count."""

    value: str
    hardness: int
    certainty: int

    @property
    def counts(self) -> bool:
        """Whether somebody has labelled it."""
        return self.hardness > 0


@dataclass(frozen=True)
class ProfileLabel:
    """The label of an author's profile for one attribute.

    `source` is the place of the comment label it comes from, in the sequence that was rolled up; -1 where it
    comes from none. `truth_score` is its score against the persona's truth (0, 0.5, 1), None where that was
    not looked at. `category` is the education category, or empty.
    """

    attribute: str
    value: str
    hardness: int
    certainty: int
    source: int = -1
    truth_score: float | None = None
    category: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is a label: published figures count those of hardness 1 and more."""
        return self.hardness > 0

    def as_label(self) -> Label:
        """The form in which guesses are scored against it."""
        return Label(self.attribute, self.value, self.category, self.truth_score)


def roll_up(
    attribute: Attribute, labels: Sequence[CommentLabel], policy: Policy = Policy.MINIMUM_HARDNESS
) -> ProfileLabel | None:
    """The profile's label from the labels of the author's comments, in the order of the comments.

    The certainty is that of the chosen comment, no maximum. None where no label counts; under
    FIRST_COMMENT_BLOCKS the result can be a label that does not count.
    """
    place = _BY_POLICY[policy](attribute, labels)
    if place is None:
        return None
    chosen = labels[place]
    return ProfileLabel(attribute.key, chosen.value, chosen.hardness, chosen.certainty, place)


def _easiest(attribute: Attribute, labels: Sequence[CommentLabel]) -> int | None:
    counted = _counted(labels)
    found = easiest_claim(attribute, [Claim(labels[at].value, labels[at].hardness) for at in counted])
    return None if found is None else counted[found.source]


def _first_blocks(attribute: Attribute, labels: Sequence[CommentLabel]) -> int | None:
    if not labels:
        return None
    chosen = 0
    for place, one in enumerate(labels):
        begins = not labels[chosen].value
        if one.value and one.counts and (begins or one.hardness < labels[chosen].hardness):
            chosen = place
    return chosen if labels[chosen].value or labels[chosen].counts else None


def _most_certain(attribute: Attribute, labels: Sequence[CommentLabel]) -> int | None:
    counted = _counted(labels)
    return min(counted, key=lambda at: (-labels[at].certainty, labels[at].hardness, at), default=None)


def _latest(attribute: Attribute, labels: Sequence[CommentLabel]) -> int | None:
    return max(_counted(labels), default=None)


def _most_frequent(attribute: Attribute, labels: Sequence[CommentLabel]) -> int | None:
    groups: list[list[int]] = []
    for place in _counted(labels):
        value = labels[place].value
        own = next((one for one in groups if same_value(attribute, labels[one[0]].value, value)), None)
        if own is None:
            groups.append([place])
        else:
            own.append(place)
    firsts = [(min(one, key=lambda at: (labels[at].hardness, at)), len(one)) for one in groups]
    best = min(firsts, key=lambda one: (-one[1], labels[one[0]].hardness, one[0]), default=None)
    return None if best is None else best[0]


def _counted(labels: Sequence[CommentLabel]) -> list[int]:
    return [place for place, one in enumerate(labels) if one.counts]


_BY_POLICY = {
    Policy.MINIMUM_HARDNESS: _easiest,
    Policy.FIRST_COMMENT_BLOCKS: _first_blocks,
    Policy.MOST_CERTAIN: _most_certain,
    Policy.LATEST: _latest,
    Policy.MOST_FREQUENT: _most_frequent,
}


def revised(label: ProfileLabel, truth_score: float, category: str = "") -> ProfileLabel:
    """The label after comparison with the persona's truth (published `human_evaluated`).

    `truth_score` is the score of the label against the truth (`acc_gt`), by rule, judge or person. Above 0.1
    the label stays, with the category where one is given; else its value, hardness and certainty are emptied,
    so that it no longer counts. A label that did not count before does not count after.
    """
    if truth_score > KEPT_ABOVE:
        return replace(label, truth_score=truth_score, category=category)
    return replace(label, value="", hardness=0, certainty=0, truth_score=truth_score, category="")


@dataclass(frozen=True)
class Tag:
    """A suggestion of a model on one comment, kept after its check against the profile. `hardness_word` is
    direct, indirect or complicated (1, 2, 4); certainty 1-5, 0 where not given."""

    hardness_word: str
    certainty: int


def inherited(
    attribute: Attribute,
    fact: str,
    tags: Iterable[Tag],
    *,
    policy: Policy = Policy.MINIMUM_HARDNESS,
    category: str = "",
) -> ProfileLabel | None:
    """The label that an author inherits without any person: the persona's truth, where a model has tagged the
    attribute on a comment (paper, section 4.1). Hardness and certainty are those of the chosen tag.

    None where the persona has no fact, or no tag has a known hardness word. `source` is the place of the tag.
    """
    if not fact.strip():
        return None
    labels = [CommentLabel(fact, hardness_of_word(one.hardness_word) or 0, one.certainty) for one in tags]
    found = roll_up(attribute, labels, policy)
    if found is None or not found.counts:
        return None
    return replace(found, truth_score=1.0, category=category)


def count_by_hardness(labels: Iterable[ProfileLabel]) -> Mapping[str, tuple[int, ...]]:
    """Attribute -> how many labels of hardness 1 to 5 (published figure 6). Others are not counted."""
    counts: dict[str, list[int]] = {}
    for one in labels:
        if 1 <= one.hardness <= 5:
            counts.setdefault(one.attribute, [0] * 5)[one.hardness - 1] += 1
    return {key: tuple(row) for key, row in counts.items()}
