"""Artefacts one sees by the signs alone: another script, broken encoding, loops."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from simulation.domain.artefact_rule import Rule, Span, Written
from simulation.domain.artefact_shapes import shape

# First code point of a block -> the script of its letters; "" has none.
_BLOCKS: tuple[tuple[int, str], ...] = (
    (0x0, "Latin"), (0x2B0, ""), (0x370, "Greek"), (0x400, "Cyrillic"), (0x530, "Armenian"),
    (0x590, "Hebrew"), (0x600, "Arabic"), (0x700, "Syriac"), (0x750, "Arabic"), (0x780, "Thaana"),
    (0x7C0, "NKo"), (0x860, "Arabic"), (0x900, "Devanagari"), (0x980, "Bengali"), (0xA00, "Gurmukhi"),
    (0xA80, "Gujarati"), (0xB00, "Oriya"), (0xB80, "Tamil"), (0xC00, "Telugu"), (0xC80, "Kannada"),
    (0xD00, "Malayalam"), (0xD80, "Sinhala"), (0xE00, "Thai"), (0xE80, "Lao"), (0xF00, "Tibetan"),
    (0x1000, "Myanmar"), (0x10A0, "Georgian"), (0x1100, "East Asian"), (0x1200, "Ethiopic"),
    (0x13A0, "Cherokee"), (0x1400, "Canadian"), (0x1680, "other"), (0x1780, "Khmer"),
    (0x1800, "Mongolian"), (0x1900, "other"), (0x1D00, ""), (0x1E00, "Latin"), (0x1F00, "Greek"),
    (0x2000, ""), (0x2C00, "other"), (0x2C60, "Latin"), (0x2C80, "other"), (0x2DE0, "Cyrillic"),
    (0x2E00, ""), (0x2E80, "East Asian"), (0xA000, "other"), (0xA640, "Cyrillic"), (0xA6A0, "other"),
    (0xA720, "Latin"), (0xA800, "other"), (0xAB30, "Latin"), (0xAB70, "other"), (0xAC00, "East Asian"),
    (0xD800, ""), (0xF900, "East Asian"), (0xFB00, "Latin"), (0xFB07, "other"), (0xFB1D, "Hebrew"),
    (0xFB50, "Arabic"), (0xFE00, ""), (0xFE70, "Arabic"), (0xFF00, "dressed up"),
    (0xFF66, "East Asian"), (0x10000, "other"), (0x1D400, "dressed up"), (0x1D800, "other"),
    (0x20000, "East Asian"), (0xE0000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]


def script_of(sign: str) -> str:
    """The script of a letter; empty for what is no letter."""
    if sign.isascii():
        return "Latin" if sign.isalpha() else ""
    if not (sign.isalpha() or unicodedata.category(sign) in ("Mn", "Mc")):
        return ""
    return _BLOCKS[bisect_right(_STARTS, ord(sign)) - 1][1]


_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0dff'’-]+[^\W\d_]*)*")
_QUOTES = "\"'“”‘’«»„‹›()[]「」『』"
_KAOMOJI = re.compile(r"¯\\?_*\(ツ\)_*/¯|[\u3131-\u318e]+|\([^\w\s()]{0,3}[^\x00-\u02ff][^()\n]{0,8}\)|ツ")
LONG = 16
"""Letters of another script in the middle of a text that are more than a greeting somebody lets drop."""
LONG_SIGNS = 8
"""The same where each sign is a syllable or a word."""


def _foreign(written: Written) -> Iterator[Span]:
    text = written.text
    if text.isascii():
        return
    text = _KAOMOJI.sub(lambda sign: " " * len(sign[0]), text)
    scripts = [script_of(sign) for sign in text]
    counts = Counter(filter(None, scripts))
    if len(counts) < 2:
        return
    main = counts.most_common(1)[0][0]
    others = [name for name in counts if name != main]
    runs = list(_other_runs(text, scripts, main))
    last = max(place for place, script in enumerate(scripts) if script)
    many = len({name for name in others if name not in ("Latin", "Greek")}) > 1
    for start, end in runs:
        script = Counter(filter(None, scripts[start:end])).most_common(1)[0][0]
        letters = sum(scripts[place] == script for place in range(start, end))
        if script == "Latin" or (script == "Greek" and letters < 2):
            continue
        long = LONG_SIGNS if script == "East Asian" else LONG
        is_quoted = (
            start > 0 and text[start - 1] in _QUOTES and text[end : end + 1] in _QUOTES and letters <= long
        )
        is_tail = last < end
        if script == "dressed up" or many or (not is_quoted and (is_tail or letters >= long)):
            yield start, end
    if main != "East Asian":
        yield from _mixed_words(text, scripts)


def _other_runs(text: str, scripts: list[str], main: str) -> Iterator[Span]:
    """Runs of letters that are not of the main script, over blanks and signs between them."""
    start = last = -1
    for place, script in enumerate(scripts):
        if script and script != main:
            start, last = (place if start < 0 else start), place
        elif script and start >= 0:
            yield start, last + 1
            start = -1
    if start >= 0:
        yield start, last + 1


def _mixed_words(text: str, scripts: list[str]) -> Iterator[Span]:
    for word in _WORD.finditer(text):
        inside = {scripts[place] for place in range(*word.span())} - {""}
        if len(inside) > 1 and len(word[0]) > 2:
            yield word.span()


def _byte(sign: str) -> int:
    """The byte that shows as `sign` where Windows-1252 or Latin-1 is read; -1 where none does."""
    try:
        return sign.encode("cp1252")[0]
    except UnicodeEncodeError:
        return ord(sign) if ord(sign) < 256 else -1


_LEAD = re.compile(r"[\u00c2-\u00f4]")
_BROKEN = shape("signs", "broken")


def _encoding(written: Written) -> Iterator[Span]:
    text = written.text
    for match in _BROKEN.finditer(text):
        yield match.span()
    if text.isascii():
        return
    for lead in _LEAD.finditer(text):
        first = ord(lead[0])
        size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        place = lead.start()
        rest = [_byte(sign) for sign in text[place + 1 : place + size]]
        # Two signs of Latin letters alone may be a word; the second byte of a broken letter shows as none.
        if len(rest) == size - 1 and all(0x80 <= one < 0xC0 for one in rest):
            yield place, place + size


_PART = re.compile(r"[\w'’]+")
_CALLS = {
    "no",
    "yes",
    "ha",
    "la",
    "na",
    "blah",
    "bla",
    "ja",
    "very",
    "so",
    "really",
    "please",
    "lol",
    "go",
    "yeah",
    "haha",
    "ho",
    "hey",
    "wow",
    "lmao",
    "nah",
    "da",
    "doo",
    "tick",
    "way",
    "way,",
}
_LAUGH = re.compile(r"(?i)[haeiojkxslmwrufgyn]+")
_SAME_SIGN = re.compile(r"(.)\1{19,}")
_PIECE = re.compile(r"(\S{2,20}?)\1{3,}")
_EMOJI = r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_FLOOD = re.compile(rf"(?:{_EMOJI}[\ufe0f\u200d\U0001f3fb-\U0001f3ff\s]*){{7,}}")
AGAIN = 8
"""Words in a row that nobody writes twice in one comment."""


def _loops(written: Written) -> Iterator[Span]:
    text = written.text
    yield from _repeated_words(text)
    for match in _SAME_SIGN.finditer(text):
        yield match.span()
    for match in _PIECE.finditer(text):
        piece = match[1]
        if (
            len(set(piece)) > 1
            and not _LAUGH.fullmatch(piece)
            and not re.fullmatch(r"[.,!?\s]+|\d+0+", match[0])
        ):
            yield match.span()
    for match in _FLOOD.finditer(text):
        yield match.start(), match.start() + len(match[0].rstrip())
    yield from _said_again(text)


def _said_again(text: str) -> Iterator[Span]:
    """Eight words that stood there before, and what goes on like it."""
    parts = list(_PART.finditer(text))
    words = [part[0].casefold() for part in parts]
    if len(words) < 2 * AGAIN or len(set(words)) > len(words) - AGAIN:
        return
    seen: dict[tuple[str, ...], int] = {}
    start = -1
    for place in range(len(words) - AGAIN + 1):
        run = tuple(words[place : place + AGAIN])
        is_again = seen.setdefault(run, place) != place
        if is_again and start < 0:
            start = place
        if start >= 0 and (not is_again or place == len(words) - AGAIN):
            yield parts[start].start(), parts[place + AGAIN - (1 if is_again else 2)].end()
            start = -1


def _repeated_words(text: str) -> Iterator[Span]:
    """A word five times in a row (a call, as "no no no", nine times), a phrase three or four times."""
    parts = list(_PART.finditer(text))
    words = [part[0].casefold() for part in parts]
    if len(set(words)) > len(words) - 3:
        return
    for size in range(1, 9):
        place = 0
        while place + 2 * size <= len(words):
            times = 1
            while words[place : place + size] == words[place + times * size : place + (times + 1) * size]:
                times += 1
            enough = {
                1: 9
                if words[place] in _CALLS or (_LAUGH.fullmatch(words[place]) and len(words[place]) < 5)
                else 5,
                2: 4,
            }.get(size, 3)
            if times >= enough and any(len(word) > 1 for word in words[place : place + size]):
                yield parts[place].start(), parts[place + times * size - 1].end()
            place += max(1, (times - 1) * size)
    tail = [word for word in words[-24:] if len(word) > 3]
    if len(tail) > 11:
        word, times = Counter(tail).most_common(1)[0]
        if times >= 7:
            last = [part for part in parts[-24:] if part[0].casefold() == word]
            yield last[0].start(), last[-1].end()


RULES = (
    Rule(
        "script",
        "Another script",
        "It ends in, or mixes in, letters of a script that the rest is not written in.",
        _foreign,
    ),
    Rule(
        "encoding",
        "Broken encoding",
        "Signs were read in the wrong encoding, are missing or cannot be seen.",
        _encoding,
    ),
    Rule(
        "loop",
        "Loop",
        "The same sign, word, phrase or sentence comes again and again: the generator was stuck.",
        _loops,
    ),
)
