"""The `guesses` of a comment: what a tagger suggested, attribute by attribute."""

from __future__ import annotations

from typing import Any

from annotation.exchange.problems import NOT_GIVEN, Place, brief
from annotation.exchange.records import TAGGER, SuggestionRecord
from simulation.domain.attributes import CATALOGUE, hardness_of_word

FIELDS = ("feature", "guesses", "hardness", "certainty", "model_eval")
LONGEST_WORD = 40
LONGEST_MODEL = 100
MODEL = "model"
"""Optional: who guesses. Suggestions of several models for one attribute then stand side by side."""


def read_guesses(given: Any, place: Place) -> list[SuggestionRecord] | None:
    """The suggestions of `given`, in order; None where it is neither null nor a list."""
    if not given:
        if given is None or given == []:
            return []
        place.problem("guesses", f"must be null or a list, not {brief(given)}")
        return None
    if not isinstance(given, list):
        place.problem("guesses", f"must be null or a list, not {brief(given)}")
        return None
    read: list[SuggestionRecord] = []
    seen: dict[tuple[str, str], int] = {}
    for position, one in enumerate(given):
        before = place.total
        suggestion = _suggestion(one, position, place)
        whose = (suggestion.tagger, suggestion.attribute) if suggestion else ("", "")
        if suggestion and seen.setdefault(whose, position) != position:
            first = seen[whose]
            message = f"“{suggestion.attribute}” has been guessed in guesses[{first}]; merge the two"
            place.problem(f"guesses[{position}].feature", message)
        if place.total != before:
            place.problems.invalid["suggestions"] += 1
        elif suggestion:
            read.append(suggestion)
    return read


def _suggestion(one: Any, position: int, place: Place) -> SuggestionRecord | None:
    where = f"guesses[{position}]"
    if not isinstance(one, dict):
        place.problem(where, f"must be an object with {', '.join(FIELDS[:4])}; it is {brief(one)}")
        return None
    feature = one.get("feature")
    if not isinstance(feature, str) or feature not in CATALOGUE:
        known = ", ".join(CATALOGUE)
        place.problem(f"{where}.feature", f"{brief(feature)} is no known attribute; known are {known}")
        return None
    certainty = one.get("certainty")
    if certainty is not None and (type(certainty) is not int or not 0 <= certainty <= 5):
        place.problem(f"{where}.certainty", f"must be a whole number from 0 to 5, not {brief(certainty)}")
        certainty = None
    word = _word(one.get("hardness"), where, place)
    place.inside(where).refuse_reserved(one)
    extra = {key: value for key, value in one.items() if key not in FIELDS}
    if len(one) - len(extra) < len(FIELDS):
        extra[NOT_GIVEN] = [key for key in FIELDS if key not in one]
    if certainty == 0:
        extra["certainty"] = 0
    if one.get("hardness", "") is None:
        extra["hardness"] = None
    return SuggestionRecord(
        attribute=feature,
        position=position,
        guesses=_values(one.get("guesses"), where, place),
        hardness_word=word,
        hardness=hardness_of_word(word),
        certainty=certainty or None,
        model_eval=_scores(one.get("model_eval"), where, place),
        extra=extra,
        tagger=_model(one.get(MODEL), where, place),
    )


def _model(given: Any, where: str, place: Place) -> str:
    """The tagger's name; what the field said stays in the suggestion's `extra`, and comes back out."""
    if given is None or given == "":
        return TAGGER
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_MODEL:
        message = f"must be a model's name of 1 to {LONGEST_MODEL} characters, not {brief(given)}"
        place.problem(f"{where}.{MODEL}", message)
        return TAGGER
    return given


def _word(given: Any, where: str, place: Place) -> str:
    if given is None:
        return ""
    if not isinstance(given, str):
        place.problem(f"{where}.hardness", f"must be a word such as “direct”, not {brief(given)}")
    elif len(given) > LONGEST_WORD:
        place.problem(
            f"{where}.hardness", f"has {len(given)} characters; at most {LONGEST_WORD} are possible"
        )
    else:
        return given
    return ""


def _values(given: Any, where: str, place: Place) -> list[Any]:
    if not isinstance(given, list):
        place.problem(f"{where}.guesses", f"must be a list of values, best first, not {brief(given)}")
        return []
    for index, guess in enumerate(given):
        if isinstance(guess, bool) or not isinstance(guess, str | int | float):
            place.problem(f"{where}.guesses[{index}]", f"must be text or a number, not {brief(guess)}")
    return given


def _scores(given: Any, where: str, place: Place) -> Any:
    if given is None:
        return None
    if not isinstance(given, list) or any(
        isinstance(score, bool) or not isinstance(score, int | float) for score in given
    ):
        place.problem(f"{where}.model_eval", f"must be a list of numbers, not {brief(given)}")
    return given
