"""A rewriter's raw answer -> the rewritten text, or the reason why it cannot be used.

The text is asked for between `<text>` and `</text>`; a JSON object with the key `text` and a fenced block are
understood too. Prose around them is passed over. An answer without any of these is not guessed at:
its introduction would end up in the corpus.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from evaluation.domain.answer_refusals import is_refusal
from simulation.domain.normalise import squeeze

LONGEST = 2.0
"""Times the length of the text before, plus ROOM characters, that a rewriting may have."""
SHORTEST = 0.2
"""Times the length of the text before that a rewriting must have; less is deleting, not rewriting."""
ROOM = 40
"""Texts of fewer characters may shrink to anything but nothing."""
_TAG = re.compile(r"<(/?)text>", re.IGNORECASE)
_FENCE = re.compile(r"^```[a-z]{0,10}$", re.MULTILINE)


class Unusable(StrEnum):
    """Why an answer cannot stand in the place of the text."""

    EMPTY = "empty"
    REFUSED = "refused"
    """The model declines."""
    CUT = "cut"
    """The provider cut the answer off, or it has a beginning and no end."""
    NO_TEXT = "no_text"
    """No text between marks."""
    SEVERAL = "several"
    """More than one text between marks, and they differ."""
    UNCHANGED = "unchanged"
    """The same words as before."""
    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"
    EVIDENCE_KEPT = "evidence_kept"
    """All words that the inferences rest on still stand as they stood."""


SAID = {
    Unusable.EMPTY: "The answer was empty.",
    Unusable.REFUSED: "The model declined.",
    Unusable.CUT: "The answer was cut off before its end.",
    Unusable.NO_TEXT: "The answer has no text between <text> and </text>.",
    Unusable.SEVERAL: "The answer has several different texts.",
    Unusable.UNCHANGED: "The text came back unchanged.",
    Unusable.TOO_LONG: "The rewritten text is more than twice as long.",
    Unusable.TOO_SHORT: "Less than a fifth of the text is left.",
    Unusable.EVIDENCE_KEPT: "The words that gave the author away still stand there.",
}
"""One sentence for each, for pages and for asking again."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the rewriter was given: the text, the words to take out as quoted, whether its answer was cut."""

    text: str
    evidence: tuple[str, ...] = ()
    is_cut: bool = False


def read_rewrite(raw: str, given: Given) -> str | Unusable:
    """The rewritten text without white space around it, or why there is none; told apart by their type, for a
    text may read "empty". Never raises, and takes time in proportion to the answer."""
    if not raw.strip():
        return Unusable.EMPTY
    texts = _texts(raw)
    if not texts:
        if is_refusal(raw):
            return Unusable.REFUSED
        return Unusable.CUT if given.is_cut or _TAG.search(raw) else Unusable.NO_TEXT
    if len({squeeze(one) for one in texts}) > 1:
        return Unusable.SEVERAL
    return _checked(texts[0].strip(), given)


def _texts(raw: str) -> list[str]:
    """The texts between marks, of the first kind of mark that the answer has."""
    tagged = _between_tags(raw)
    if tagged:
        return tagged
    marks = list(_FENCE.finditer(raw))
    fenced = [raw[one.end() : end.start()] for one, end in zip(marks[::2], marks[1::2], strict=False)]
    for candidate in (raw, *fenced):
        found = _from_json(candidate.strip())
        if found is not None:
            return [found]
    return fenced


def _between_tags(raw: str) -> list[str]:
    """What stands between an opening tag and the next closing one; of several open ones the first counts."""
    found: list[str] = []
    opened: int | None = None
    for tag in _TAG.finditer(raw):
        if not tag[1]:
            opened = tag.end() if opened is None else opened
        elif opened is not None:
            found.append(raw[opened : tag.start()])
            opened = None
    return found


def _from_json(text: str) -> str | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    found = value.get("text") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _checked(text: str, given: Given) -> str | Unusable:
    before = given.text.strip()
    if not text:
        return Unusable.EMPTY
    if is_refusal(text) and not is_refusal(before):
        return Unusable.REFUSED
    if squeeze(text) == squeeze(before):
        return Unusable.UNCHANGED
    if len(text) > LONGEST * len(before) + ROOM:
        return Unusable.TOO_LONG
    if len(before) >= ROOM and len(text) < SHORTEST * len(before):
        return Unusable.TOO_SHORT
    stood = [quote for quote in given.evidence if _has(before, quote)]
    if stood and all(_has(text, quote) for quote in stood):
        return Unusable.EVIDENCE_KEPT
    return text


def _has(text: str, quote: str) -> bool:
    """Whether the words of a quote stand in a text as whole words, letter case and white space aside."""
    words = squeeze(quote).casefold()
    if not words:
        return False
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", squeeze(text).casefold()))
