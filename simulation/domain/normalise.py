"""What a person or a model wrote for an attribute -> its canonical form, or the reason why not."""

import re
import unicodedata

from simulation.domain.attributes import Attribute, Kind

MAX_LENGTH = 200
OLDEST = 120
RANGE = re.compile(r"^(\d{1,3})(?:\s*(?:-|–|—|to|bis)\s*(\d{1,3}))?$")


class BadValue(Exception):
    """A value that an attribute cannot take; `problem` says what to write instead."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def squeeze(text: str) -> str:
    """NFC form with runs of white space made one blank and the ends trimmed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def vocabulary_form(attribute: Attribute, text: str) -> str | None:
    """The vocabulary's spelling of `text`, or None. Case does not matter, nor do known synonyms and words
    of the other languages of the catalogue: “verheiratet” is “married”."""
    folded = squeeze(text).casefold()
    for value in attribute.values:
        if value.casefold() == folded:
            return value
    return (attribute.synonyms or {}).get(folded) or attribute.from_language(folded)


def said_in(attribute: Attribute, value: str, language: str) -> str:
    """A value in the words of a language, free words as they stand."""
    known = vocabulary_form(attribute, value)
    return value if known is None or language == "en" else attribute.in_language(language).of(known)


def canonical(attribute: Attribute, text: str) -> str:
    """The form in which a person's value is stored.

    Raises BadValue for nothing, for a value outside a closed vocabulary, for an age that is neither
    a number nor a range within 1-120, and for more than 200 characters.
    """
    words = squeeze(text)
    if not words:
        raise BadValue("Write a value, or choose “No evidence” or “Unsure”.")
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in words):
        raise BadValue("The value holds a sign that cannot be printed; type it again.")
    if len(words) > MAX_LENGTH:
        raise BadValue(f"At most {MAX_LENGTH} characters; this has {len(words)}.")
    if attribute.kind is Kind.AGE:
        return _age(words)
    if attribute.values:
        known = vocabulary_form(attribute, words)
        if known is not None:
            return known
        if not attribute.takes_text:
            raise BadValue(f"“{words}” is not one of: {', '.join(attribute.values)}.")
    return words


def _age(words: str) -> str:
    found = RANGE.match(words)
    if not found:
        raise BadValue("Write a number or a range, such as 30 or 28-32.")
    low, high = int(found[1]), int(found[2] or found[1])
    if not 1 <= low <= OLDEST or not 1 <= high <= OLDEST:
        raise BadValue(f"An age lies between 1 and {OLDEST}.")
    if high < low:
        raise BadValue(f"The range runs backwards: write {high}-{low}.")
    return str(low) if low == high else f"{low}-{high}"


def same_value(attribute: Attribute, one: str, other: str) -> bool:
    """Whether two values are the same in canonical form, letter case aside.

    Free words that cannot be made canonical are compared as they stand.
    """
    return _comparable(attribute, one) == _comparable(attribute, other)


def _comparable(attribute: Attribute, text: str) -> str:
    try:
        return canonical(attribute, text).casefold()
    except BadValue:
        return squeeze(text).casefold()
