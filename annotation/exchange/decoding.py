"""JSON text to a value.

Stricter than the standard library where PostgreSQL is: no NaN, no infinity, no NUL character, no half of
a surrogate pair. A file is refused with the place, instead of failing in the middle of a COPY.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from contextlib import suppress
from typing import Any, NamedTuple

from annotation.exchange.reading import Unreadable

BLANK = re.compile(r"[ \t\r\n]*")
# A NUL, half of a surrogate pair, or an escaped backslash before a u, which could hide one.
SUSPICIOUS = re.compile(
    r"\\(?:u0000|\\u"
    r"|u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\)u[dD][c-fC-F])"
)
WHOLE = 1e16
DEEPEST = 400
TOO_DEEP = (
    "is nested too deeply: a tree holds some ninety levels of replies; write deeper threads as rows,"
    " one comment a line with parent_id"
)


class BadCharacter(ValueError):
    """A text that PostgreSQL cannot hold, and the field it stands in."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _number(digits: str) -> float:
    """A number with a point or an exponent, so that the database gives an equal one back.

    From 1e16 on Python writes exponents; PostgreSQL reads them as whole numbers, digit by digit, which are
    not always the same number. Written out as the whole number that it is, it stays the same.
    """
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number if abs(number) < WHOLE else int(number)


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not JSON; write null or leave the field out")


class _Repeated(ValueError):
    """An object has this key twice. Of two values the standard library would keep the last, in silence."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Repeated(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


_DECODER = json.JSONDecoder(parse_float=_number, parse_constant=_refused, object_pairs_hook=_object)


class _Placing(json.JSONDecoder):
    """Decodes again, slowly, what has a key twice, to say where the innermost such object begins."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=_object)
        self.start: int | None = None
        self.parse_object = self._parse
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]

    def _parse(self, text_and_start: tuple[str, int], *others: Any) -> Any:
        try:
            return json.decoder.JSONObject(text_and_start, *others)  # type: ignore[attr-defined]
        except _Repeated:
            if self.start is None:
                self.start = text_and_start[1] - 1
            raise


def _repeated(key: str, text: str, start: int) -> json.JSONDecodeError:
    placing = _Placing()
    with suppress(_Repeated, RecursionError):
        placing.raw_decode(text, start)
    shown = key if len(key) <= 40 else f"{key[:39]}…"
    message = f"the object that begins here has “{shown}” twice; keep one of them"
    return json.JSONDecodeError(message, text, start if placing.start is None else placing.start)


class Decoded(NamedTuple):
    value: Any
    end: int


def decode(text: str) -> Any:
    """The one value that `text` is. Raises ValueError (JSONDecodeError where a place is known)."""
    found = decode_at(text, after_blanks(text, 0))
    end = after_blanks(text, found.end)
    if end != len(text):
        raise json.JSONDecodeError("something follows the end of the value", text, end)
    return found.value


def decode_at(text: str, start: int) -> Decoded:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except _Repeated as error:
        raise _repeated(str(error), text, start) from None
    if text.count("{", start, end) + text.count("[", start, end) > DEEPEST:
        _refuse_depth(value)
    if text.find("\\u", start, end) != -1 and SUSPICIOUS.search(text, start, end):
        _refuse_bad_characters(value)
    return Decoded(value, end)


def after_blanks(text: str, start: int) -> int:
    found = BLANK.match(text, start)
    return found.end() if found else start


def _refuse_depth(value: Any) -> None:
    """Refuses what could be read now, but not again where the stack is fuller already."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _refuse_bad_characters(value: Any) -> None:
    waiting = [("", value)]
    while waiting:
        field, one = waiting.pop()
        if isinstance(one, str):
            _check_text(field, one)
        elif isinstance(one, dict):
            for key, inner in one.items():
                _check_text(field, key)
                waiting.append((f"{field}.{key}" if field else key, inner))
        elif isinstance(one, list):
            waiting += [(f"{field}[{index}]", inner) for index, inner in enumerate(one)]


def _check_text(field: str, text: str) -> None:
    if "\x00" in text:
        raise BadCharacter(field, "holds a NUL character (\\u0000), which cannot be stored; remove it")
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "holds half of a surrogate pair (\\ud800 to \\udfff); write the whole character"
        raise BadCharacter(field, message) from None


def fault(error: ValueError, *, line: int = 1, prefix: str = "") -> Unreadable:
    """A decoder's complaint with line, and column or field; `line` is where its text began."""
    if isinstance(error, json.JSONDecodeError):
        return Unreadable(line + error.lineno - 1, "", f"not valid JSON at column {error.colno}: {error.msg}")
    if isinstance(error, BadCharacter):
        return Unreadable(line, f"{prefix}{error.field}", str(error))
    return Unreadable(line, "", "a number has too many digits" if "digits" in str(error) else str(error))
