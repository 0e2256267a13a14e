"""The attribute catalogue and the two scales, read from `attributes.toml`.

Vocabulary shared by every room: forms, readers, exports and charts ask here instead of naming
attributes themselves. An installation may bring a catalogue of its own: the environment variable
`SYNTHPAI_ATTRIBUTES` then holds the absolute path of its file.
"""

import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

VARIABLE = "SYNTHPAI_ATTRIBUTES"
OURS = Path(__file__).with_name("attributes.toml")
KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""Keys are columns of exports and names of form fields; the database holds 40 characters."""
TAKEN = frozenset({"style", "username", "guess_feature", "timestamp", "time", "note", "id"})
"""Names that mean something else in profiles, reviews and forms."""
LANGUAGE = re.compile(r"[a-z]{2,3}")


class BadCatalogue(ValueError):
    """A catalogue file that cannot be used; the message names file, attribute and field."""


class Kind(StrEnum):
    CHOICE = "choice"
    CHOICE_OR_TEXT = "choice_or_text"
    AGE = "age"
    PLACE = "place"
    TEXT = "text"


@dataclass(frozen=True)
class Words:
    """How one language speaks of an attribute."""

    label: str
    topic: str
    ask: str
    values: Mapping[str, str] = field(default_factory=dict)
    """Value of the vocabulary -> its word in the language."""
    synonyms: dict[str, str] = field(default_factory=dict)
    """Other words of the language, case-folded -> the vocabulary's value."""

    def of(self, value: str) -> str:
        """The word for a value of the vocabulary; what is no such value is said as it stands."""
        return self.values.get(value, value)


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
    synonyms: Mapping[str, str] | None = field(default=None, hash=False)
    """Case-folded other spellings -> the vocabulary's spelling."""
    ordered: bool = False
    target: bool = True
    languages: Mapping[str, Words] = field(default_factory=dict, hash=False)
    """Code of a language, other than English -> its words."""

    @property
    def takes_text(self) -> bool:
        """Whether words outside the vocabulary are allowed."""
        return self.kind is not Kind.CHOICE

    def in_language(self, language: str) -> Words:
        """The words of a language; English ones where the catalogue has none of it."""
        known = self.languages.get(language)
        return known or Words(self.label, self.topic, self.ask, {value: value for value in self.values})

    def from_language(self, folded: str) -> str | None:
        """The vocabulary's value of a case-folded word of another language than English, or None."""
        return self._foreign.get(folded)

    @cached_property
    def _foreign(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for words in self.languages.values():
            found |= {word.casefold(): value for value, word in words.values.items()} | words.synonyms
        return found


def catalogue_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the catalogue is. Raises BadCatalogue for a variable that names no absolute path of a file."""
    given = environment.get(VARIABLE, "").strip()
    if not given:
        return OURS
    path = Path(given)
    if not path.is_absolute():
        raise BadCatalogue(
            f"{VARIABLE}: “{given}” must be an absolute path, such as /etc/studio/attributes.toml"
        )
    if not path.is_file():
        raise BadCatalogue(f"{VARIABLE}: there is no file {path}")
    return path


def load_catalogue(path: Path) -> dict[str, Attribute]:
    """Reads a catalogue file. Raises BadCatalogue naming file, attribute and field of what is wrong."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadCatalogue(f"{path}: cannot be read as TOML: {error}") from None
    catalogue: dict[str, Attribute] = {}
    for key, given in tables.items():
        where = f"{path}, [{key}]"
        if not KEY.fullmatch(key) or key in TAKEN:
            raise BadCatalogue(
                f"{where}: no name for an attribute; small letters, digits and _, at most 40, and none of "
                f"{', '.join(sorted(TAKEN))}"
            )
        if not isinstance(given, dict):
            raise BadCatalogue(f"{where}: must be a table with label, kind, ask and topic")
        catalogue[key] = one = _attribute(key, given, where)
        _check_label(one, catalogue, where)
    if not any(one.target for one in catalogue.values()):
        raise BadCatalogue(f"{path}: holds no attribute that is a target")
    return catalogue


def _check_label(attribute: Attribute, catalogue: Mapping[str, Attribute], where: str) -> None:
    """Two attributes that are called the same cannot be told apart in a form or a chart."""
    own = _folded(attribute.label)
    for key, other in catalogue.items():
        if key != attribute.key and _folded(other.label) == own:
            raise BadCatalogue(f"{where}, label: “{attribute.label}” is the label of [{key}] too")


def _folded(word: str) -> str:
    """As words are compared: in NFC, without regard to case, blanks at the ends and double blanks."""
    return " ".join(unicodedata.normalize("NFC", word).casefold().split())


def _attribute(key: str, given: dict[str, Any], where: str) -> Attribute:
    tables = {name: one for name, one in given.items() if isinstance(one, dict) and name != "synonyms"}
    plain = {name: one for name, one in given.items() if name not in tables}
    _check_fields(plain, Attribute, {"key", "languages"}, ("label", "kind", "ask"), where)
    plain.setdefault("topic", plain["label"].lower())
    try:
        plain["kind"] = Kind(plain["kind"])
    except ValueError:
        raise BadCatalogue(f"{where}, kind: “{plain['kind']}” is none of {', '.join(Kind)}") from None
    plain["values"] = tuple(plain.get("values", ()))
    if plain["kind"] in (Kind.CHOICE, Kind.CHOICE_OR_TEXT) and not plain["values"]:
        raise BadCatalogue(f"{where}, values: kind {plain['kind']} needs `values`")
    plain["synonyms"] = _synonyms(plain.get("synonyms", {}), plain["values"], where)
    attribute = Attribute(
        key=key,
        **plain,
        languages={
            language: _words(language, one, plain, f"{where[:-1]}.{language}]")
            for language, one in tables.items()
        },
    )
    _check_unambiguous(attribute, where)
    return attribute


def _words(language: str, given: dict[str, Any], attribute: Mapping[str, Any], where: str) -> Words:
    if not LANGUAGE.fullmatch(language):
        raise BadCatalogue(f"{where}: neither a field nor a language, such as de")
    _check_fields(given, Words, set(), ("label", "ask"), where)
    given = {"topic": given["label"], **given}
    values = given.get("values", {})
    if not isinstance(values, dict) or set(values) != set(attribute["values"]):
        raise BadCatalogue(f"{where}, values: needs one word for each of {', '.join(attribute['values'])}")
    for value, word in values.items():
        if not isinstance(word, str) or not word.strip():
            raise BadCatalogue(f"{where}, values: the word for “{value}” must be text")
        _check_signs(word, f"{where}, values")
    synonyms = _synonyms(given.get("synonyms", {}), attribute["values"], where)
    return Words(given["label"], given["topic"], given["ask"], values, synonyms)


TYPES: Mapping[str, type] = {"ordered": bool, "target": bool, "values": list, "synonyms": dict}
"""Of the fields that are not text."""


def _check_fields(
    given: Mapping[str, Any],
    of: type[Attribute | Words],
    hidden: set[str],
    needed: tuple[str, ...],
    where: str,
) -> None:
    """Refuses unknown, missing and ill-typed fields by name."""
    known = {one.name for one in fields(of)} - hidden
    for name, value in given.items():
        if name not in known:
            raise BadCatalogue(f"{where}, {name}: no such field; known are {', '.join(sorted(known))}")
        wanted: type = dict if of is Words and name == "values" else TYPES.get(name, str)
        if not isinstance(value, wanted) or (name == "label" and not str(value).strip()):
            raise BadCatalogue(f"{where}, {name}: must be {_SAID[wanted]}")
        if isinstance(value, list) and not all(isinstance(one, str) and one.strip() for one in value):
            raise BadCatalogue(f"{where}, {name}: must be a list of words in quotes")
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                _check_signs(text, f"{where}, {name}", allowed="\n" if name == "ask" else "")
    for name in needed:
        if name not in given:
            raise BadCatalogue(f"{where}, {name}: is missing")


def _check_signs(text: str, where: str, allowed: str = "") -> None:
    """Refuses line ends and other signs that a form, a column or the database cannot hold."""
    for sign in text:
        if unicodedata.category(sign) in ("Cc", "Zl", "Zp") and sign not in allowed:
            raise BadCatalogue(f"{where}: {text!r} holds a line end or control sign; write it in one line")


_SAID: Mapping[type, str] = {
    str: "text in quotes",
    bool: "true or false",
    list: "a list of words in quotes",
    dict: "a table of words",
}


def _synonyms(given: Mapping[str, Any], values: tuple[str, ...], where: str) -> dict[str, str]:
    """Synonyms as they are looked up: in NFC and case-folded. One word must not lead to two values."""
    found: dict[str, str] = {}
    for word, value in given.items():
        if not isinstance(value, str):
            raise BadCatalogue(
                f"{where}, synonyms: “{word}” must lead to a value in quotes, not to {value!r}"
            )
        _check_signs(word, f"{where}, synonyms")
        folded = _folded(word)
        if not folded:
            raise BadCatalogue(f"{where}, synonyms: a word for “{value}” is empty")
        if found.setdefault(folded, value) != value:
            raise BadCatalogue(
                f"{where}, synonyms: “{word}” means both {found[folded]} and {value}; case does not matter"
            )
    if stray := set(found.values()) - set(values):
        raise BadCatalogue(f"{where}, synonyms: lead to unknown values {', '.join(sorted(stray))}")
    return found


def _check_unambiguous(attribute: Attribute, where: str) -> None:
    """One word must not mean two values, in whatever language it stands."""
    means: dict[str, str] = {value.casefold(): value for value in attribute.values}
    if len(means) < len(attribute.values):
        raise BadCatalogue(f"{where}, values: holds a value twice")
    said = [("", attribute.synonyms or {})]
    for language, words in attribute.languages.items():
        said.append((f" in {language}", {word.casefold(): value for value, word in words.values.items()}))
        if len(said[-1][1]) < len(words.values):
            raise BadCatalogue(f"{where}, {language}.values: one word stands for two values")
        said.append((f" in {language}", words.synonyms))
    for named, synonyms in said:
        for word, value in synonyms.items():
            if means.setdefault(word, value) != value:
                raise BadCatalogue(f"{where}: “{word}”{named} means both {means[word]} and {value}")


CATALOGUE = load_catalogue(catalogue_path())
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
HARDNESS_OTHERS = {"direkt": "direct", "indirekt": "indirect", "kompliziert": "complicated"}
"""Prompts ask for the published words in every language; models translate them all the same."""


def hardness_of_word(word: str) -> int | None:
    """The 1-5 number of a tagger's hardness word; None for a word outside the published three."""
    said = word.strip().lower()
    return HARDNESS_WORDS.get(HARDNESS_OTHERS.get(said, said))


def listed(attributes: Iterable[Attribute], language: str = "en") -> str:
    """Attributes as a prompt of `language` lists them, one a line: key, name and vocabulary."""
    lines = []
    for one in attributes:
        words = one.in_language(language)
        label = words.label.lower() if language == "en" else words.label
        values = ", ".join(words.of(value) for value in one.values)
        lines.append(f"{one.key}: {label}" + (f" ({values})" if values else ""))
    return "\n".join(lines)
