"""Evidence: the words of a comment that carry a value, by code points, checked against the text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.domain.labels import Quote

MOST = 10
"""Quotes for one attribute of one comment."""
LONGEST = 2000
"""Characters of one quote."""


class BadEvidence(Exception):
    """Why a quote cannot be taken, in a sentence for the person who sent it."""


@dataclass(frozen=True)
class Readable:
    """The comments that may be quoted: public id -> text. The target comes first, then its ancestors."""

    texts: Mapping[str, str]

    def find(self, words: str) -> Quote | None:
        """The first place at which the words stand."""
        for comment, text in self.texts.items():
            start = text.find(words)
            if start >= 0:
                return Quote(comment, start, start + len(words), words)
        return None


def read(sent: str, typed: str, readable: Readable) -> tuple[Quote, ...]:
    """The quotes of a row: `sent` is the JSON list of the browser, `typed` one quote a line.

    In the order in which they came, each once. Raises BadEvidence for what is no such list, for a comment
    that is neither the target nor above it, and for words that do not stand at their place.
    """
    quotes = [_checked(one, readable) for one in _listed(sent)]
    for line in typed.splitlines():
        words = line.strip()
        if not words:
            continue
        found = readable.find(words)
        if found is None:
            raise BadEvidence(f"“{_brief(words)}” does not stand in this comment or the ones above it.")
        quotes.append(found)
    once = tuple(dict.fromkeys(quotes))
    if len(once) > MOST:
        raise BadEvidence(f"At most {MOST} quotes for one attribute; these are {len(once)}.")
    return once


def _listed(sent: str) -> list[object]:
    if not sent.strip():
        return []
    try:
        found = json.loads(sent)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise BadEvidence("The quotes could not be read; remove them and quote again.")
    return found


def _checked(one: object, readable: Readable) -> Quote:
    if not isinstance(one, dict):
        raise BadEvidence("A quote could not be read; remove it and quote again.")
    comment, words = one.get("comment"), one.get("quote")
    start, end = _place(one.get("start")), _place(one.get("end"))
    if isinstance(words, str) and any("\ud800" <= sign <= "\udfff" for sign in words):
        raise BadEvidence("A quote holds half a sign; remove it and quote again.")
    if not isinstance(words, str) or not words.strip() or len(words) > LONGEST:
        raise BadEvidence(f"A quote has 1 to {LONGEST} characters, not only blanks.")
    text = readable.texts.get(comment) if isinstance(comment, str) else None
    if text is None:
        raise BadEvidence(f"“{_brief(words)}” is from another comment than this one and those above it.")
    if not 0 <= start < end <= len(text) or text[start:end] != words:
        raise BadEvidence(f"“{_brief(words)}” does not stand at its place any more; quote it again.")
    assert isinstance(comment, str)
    return Quote(comment, start, end, words)


def _place(sent: object) -> int:
    return sent if isinstance(sent, int) and not isinstance(sent, bool) else -1


def _brief(words: str) -> str:
    return words if len(words) <= 40 else words[:39] + "…"
