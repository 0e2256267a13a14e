"""Words in figures: how wide they are about, and how they are made to fit.

Fonts are the reader's own, so widths are estimated a little too large rather than measured.
"""

from __future__ import annotations

import re
import unicodedata

KEPT = "\u00a0"
"""A blank at which no line ends."""
_THIN = frozenset("iljI.,:;'|!()[]{}` " + KEPT)
_SMALL = frozenset('ftr-/\\"')
_BROAD = frozenset("mwMW@%–—…")


def plain(text: str) -> str:
    """Without what cannot be drawn or would turn a line around: control and format characters become
    nothing, other blanks a space."""
    kept = (" " if one.isspace() and one != KEPT else one for one in text)
    return "".join(one for one in kept if unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn"))


def breadth(text: str, size: float) -> float:
    """About how many pixels `text` takes at a font size of `size` pixels."""
    return size * sum(_breadth(one) for one in text)


def _breadth(one: str) -> float:
    if unicodedata.combining(one):
        return 0.0
    if unicodedata.east_asian_width(one) in "WF":
        return 1.05
    if one in _THIN:
        return 0.31
    if one in _SMALL:
        return 0.4
    if one in _BROAD:
        return 0.92
    return 0.7 if one.isupper() else 0.58


def shortened(text: str, most: float, size: float) -> str:
    """`text` within `most` pixels, an ellipsis for what had to go; at least its first character."""
    text = plain(text)
    if breadth(text, size) <= most:
        return text
    while len(text) > 1 and breadth(text + "…", size) > most:
        text = text[:-1]
    return text.rstrip() + "…"


def wrapped(text: str, most: float, size: float) -> list[str]:
    """`text` in lines of at most `most` pixels; a longer word is shortened."""
    lines: list[str] = []
    for word in filter(None, re.sub(r"(?<=\d) %", f"{KEPT}%", plain(text)).split(" ")):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and breadth(longer, size) <= most:
            lines[-1] = longer
        else:
            lines.append(shortened(word, most, size))
    return lines


def percent(share: float | None) -> str:
    """78.0; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}"


def points(difference: float | None) -> str:
    """+2.3 or −12.0, in percentage points; a dash where there is none."""
    if difference is None:
        return "–"
    said = f"{abs(100 * difference):.1f}"
    return said if said == "0.0" else f"{'+' if difference > 0 else '−'}{said}"


def counted(numbers: list[int]) -> str:
    """What an axis says of its denominators: "n 207", or "n 199–207" where they differ; n 0 for none."""
    if not numbers:
        return "n 0"
    least, most = min(numbers), max(numbers)
    return f"n {least}" if least == most else f"n {least}–{most}"


def brief(n: int) -> str:
    """A count for a narrow column: 334, 1.2k, 15k."""
    if n < 1000:
        return str(n)
    return f"{n / 1000:.1f}k" if n < 9950 else f"{n / 1000:.0f}k"
