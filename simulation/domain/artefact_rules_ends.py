"""Words that run into each other, and comments that stop before their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from simulation.domain.artefact_letters import is_known, letters
from simulation.domain.artefact_rule import Rule, Span, Written
from simulation.domain.artefact_shapes import alternatives, shape
from simulation.domain.artefact_weights import CAMEL, VOWELLESS

_BRANDS = frozenset(alternatives("words", "brands").split("|"))
_HUMPED = re.compile(r"(?<![\w#@/.'’-])[A-Za-z]{0,60}[a-z][A-Z][A-Za-z]*+(?![\w@]|\.\w|://)")
_GLUED_HUMP = re.compile(r"(?<=[a-z][.!?,])[a-z]+[A-Z][A-Za-z]+|(?<=[a-z][.!?])[A-Z][a-z]+[A-Z][A-Za-z]+")
_NAMELIKE = shape("words", "namelike")


def _run_together(written: Written) -> Iterator[Span]:
    """Capitals inside a word, as identifiers and handles have them; not brands, names, degrees, hashtags."""
    for kind in (_HUMPED, _GLUED_HUMP):
        for match in kind.finditer(written.text):
            word = match[0]
            if (
                word.lower() in _BRANDS
                or _NAMELIKE.fullmatch(word)
                or word.casefold() == written.username.casefold()
            ):
                continue
            humps = CAMEL.findall(word)
            mocking = sum(len(hump) < 3 for hump in humps) > len(humps) // 2 and len(humps) > 3
            shouted = is_known(word.lower())
            if not mocking and not shouted:
                yield match.span()


_HANGS = shape("words", "hangs", flags=re.I)
_HALF = re.compile(r"(?:\s)([a-zà-ÿ]{1,12})\Z")


@lru_cache(maxsize=5000)
def _begins_a_word(half: str) -> bool:
    """Whether a longer word of the list begins so, and letters do not usually end so."""
    longer = any(len(word) > len(half) + 1 and word.startswith(half) for word in letters().words)
    return longer and letters().threes.get(half[-2:] + "$", letters().unseen) < -3.0


def _cut_off(written: Written) -> Iterator[Span]:
    """Ends where no sentence does: in an article or with a comma, or in half a word after whole sentences."""
    text = written.text.rstrip()
    hangs = _HANGS.search(text)
    if hangs and " " in text:
        yield hangs.span(1)
        return
    half = _HALF.search(text)
    if half and len(half[1]) < 8 and not is_known(half[1]) and not VOWELLESS.fullmatch(half[1]):
        if len(half[1]) > 3 and text.count(" ") > 6 and _begins_a_word(half[1]):
            yield half.span(1)
            return
        # People who end their sentences otherwise: a capital to begin with and stops between.
        if len(re.findall(r"[a-z][.!?]\s+[A-Z]", text)) > 1 and len(half[1]) < 6 and text[:1].isupper():
            yield half.span(1)


RULES = (
    Rule(
        "run_together",
        "Words run together",
        "A capital stands inside a word, as in identifiers and handles: rarely anything that people write.",
        _run_together,
    ),
    Rule(
        "cut_off",
        "Cut off",
        "It stops in the middle of a sentence or word: the answer was longer than allowed.",
        _cut_off,
    ),
)
