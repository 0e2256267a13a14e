"""What a tagger wrote for one attribute -> guesses, a certainty and a hardness word."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from simulation.domain.attributes import HARDNESS_OTHERS, HARDNESS_WORDS, Attribute, Kind
from simulation.domain.normalise import MAX_LENGTH, squeeze

MOST = 3
"""Taggers are asked for three guesses, best first."""
LONGEST_WORD = 40
LONGEST = 2000
"""Characters of a list or an entry that are looked at; no three guesses need so many."""

NOTHING = re.compile(
    r"(?:none|n/?a|null|nil|nothing|unknown|undetermined|not (?:specified|applicable|given|known|guessable)"
    r"|keine?|nichts|unbekannt|keine angaben?|kein hinweis"
    r"|no guess(?:es)?|cannot be (?:guessed|determined|inferred))?(?: ?\((?:no|not)\b[^()]*\))?|[-–—?]+",
    re.IGNORECASE,
)
AGE = re.compile(
    r"(?:(?:about|around|approximately|approx\.?|circa|ca\.|etwa|ungefähr|rund|~) ?)?"
    r"(\d{1,3})(?: ?(?:-|–|—|to|bis) ?(\d{1,3}))?"
    r"(?:[ -]?(?:years?(?:[ -]olds?| of age)?|yrs?|y/?o|jahre?(?: alt)?))?",
    re.IGNORECASE,
)
STEP = re.compile(r"^(?:[-•*+]|\d{1,2}[.)])\s+")
MARKUP = " \t*_`[]"
OPENING = "\"'“‘«"
CLOSING = "\"'”’»"
BETWEEN_QUOTED = re.compile(rf"(?<=[{CLOSING}])\s*[;,]\s*(?=[{OPENING}])")
BETWEEN_NUMBERED = re.compile(r"(?:(?<![\s,])[\s,]+)?\b\d[.)]\s+")
COMMA = re.compile(r",(?!\d{3}\b)(?![^()]{0,200}\))")
"""A comma that parts guesses: not that of 50,000 and not one in parentheses."""
ONE_TO_FIVE = re.compile(r"(?<![\w./])[1-5](?!\w|\.\d|\s*%)")


@dataclass(frozen=True)
class Guesses:
    """At most three guesses, best first, and what had to be done to the list."""

    words: tuple[str, ...]
    notes: tuple[str, ...] = ()


def clean(text: str) -> str:
    """One entry without list signs, markup, quotes, a closing stop and signs that cannot be stored."""
    kept = "".join(" " if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in text[:LONGEST])
    words = STEP.sub("", squeeze(kept).strip(MARKUP)).strip(MARKUP).rstrip(" ,;")
    while len(words) > 1 and words[0] in OPENING and words[-1] in CLOSING:
        words = words[1:-1].strip(MARKUP)
    if words.endswith(".") and words.count(".") == 1:
        words = words[:-1].rstrip()
    return words


def split(attribute: Attribute, text: str) -> list[str]:
    """The entries of a list as they stand: parted by `;`, else by lines, `|`, numbers, ` / ` or commas.

    Quoted entries are parted between the quotes. A place has a comma of its own: see `_places`.
    """
    words = text.strip()[:LONGEST]
    if len(words) > 1 and words[0] in OPENING and words[-1] in CLOSING:
        return BETWEEN_QUOTED.split(words)
    for sign in (";", "\n", "|"):
        if sign in words:
            return words.split(sign)
    if re.match(r"1[.)]\s", words):
        return [one for one in BETWEEN_NUMBERED.split(words) if one]
    if attribute.kind is Kind.PLACE:
        return _places(words)
    return words.split(" / ") if " / " in words else COMMA.split(words)


def _places(words: str) -> list[str]:
    """Commas alone: the same part repeated is repeated guesses, 4 or 6 parts are pairs, else one place."""
    parts = [part.strip() for part in words.split(",")]
    if len(parts) > 1 and len({part.casefold() for part in parts}) == 1:
        return parts
    if len(parts) in (4, 6):
        return [f"{city}, {country}" for city, country in zip(parts[::2], parts[1::2], strict=True)]
    return [words]


def tidy(attribute: Attribute, entries: Iterable[str]) -> Guesses:
    """The first three entries that say something.

    Entries such as `None` are dropped and the rest kept. An age that is a number or a range, perhaps
    with "about" or "years old" around it, becomes that number or range: "34 years old" is "34",
    "25 to 30" is "25-30". Any other age ("middle-aged", "early 30s") stays in the tagger's words. A word of
    another language for a value of the catalogue becomes that value: “verheiratet” is “married”.
    """
    kept, empty, long = [], 0, 0
    for entry in entries:
        words = clean(entry)
        if not words:
            continue
        if NOTHING.fullmatch(words):
            empty += 1
        elif len(words) > MAX_LENGTH:
            long += 1
        else:
            kept.append(_age(words) if attribute.kind is Kind.AGE else _translated(attribute, words))
    notes = []
    if empty:
        notes.append(f"{attribute.key}: guesses that say nothing dropped ({empty})")
    if long:
        notes.append(f"{attribute.key}: guesses of more than {MAX_LENGTH} signs dropped ({long})")
    if len(kept) > MOST:
        notes.append(f"{attribute.key}: the first {MOST} of {len(kept)} guesses kept")
    return Guesses(tuple(kept[:MOST]), tuple(notes))


def _age(words: str) -> str:
    found = AGE.fullmatch(words)
    if not found:
        return words
    low, high = found.groups()
    return f"{low}-{high}" if high else str(low)


def _translated(attribute: Attribute, words: str) -> str:
    return attribute.from_language(words.casefold()) or words


def certainty_of(text: str) -> int | None:
    """The first number from 1 to 5 that stands alone, or None; of "4/5" it is the 4."""
    found = ONE_TO_FIVE.search(text)
    return int(found[0]) if found else None


def hardness_word_of(text: str) -> str:
    """The first published hardness word in the text, else the one or two words that stand there, else ""."""
    words = clean(text).casefold()
    spoken: list[str] = re.findall(r"[^\W\d_]+", words)
    for word in spoken:
        word = HARDNESS_OTHERS.get(word, word)
        if word in HARDNESS_WORDS:
            return word
    prose = words.count(" ") > 1 or len(words) > LONGEST_WORD
    return "" if prose or NOTHING.fullmatch(words) else words


def texts(given: object) -> Iterable[str]:
    """The entries of a list of JSON as text; none of anything else."""
    return map(text_of, given) if isinstance(given, list) else ()


def text_of(given: object) -> str:
    """A word or a number of JSON as text; anything else says nothing."""
    if isinstance(given, str):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float):
        return "None"
    return f"{given:.12g}" if abs(given) < 10**12 else "None"
