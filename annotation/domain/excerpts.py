"""A line of a comment around what was found in it, in pieces: no mark-up, so that a page can escape each."""

from __future__ import annotations

from dataclasses import dataclass

BEGIN, END = "\x02", "\x03"
"""Stand around each hit in the text that the search hands over."""
LEAD = 40
"""How many characters are kept in front of the first hit, at most, where it stands far from the beginning."""
NEAR = 80
"""A hit within so many characters needs no cut at the beginning."""


@dataclass(frozen=True)
class Piece:
    text: str
    hit: bool = False


def pieces(marked: str, length: int = 180) -> list[Piece]:
    """The first `length` characters of a text, or those around its first hit, hits apart from the rest.

    Runs of white space become one space. What is left out shows as an ellipsis.
    """
    parts = _split(" ".join(marked.split()))
    whole = sum(len(part.text) for part in parts)
    first = _place_of_first_hit(parts)
    start = _start(parts, first, whole, length) if first > NEAR else 0
    found = _window(parts, start, start + length)
    if start:
        found.insert(0, Piece("… "))
    if start + length < whole:
        found.append(Piece("…"))
    return found


def _split(marked: str) -> list[Piece]:
    found: list[Piece] = []
    for place, part in enumerate(marked.split(BEGIN)):
        hit, _, rest = part.partition(END) if place else ("", "", part)
        found += [Piece(hit, hit=True), Piece(rest.replace(END, ""))]
    return [piece for piece in found if piece.text]


def _place_of_first_hit(parts: list[Piece]) -> int:
    place = 0
    for part in parts:
        if part.hit:
            return place
        place += len(part.text)
    return 0


def _start(parts: list[Piece], first: int, whole: int, length: int) -> int:
    """The beginning of a word in front of the first hit."""
    start = max(0, min(first - LEAD, whole - length))
    space = "".join(part.text for part in parts).find(" ", start, first)
    return start if start == 0 or space < 0 else space + 1


def _window(parts: list[Piece], start: int, end: int) -> list[Piece]:
    found, place = [], 0
    for part in parts:
        text = part.text[max(0, start - place) : max(0, end - place)]
        if text:
            found.append(Piece(text, part.hit))
        place += len(part.text)
    return found
