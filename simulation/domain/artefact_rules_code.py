"""Artefacts that belong to programs and files: code, markup, escapes, encoded data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from simulation.domain.artefact_rule import Rule, Span, Written
from simulation.domain.artefact_shapes import shape

_SHRUG = re.compile(r"¯\\?_*\(ツ\)_*/¯|¯\\?_|_/¯")
_EMOTICON = re.compile(r"[\w^><=~.;:'*@-]_{1,8}[\w^><=~.;:'*@-](?!\w)|[=:;]\)|\(=|<3+|</3")
_CODE = shape("code", "keywords", "signs", "identifiers", flags=re.M)
_HAS_CODE = shape("code", "signs_of_code")


def _code(written: Written) -> Iterator[Span]:
    text = written.text
    if not _HAS_CODE.search(text):
        return
    for emoticon in (_SHRUG, _EMOTICON):
        text = emoticon.sub(lambda sign: " " * len(sign[0]), text)
    for match in _CODE.finditer(text):
        word = match[0].strip()
        if word and word.casefold() != written.username.casefold():
            yield match.span()


_MARKUP = shape("code", "markup", flags=re.I)
_HAS_MARKUP = re.compile(r"[<>&`#|\[{}\\$\"'=~]|\*\*|\n|---|___|;")


def _markup(written: Written) -> Iterator[Span]:
    if _HAS_MARKUP.search(written.text):
        for match in _MARKUP.finditer(written.text):
            yield match.span()


_ESCAPES = shape("code", "escapes")


def _escapes(written: Written) -> Iterator[Span]:
    text = written.text
    if (
        "\\" in text
        or "%" in text
        or "=" in text
        or "U+" in text
        or "\x1b" in text
        or "[" in text
        or "_x" in text
    ):
        text = _SHRUG.sub(lambda sign: " " * len(sign[0]), text)
        for match in _ESCAPES.finditer(text):
            yield match.span()


_BLOB = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_HASH = shape("code", "hashes", flags=re.I)
_KEY = re.compile(
    r"\bdata:\w+/[\w.+-]+;base64\b|\beyJ[\w-]{8,}|\bsk-[\w-]{10,}|-----BEGIN [A-Z ]+-----|\bAKIA[A-Z0-9]{8,}"
)


def _encoded(written: Written) -> Iterator[Span]:
    """Long runs in which digits, small and capital letters take turns: base64, keys, hashes."""
    text = written.text
    for kind in (_KEY, _HASH):
        for match in kind.finditer(text):
            if kind is _KEY or any(sign.isdigit() for sign in match[0]):
                yield match.span()
    for match in _BLOB.finditer(text):
        run = match[0]
        if "//" in text[max(0, match.start() - 8) : match.end()] or "www" in run:
            continue
        turns = sum(_sort(one) != _sort(next_) for one, next_ in pairwise(run))
        if (run.endswith("=") and turns > 3) or (turns > len(run) * 0.33 and sum(map(str.isdigit, run)) > 0):
            yield match.span()


def _sort(sign: str) -> int:
    return 0 if sign.islower() else 1 if sign.isupper() else 2 if sign.isdigit() else 3


_ERROR = shape("code", "errors", flags=re.I)


def _error(written: Written) -> Iterator[Span]:
    for match in _ERROR.finditer(written.text):
        yield match.span()


RULES = (
    Rule(
        "error",
        "Error message",
        "A program or a provider reports a failure: the message was stored as the comment.",
        _error,
    ),
    Rule(
        "code",
        "Program code",
        "Identifiers, calls, operators or a stack trace: pieces of a program, not of a comment.",
        _code,
    ),
    Rule(
        "markup", "Markup", "HTML, Markdown, JSON, LaTeX or style sheets came along with the words.", _markup
    ),
    Rule(
        "escapes",
        "Escape sequences",
        "Signs are written as a program writes them, such as \\n or \\u00e9.",
        _escapes,
    ),
    Rule(
        "encoded",
        "Encoded data",
        "A long run of mixed letters and digits: a key, a hash or data in base64.",
        _encoded,
    ),
)
