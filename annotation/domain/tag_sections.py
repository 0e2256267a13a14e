"""The sections of a tagging answer in words: guesses and the two scales."""

import re
from dataclasses import dataclass

from annotation.domain.tag_lines import MARK

LINE_HEAD = re.compile(
    r"^[ \t>#*_`\-•\d.)]*+(?:(?:my|final|top[ -]?(?:3|three))[ \t]+)?"
    r"(?P<kind>guess|certaint|hardness|reasoning)(?:es|y|ies)?(?:[ \t]+(?:levels?|scores?|ratings?))?"
    r"[ \t*_`]*(?:\([^()\n]{0,60}\)[ \t*_`]*)?(?::[*_`]*|(?=\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
INLINE_HEAD = re.compile(
    r"(?<=\s)[*_`]{0,3}(?P<kind>Guess|Certaint|Hardness)(?:es|y|ies)?[*_`]{0,3}:[*_`]{0,3}"
)


@dataclass(frozen=True)
class Block:
    """A Guess section and the two scales that belong to it."""

    guess: str
    certainty: str
    hardness: str
    ends_here: bool
    """Nothing of the answer follows the Guess section."""


def blocks_in(answer: str) -> list[Block]:
    """The Guess sections of an answer, each with its scales. Most answers have one; [] means none at all."""
    heads = [head for head in LINE_HEAD.finditer(answer) if head["kind"].casefold() == "guess"]
    if not heads:
        heads = [head for head in INLINE_HEAD.finditer(answer) if head["kind"] == "Guess"][-1:]
    edges = [head.start() for head in heads] + [len(answer)]
    if len(heads) == 1:
        edges[0] = 0
    return [
        _block(answer, head, begin, end) for head, begin, end in zip(heads, edges, edges[1:], strict=False)
    ]


def _block(answer: str, guess: re.Match[str], begin: int, end: int) -> Block:
    scales = {kind: _scale_head(answer, kind, begin, end) for kind in ("certaint", "hardness")}
    stops = [head.start() for head in scales.values() if head]
    stops += [head.start() for head in _heads(LINE_HEAD, answer, "reasoning", begin, end)]
    stops += [guess.start(), end]

    def section(head: re.Match[str] | None) -> str:
        if head is None:
            return ""
        return answer[head.end() : min(stop for stop in stops if stop >= head.end())]

    said = section(guess)
    ends_here = end == len(answer) and not answer[guess.end() + len(said) :].strip()
    return Block(said, section(scales["certaint"]), section(scales["hardness"]), ends_here)


def _scale_head(answer: str, kind: str, begin: int, end: int) -> re.Match[str] | None:
    """The heading of a scale: the one that attributes follow, else the only one there is.

    Several without names behind them stand beside the single guesses and head no section.
    """
    for pattern in (LINE_HEAD, INLINE_HEAD):
        heads = _heads(pattern, answer, kind, begin, end)
        for head in heads:
            if MARK.match(answer[head.end() : min(end, head.end() + 200)].lstrip()):
                return head
        if heads:
            return heads[0] if len(heads) == 1 else None
    return None


def _heads(pattern: re.Pattern[str], answer: str, kind: str, begin: int, end: int) -> list[re.Match[str]]:
    return [head for head in pattern.finditer(answer, begin, end) if head["kind"].casefold() == kind]
