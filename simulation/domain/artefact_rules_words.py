"""Gibberish: a comment that begins naturally and goes on in words that are none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulation.domain.artefact_letters import is_known, plausibility
from simulation.domain.artefact_rule import Rule, Span, Written
from simulation.domain.artefact_weights import FREE, TOKEN, VOWELLESS, weights

ENOUGH = 4.0
"""Weight of evidence at which an ending is gibberish; see `artefact_weights`."""
ANYWHERE = 5.5
"""The same for a place in the middle."""
HEAD = 0.45
"""Share of known words in the rest of a text from which unknown words at its end say anything."""

_TOKEN = re.compile(r"\S+")


def _gibberish(written: Written) -> Iterator[Span]:
    """The ending that is none, else a place in the middle with much evidence; at most one."""
    tokens = list(_TOKEN.finditer(written.text))
    each = [weights(token[0]) for token in tokens]
    if name := written.username.casefold():
        each = [
            (0.0, known) if name in token[0].casefold() else (weight, known)
            for token, (weight, known) in zip(tokens, each, strict=True)
        ]
    found = (
        _tail(written.text, tokens, each)
        or _junk(written.text)
        or _unknown_tail(written.text, tokens)
        or _glued_tail(written.text)
        or _middle(tokens, each)
    )
    if found:
        yield found


def _tail(text: str, tokens: list[re.Match[str]], each: list[tuple[float, bool]]) -> Span | None:
    """The ending with the most evidence: enough of it behind words of language, or of words no one types."""
    tail = _best_tail([weight for weight, _ in each])
    if tail is None:
        return None
    start, evidence = tail
    head, strong = each[:start], [weight for weight, _ in each[start:] if weight > 1]
    share = sum(known for _, known in head) / len(head) if head else 0.0
    behind_language = evidence >= ENOUGH and len(strong) > 1 and share >= HEAD
    is_joke = len(strong) == 1 and len(tokens) - start > 2 and _is_plain(tokens[start][0])
    by_itself = sum(strong) >= ENOUGH and len(strong) > (0 if head else 1) and not is_joke
    return (tokens[start].start(), len(text.rstrip())) if behind_language or by_itself else None


def _is_plain(token: str) -> bool:
    """Small letters alone: one such word among words of language is a joke about typing or unknown to us."""
    return token.strip(".,!?;:\"'").isalpha() and token.islower()


def _junk(text: str) -> Span | None:
    for kind in _JUNK:
        found = kind.search(text)
        # "!!!!!!!!", "........" and "--------" are only loud.
        if found and (kind is not _JUNK[0] or len(set(found[0]) - set("!?.-~*= ")) > 1):
            return found.span()
    # A list of numbers at the end.
    begin = len(text.rstrip("0123456789,.; \t\r\n"))
    numbers = _NUMBERS.match(text, begin)
    return numbers.span(1) if numbers else None


def _middle(tokens: list[re.Match[str]], each: list[tuple[float, bool]]) -> Span | None:
    found = _best_place([weight for weight, _ in each])
    if found is None or found[2] < ANYWHERE:
        return None
    if found[0] == found[1] and _is_plain(tokens[found[0]][0]):
        return None
    return tokens[found[0]].start(), tokens[found[1]].end()


_JUNK = (
    # Signs of punctuation, dots and dashes as of Morse.
    re.compile(r"(?:[!-/:-@\[-`{-~]\s?){8,}"),
    re.compile(r"(?:(?<=\s)|\A)(?:[.\-·•–]{1,6}[ /]){5,}[.\-·•–]*"),
)
_NUMBERS = re.compile(r"[\s,.;]*((?:\d+[\s,.;]+){7,}\d*)\s*\Z")
IN_A_ROW = 4
"""Unknown words in a row, in small letters of English, that end a text of known words."""


def _unknown_tail(text: str, tokens: list[re.Match[str]]) -> Span | None:
    """Words that could be English and are none, in a row at the end: "voopen tralk grindle mofter"."""
    count = long = 0
    for token in reversed(tokens):
        word = token[0].strip(".,!?;:\"'")
        if not (word.isascii() and word.isalpha() and word.islower()) or is_known(word):
            break
        count, long = count + 1, long + (len(word) > 3)
    head = tokens[: len(tokens) - count]
    if long < IN_A_ROW or long < 0.7 * count or len(head) < 4:
        return None
    known = sum(is_known(token[0].strip(".,!?;:\"'()").lower()) for token in head)
    return (tokens[len(head)].start(), len(text.rstrip())) if known >= 0.7 * len(head) else None


def _best_tail(weights: list[float]) -> tuple[int, float] | None:
    best: tuple[int, float] | None = None
    evidence = 0.0
    for place in range(len(weights) - 1, -1, -1):
        evidence += weights[place]
        if weights[place] > 0 and evidence > 0 and (best is None or evidence > best[1]):
            best = (place, evidence)
        if evidence < -3:
            break
    return best


def _best_place(weights: list[float]) -> tuple[int, int, float] | None:
    """(first, last, evidence) of the run of words with the most evidence, strong words alone counting."""
    best: tuple[int, int, float] | None = None
    begin, evidence = 0, 0.0
    for place, weight in enumerate(weights):
        weight = weight if weight > 1 or weight < 0 else 0.0
        if evidence <= 0:
            begin, evidence = place, 0.0
        evidence += weight
        if evidence > 0 and (best is None or evidence > best[2]):
            best = (begin, place, evidence)
    return best


_SOUNDS = re.compile(r"[haeiojkxslmwrufgyn]+")
"""Letters of laughter and screams."""
_GLUED = re.compile(r"[^\W\d_][.!?…]([^\W\d_]{3,})\W*\Z")
_LAST = re.compile(r"(?<=\s)[^\W\d_]{12,}(?=\W*\Z)")
_SHOUT = re.compile(r"(?<=[a-z] )[A-Z]{5,}(?=\W*\Z)")


def _glued_tail(text: str) -> Span | None:
    """A last word that is none and stands where none belongs: stuck to a full stop ("so it is.drelb"), to a
    known word by a letter that English lacks, or in capitals behind small words."""
    last = text.rsplit(None, 1)[-1][:TOKEN] if " " in text.strip() else ""
    if last and not FREE.fullmatch(last) and (glued := _GLUED.search(text)):
        word = glued[1][:TOKEN]
        if (
            not is_known(word.lower())
            and not VOWELLESS.fullmatch(word)
            and not (word.istitle() and word.isascii())
        ):
            return glued.span(1)
    if shout := _SHOUT.search(text):
        small = shout[0].lower()
        if (
            not is_known(small)
            and not _SOUNDS.fullmatch(small)
            and not is_known(small[:-1])
            and plausibility(small) < -3.4
        ):
            return shout.span()
    if (joined := _LAST.search(text)) and not joined[0].isascii() and not is_known(joined[0].lower()):
        small = joined[0].lower()
        first = next(place for place, sign in enumerate(small) if not sign.isascii())
        if first > 5 and len(small) - first > 4 and is_known(small[:first]):
            return joined.span()
    return None


RULES = (
    Rule(
        "gibberish",
        "Gibberish",
        "It begins like language and goes on in words that are none, as generators do when they derail.",
        _gibberish,
    ),
)
