"""A model's raw text -> lines whose marks (markdown, bullets, numbers, tables) are known and taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.domain.answer_names import plain

LONGEST = 60_000
"""Characters of an answer that are read; what stands behind is no answer to the question any more."""
_THOUGHT = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_REASONING = re.compile(rf"<{_THOUGHT}>.*?(?:</{_THOUGHT}>|\Z)", re.S | re.I)
_REASONING_END = re.compile(rf"</{_THOUGHT}>", re.I)
_TAGS = re.compile(
    r"</?(?:answer|output|response|result|final|final_answer|br|p|b|i|strong|em|u)\s*/?>", re.I
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_SIGNS = str.maketrans(
    {"：": ":", "；": ";", "、": ", ", "，": ", ", "\u00a0": " ", "\u3000": " ", "\t": " "}
    | dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")
)
_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\u0085\v\f]")

_KEYS_INLINE = re.compile(
    r"(?<=\S)[ |,;]{1,8}(?=[*_]{0,3}(?:Type|Inference|Guess(?:es)?|Note|Explanation|Reasoning)[*_]{0,3} ?:)"
)
_BEGINS_WITH_KEY = re.compile(r"[\s>#*_\-\d.)]*(?:Type|Inference|Guess)", re.I)
_QUOTED = re.compile(r"^(?:\s*>)+\s?")
_MARK = re.compile(
    r"(?:[-*+•–—·▪‣◦●○►➤→✓✔]\s+(?=\S)|[-–—•▪●](?=[^\W\d_])"
    r"|\(?(?P<number>1[0-5]|[1-9])(?:\)\s*(?=\S)|\.\s+(?=\S)|\.(?=[^\d\s.])|\ufe0f?\u20e3\s*(?=\S))"
    r"|\(?(?P<letter>[a-e])\)\s+(?=\S)|(?P<dotted>[a-c])\.\s+(?=\S))"
)
_MASK = r"(?<![^\s(\[;,])\*{3,}(?=[\s,.;)\]]|$)"
_STARS = re.compile(rf"(?P<mask>{_MASK})|\*+|`+")
_UNDERLINES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{2,3}(?!\w)|(?<=[^\W_])_(?!\w)")
_RULE = re.compile(r"[-=_*~\s]{3,}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an answer."""

    text: str
    """Without its mark and without markdown; empty for a blank line or a rule."""
    styled: str
    """Without its mark, but with bold and the like: what is bold in a list is the guess, not the reason."""
    mark: str = ""
    """The number of a numbered item (“1”), “-” for any bullet, nothing for a plain line."""
    is_heading: bool = False
    is_bold: bool = False
    """Whether the line, apart from a colon, is bold as a whole."""
    indent: int = 0
    """Blanks before it."""


def without_reasoning(text: str) -> str:
    """`text` without reasoning blocks: an unclosed one runs to the end, an unopened one from the start."""
    return _REASONING_END.split(_REASONING.sub("\n", text))[-1]


def tidy(text: str) -> str:
    """The part of `text` that is read, without reasoning, fences, answer tags and invisible signs, and with
    one sign for each colon, semicolon, comma and line end."""
    kept = _LINE_ENDS.sub("\n", without_reasoning(text[: 4 * LONGEST])[:LONGEST])
    return _FENCE.sub("", _TAGS.sub(" ", kept.translate(_SIGNS)))


def undecorated(text: str) -> str:
    """`text` without markdown for bold, italics and code; a mask (“***, Italy”) is none and stays."""
    bare = text.replace("\\_", "_").replace("\\*", "*") if "\\" in text else text
    if "*" in bare or "`" in bare:
        bare = _STARS.sub(lambda found: found["mask"] or "", bare)
    return (_UNDERLINES.sub("", bare) if "_" in bare else bare).strip()


def unmarked(text: str) -> tuple[str, str]:
    """(mark, rest) of a text that may begin with a bullet or a number; see `Line.mark`."""
    found = _MARK.match(text)
    if not found:
        return "", text
    letter = found["letter"] or found["dotted"]
    mark = found["number"] or (str("abcde".index(letter) + 1) if letter else "-")
    return mark, text[found.end() :]


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a tidied answer; keys in the middle of a line (“Type: x Inference: y”) begin a new one."""
    for raw in _untabled(text.split("\n")):
        if _BEGINS_WITH_KEY.match(raw):
            for piece in _KEYS_INLINE.sub("\n", raw).split("\n"):
                yield _line(piece)
        else:
            yield _line(raw)


def _line(raw: str) -> Line:
    body = _QUOTED.sub("", raw.rstrip())
    indent = len(body) - len(body.lstrip())
    body = body.strip()
    if not body or _RULE.fullmatch(body):
        return Line("", "")
    is_heading = body.startswith("#")
    body = body.lstrip("#").strip() if is_heading else body
    mark, styled = unmarked(body)
    text = undecorated(styled)
    if not mark and styled[:1] in "*_":
        mark, text = unmarked(text)
    bare = styled.rstrip(": ")
    is_bold = bare.startswith("**") and bare.endswith("**") and bare.count("**") == 2
    return Line(text, styled, mark, is_heading, is_bold, indent)


_TYPE_COLUMN = frozenset({"type", "attribute", "feature"})
_GUESS_COLUMN = re.compile(r"(?:top \w+ |my )?guess(?:es)?")


def _untabled(raw_lines: list[str]) -> Iterator[str]:
    """The lines, with each row of a table that has columns for type and guess told as a block."""
    columns: list[str] = []
    for raw in raw_lines:
        if raw.count("|") < 2 or not raw.lstrip().startswith("|"):
            columns = []
            yield raw
            continue
        cells = [undecorated(cell) for cell in raw.strip().strip("|").split("|")]
        if not columns:
            columns = _columns(cells)
            yield "" if columns else raw
        elif not all(_RULE.fullmatch(cell) or not cell.strip(":- ") for cell in cells):
            yield from (f"{column}: {cell}" for column, cell in zip(columns, cells, strict=False) if cell)


def _columns(cells: list[str]) -> list[str]:
    """What each column of a table holds; nothing where there is none for the type or none for the guess."""
    names = [plain(cell) for cell in cells]
    told = [
        "Type"
        if name in _TYPE_COLUMN
        else "Guess"
        if _GUESS_COLUMN.fullmatch(name)
        else "Guess " + name[-1]
        if re.fullmatch(r"guess \d", name)
        else "Inference"
        for name in names
    ]
    return told if "Type" in told and any(name.startswith("Guess") for name in told) else []
