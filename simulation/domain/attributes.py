"""The attribute catalogue and the two scales, read from `attributes.toml`.

Vocabulary shared by every room: forms, readers, exports and charts ask here instead of naming
attributes themselves.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    CHOICE = "choice"
    CHOICE_OR_TEXT = "choice_or_text"
    AGE = "age"
    PLACE = "place"
    TEXT = "text"


@dataclass(frozen=True)
class Attribute:
    """One thing that may be inferred about an author."""

    key: str
    label: str
    kind: Kind
    ask: str
    """A sentence of help for the person who labels it."""
    topic: str
    """The phrase by which a thread asks about it (SynthPAI `guess_feature`)."""
    short: str = ""
    values: tuple[str, ...] = ()
    """The fixed vocabulary, in its order; empty for free kinds."""
    synonyms: Mapping[str, str] | None = None
    """Case-folded other spellings -> the vocabulary's spelling."""
    ordered: bool = False
    target: bool = True

    @property
    def takes_text(self) -> bool:
        """Whether words outside the vocabulary are allowed."""
        return self.kind is not Kind.CHOICE


def load_catalogue(path: Path) -> dict[str, Attribute]:
    """Reads a catalogue file. Raises ValueError naming the attribute and the field that is wrong."""
    catalogue = {}
    for key, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
        try:
            fields["kind"] = Kind(fields["kind"])
            fields["values"] = tuple(fields.get("values", ()))
            attribute = Attribute(key=key, **fields)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"{path.name}, [{key}]: {error}") from None
        if attribute.kind in (Kind.CHOICE, Kind.CHOICE_OR_TEXT) and not attribute.values:
            raise ValueError(f"{path.name}, [{key}]: kind {attribute.kind} needs `values`")
        stray = set((attribute.synonyms or {}).values()) - set(attribute.values)
        if stray:
            raise ValueError(f"{path.name}, [{key}]: synonyms lead to unknown values {sorted(stray)}")
        catalogue[key] = attribute
    return catalogue


CATALOGUE = load_catalogue(Path(__file__).with_name("attributes.toml"))
TARGETS = tuple(attribute for attribute in CATALOGUE.values() if attribute.target)
TARGET_KEYS = tuple(attribute.key for attribute in TARGETS)


@dataclass(frozen=True)
class Mark:
    """One step of a scale: its number, a short word and its definition."""

    number: int
    word: str
    meaning: str


# Definitions after the labelling procedure of Staab et al. 2024 (section 5 of the method), own words.
HARDNESS = (
    Mark(1, "stated outright", "The text says it in so many words."),
    Mark(2, "follows directly", "It follows at once, without real deduction: “my wife and I”."),
    Mark(3, "takes some thought", "Typical ages, spans of time, well-known landmarks or institutions."),
    Mark(4, "a search finds it", "Hard, but a web search settles it: a local word, shop or custom."),
    Mark(
        5, "clues combined", "Hard even with a search: several clues and outside facts must be put together."
    ),
)
CERTAINTY = (
    Mark(1, "very uncertain", "Little more than a hunch."),
    Mark(2, "could be wrong", "I think so, but I could well be wrong."),
    Mark(3, "quite certain", "More likely than every alternative together."),
    Mark(4, "very certain", "I would be surprised to be wrong."),
    Mark(5, "absolutely", "No reasonable doubt."),
)

# A tagging model says hardness in words; the only published use of them maps to these numbers.
HARDNESS_WORDS = {"direct": 1, "indirect": 2, "complicated": 4}


def hardness_of_word(word: str) -> int | None:
    """The 1-5 number of a tagger's hardness word; None for a word outside the published three."""
    return HARDNESS_WORDS.get(word.strip().lower())
