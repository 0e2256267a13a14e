"""What an adjudicator chose for each attribute, as a decision or as what is wrong with it. No database."""

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from annotation.domain.adjudication import (
    NOTHING,
    Opinion,
    agreed,
    merged,
    relate,
    relation,
)
from annotation.domain.labels import Problem, State
from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match
from simulation.domain.normalise import BadValue, canonical, same_value, squeeze

UNANIMOUS = "unanimous"
NOTE_LENGTH = 500
_MARKS = ("1", "2", "3", "4", "5")


@dataclass(frozen=True)
class Choice:
    """What came back for one attribute, as typed.

    `take` is a column's letter, "own" for the value in `own`, "none", "unsure", or "" where nothing was
    chosen. Empty marks: those of the column.
    """

    take: str = ""
    own: str = ""
    hardness: str = ""
    certainty: str = ""
    reason: str = ""
    note: str = ""
    guideline_gap: bool = False


@dataclass(frozen=True)
class Ruling:
    """The decision on one attribute."""

    opinion: Opinion
    reason: str
    note: str = ""
    guideline_gap: bool = False

    def as_json(self) -> dict[str, object]:
        """The form in which decisions and their events hold it."""
        return {
            "state": self.opinion.state.value,
            "value": self.opinion.value,
            "hardness": self.opinion.hardness,
            "certainty": self.opinion.certainty,
            "evidence": [asdict(quote) for quote in self.opinion.evidence],
            "reason": self.reason,
            "note": self.note,
            "guideline_gap": self.guideline_gap,
        }


def rule(
    attribute: Attribute, choice: Choice, voices: Mapping[str, Opinion], reasons: Collection[str]
) -> Ruling | list[Problem] | None:
    """The ruling that `choice` amounts to, or everything that is wrong with it.

    `voices` are the columns by letter, `reasons` the keys that may be given. An attribute that was left alone
    and on which the columns agree becomes their common answer; None where nobody judged it either.
    """
    take = choice.take or ("own" if choice.own.strip() else "")
    note = squeeze(choice.note)
    problems = _note_problems(attribute, note)
    if not take:
        common = _left_alone(attribute, choice, list(voices.values()))
        if isinstance(common, Problem):
            return [*problems, common]
        return problems or (Ruling(common, UNANIMOUS, note, choice.guideline_gap) if common.said else None)
    opinion = _opinion(attribute, choice, take, voices)
    if isinstance(opinion, list):
        if not choice.reason:
            opinion.append(Problem(attribute.key, "reason", "choose a reason"))
        return [*problems, *opinion]
    reason = _reason(attribute, choice, opinion, list(voices.values()), reasons)
    if isinstance(reason, Problem):
        return [*problems, reason]
    return problems or Ruling(opinion, reason, note, choice.guideline_gap)


def _note_problems(attribute: Attribute, note: str) -> list[Problem]:
    problems = []
    if len(note) > NOTE_LENGTH:
        said = f"the note has {len(note)} characters; at most {NOTE_LENGTH} are kept"
        problems.append(Problem(attribute.key, "note", said))
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in note):
        said = "the note holds a sign that cannot be printed; type it again"
        problems.append(Problem(attribute.key, "note", said))
    return problems


def _left_alone(attribute: Attribute, choice: Choice, opinions: list[Opinion]) -> Opinion | Problem:
    if relation(attribute, opinions) is not Match.SAME:
        return Problem(attribute.key, "take", "choose what holds")
    if choice.hardness or choice.certainty or choice.reason:
        return Problem(attribute.key, "take", "choose what holds, or leave marks and reason as they are")
    return agreed(opinions)


def _opinion(
    attribute: Attribute, choice: Choice, take: str, voices: Mapping[str, Opinion]
) -> Opinion | list[Problem]:
    """What was chosen, with marks and the quotes of those who say the same, or what is wrong with it."""
    column = NOTHING
    if take in ("none", "unsure"):
        return Opinion(State(take))
    if take == "own":
        try:
            value = canonical(attribute, choice.own)
        except BadValue as error:
            return [Problem(attribute.key, "own", error.problem)]
    else:
        column = voices.get(take, NOTHING)
        if not column.said:
            return [
                Problem(attribute.key, "take", "this column says nothing here (any more); choose another")
            ]
        if column.state is not State.VALUE:
            return Opinion(column.state)
        value = column.value
    hardness = _mark(attribute, "hardness", choice.hardness, column.hardness)
    certainty = _mark(attribute, "certainty", choice.certainty, column.certainty)
    if isinstance(hardness, Problem) or isinstance(certainty, Problem):
        return [mark for mark in (hardness, certainty) if isinstance(mark, Problem)]
    chosen = Opinion(State.VALUE, value)
    same = [one for one in voices.values() if relate(attribute, one, chosen) is Match.SAME]
    return Opinion(State.VALUE, value, hardness, certainty, merged(same))


def _mark(attribute: Attribute, name: str, typed: str, theirs: int | None) -> int | Problem:
    if typed in _MARKS:
        return int(typed)
    if typed:
        return Problem(attribute.key, name, f"{name} is a number from 1 to 5")
    return theirs or Problem(attribute.key, name, f"{name} is missing")


def _reason(
    attribute: Attribute,
    choice: Choice,
    opinion: Opinion,
    opinions: list[Opinion],
    reasons: Collection[str],
) -> str | Problem:
    undisputed = any(one.said for one in opinions) and all(
        relate(attribute, one, opinion) is Match.SAME for one in opinions
    )
    reason = choice.reason or (UNANIMOUS if undisputed else "")
    if not reason:
        return Problem(attribute.key, "reason", "choose a reason")
    if reason == UNANIMOUS and not undisputed:
        return Problem(attribute.key, "reason", "the annotators do not agree on this; choose another reason")
    if reason not in reasons:
        return Problem(attribute.key, "reason", "this reason is not on the list; choose another")
    return reason


def choice_of(attribute: Attribute, ruling: Ruling, voices: Mapping[str, Opinion]) -> Choice:
    """The choice that leads to a stored ruling, so that a decision opens as it was left."""
    opinion, note, gap = ruling.opinion, ruling.note, ruling.guideline_gap
    opinions = list(voices.values())
    if ruling.reason == UNANIMOUS and relation(attribute, opinions) is Match.SAME:
        common = agreed(opinions)
        if (common.state, common.value) == (opinion.state, opinion.value):
            return Choice(note=note, guideline_gap=gap)
    reason = "" if ruling.reason == UNANIMOUS else ruling.reason
    if opinion.state is not State.VALUE:
        return Choice(take=opinion.state.value, reason=reason, note=note, guideline_gap=gap)
    letter = next(
        (
            letter
            for letter, one in voices.items()
            if one.state is State.VALUE and same_value(attribute, one.value, opinion.value)
        ),
        "",
    )
    return Choice(
        take=letter or "own",
        own="" if letter else opinion.value,
        hardness=str(opinion.hardness or ""),
        certainty=str(opinion.certainty or ""),
        reason=reason,
        note=note,
        guideline_gap=gap,
    )
