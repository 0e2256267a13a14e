"""A tagging model's answer -> what it guesses about the author of a comment.

Taggers are asked for the sections Reasoning, Guess, Certainty and Hardness with items such as
`occupation - [nurse; medic; carer]`, or for JSON. Models keep to neither, so the readers take what is
clear and say what they left out.
"""

import json
import re
from dataclasses import dataclass

from annotation.domain.tag_lines import attribute_named, beside, first_lines, items_in, scale_in
from annotation.domain.tag_sections import Block, blocks_in
from annotation.domain.tag_values import (
    Guesses,
    certainty_of,
    clean,
    hardness_word_of,
    split,
    text_of,
    texts,
    tidy,
)
from simulation.domain.attributes import CATALOGUE, hardness_of_word

OPENING = re.compile(r"\{|\[(?=\s*\{)")
MOST_OPENINGS = 50
"""So many brackets are tried in the search for JSON within prose."""
THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
THINKS_ON = re.compile(r"^\s*<think(?:ing)?>", re.IGNORECASE)
SAYS_NONE = re.compile(
    r"(?:none|n/?a|nothing|null)\b|no (?:personal |other )?(?:guess|feature|attribute|information|clue)",
    re.IGNORECASE,
)
ONLY_NONE = re.compile(r"[ *_`\[]*(?:none|n/?a|nothing|null)[ .*_`\]]*", re.IGNORECASE)


@dataclass(frozen=True)
class Tag:
    """What a tagger says of one attribute."""

    attribute: str
    """A key of the catalogue."""
    guesses: tuple[str, ...]
    """One to three, best first; a guess repeated to fill three stays repeated."""
    hardness_word: str
    """In lower case; "" where the tagger gave none."""
    hardness: int | None
    certainty: int | None


@dataclass(frozen=True)
class TagReply:
    """An answer that could be read. No tags: the tagger says that nothing can be guessed."""

    tags: tuple[Tag, ...] = ()
    """In the catalogue's order, each attribute once."""
    notes: tuple[str, ...] = ()
    """What was left out or put right, in words."""


@dataclass(frozen=True)
class Unreadable:
    """An answer of which nothing can be said; it is kept with this reason and never counts as no tags."""

    reason: str


def read_tags(text: str) -> TagReply | Unreadable:
    """Reads an answer in words or in JSON, whatever surrounds it. Never raises.

    An attribute named twice counts the first time. Several Guess sections that share no attribute are
    read together; of sections that do, the last one counts, as a model's second thought.
    """
    answer = THOUGHT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"), count=1)
    if not answer.strip():
        return Unreadable("the answer is empty")
    if THINKS_ON.match(answer):
        return Unreadable("the answer ends before the model has stopped thinking")
    data = _json_within(answer)
    if data is not None:
        return read_tag_json(data)
    blocks = blocks_in(answer)
    if not blocks:
        return _without_section(answer)
    replies = [_read_block(block) for block in blocks]
    read = [reply for reply in replies if isinstance(reply, TagReply)]
    cut_off = isinstance(replies[-1], Unreadable) and blocks[-1].ends_here
    return _merged(read) if read and not cut_off else replies[-1]


def read_tag_json(data: object) -> TagReply | Unreadable:
    """Reads `{"tags": [{"attribute", "guesses", "hardness", "certainty"}]}` or its list. Never raises."""
    entries = data.get("tags") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        return Unreadable("the JSON holds no list of tags")
    tags, notes, known = [], [], 0
    for entry in entries:
        name = entry.get("attribute") if isinstance(entry, dict) else None
        attribute = attribute_named(name) if isinstance(name, str) else None
        if attribute is None:
            notes.append(f"{clean(name)[:40] if isinstance(name, str) else 'an entry'}: no known attribute")
            continue
        known += 1
        given = entry.get("guesses")
        guesses = tidy(attribute, split(attribute, given) if isinstance(given, str) else texts(given))
        notes += guesses.notes
        certainty, word = text_of(entry.get("certainty")), text_of(entry.get("hardness"))
        tags += _tag(attribute.key, guesses, hardness_word_of(word), certainty_of(certainty))
    if entries and not known:
        return Unreadable("no entry of the JSON names a known attribute")
    return _reply(tags, notes)


def _json_within(text: str) -> object | None:
    """The first JSON in the text that looks like tags: in a fence, amid prose or alone."""
    decoder, place = json.JSONDecoder(), 0
    for _ in range(MOST_OPENINGS):
        opening = OPENING.search(text, place)
        if opening is None:
            return None
        place = opening.end()
        try:
            data, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and "tags" in data:
            return data
        if isinstance(data, list) and any(isinstance(one, dict) and "attribute" in one for one in data):
            return data
        place = end
    return None


def _without_section(answer: str) -> TagReply | Unreadable:
    if ONLY_NONE.fullmatch(answer.strip().rpartition("\n")[2]):
        return TagReply()
    if '"tags"' in answer:
        return Unreadable("the JSON cannot be read; it may have been cut off")
    return Unreadable("there is no Guess section; the answer may have been cut off")


def _read_block(block: Block) -> TagReply | Unreadable:
    items = items_in(block.guess)
    if not any(item.attribute for item in items):
        if not block.guess.strip():
            return Unreadable("the Guess section is empty")
        if SAYS_NONE.match(first_lines(block.guess).lstrip(" \t-•*_`[(")):
            return TagReply()
        return Unreadable("the Guess section names no known attribute")
    if items[-1].open and block.ends_here:
        return Unreadable(f"the answer ends within the guesses for {items[-1].name}")
    asked = list(dict.fromkeys(item.attribute.key for item in items if item.attribute))
    certainty, hardness = scale_in(block.certainty), scale_in(block.hardness)
    tags, notes = [], []
    for item in items:
        if item.attribute is None:
            notes.append(f"{item.name}: no known attribute")
            continue
        key = item.attribute.key
        guesses = tidy(item.attribute, split(item.attribute, item.text))
        notes += guesses.notes
        word = hardness_word_of(hardness.of(key, asked.index(key), len(asked)))
        number = certainty_of(certainty.of(key, asked.index(key), len(asked)))
        word = word or hardness_word_of(beside(item, "hardness"))
        tags += _tag(key, guesses, word, number or certainty_of(beside(item, "certainty")))
    if tags and not any(tag.hardness_word or tag.certainty for tag in tags):
        notes.append("neither certainty nor hardness; the answer may have been cut off")
    return _reply(tags, notes)


def _tag(key: str, guesses: Guesses, word: str, certainty: int | None) -> list[Tag]:
    return [Tag(key, guesses.words, word, hardness_of_word(word), certainty)] if guesses.words else []


def _merged(replies: list[TagReply]) -> TagReply:
    keys = [tag.attribute for reply in replies for tag in reply.tags]
    if len(set(keys)) == len(keys):
        return _reply(
            [tag for one in replies for tag in one.tags], [note for one in replies for note in one.notes]
        )
    return [reply for reply in replies if reply.tags][-1]


def _reply(tags: list[Tag], notes: list[str]) -> TagReply:
    first: dict[str, Tag] = {}
    for tag in tags:
        if first.setdefault(tag.attribute, tag) is not tag:
            notes = [*notes, f"{tag.attribute}: named again; the first time counts"]
    return TagReply(tuple(first[key] for key in CATALOGUE if key in first), tuple(notes))
