"""JSON that may be larger than memory: one member or element at a time, with the line of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from annotation.exchange.decoding import after_blanks, decode_at, fault
from annotation.exchange.reading import MAX_RECORD, TOO_LONG, Unreadable

# A number or word at the very end of what has been read so far may go on in the next piece.
TAIL = 16


class Entry(NamedTuple):
    """A member of a JSON object, or an element of an array (`key` is then ""), and the line it begins in."""

    line: int
    key: str
    value: Any


class Scanner:
    """Walks through one JSON object or array that may be larger than memory."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._at = 0
        self.line = 1
        self._column = 1

    def entries(self) -> Iterator[Entry]:
        """The members of the object, or elements of the array, that the text is."""
        opening = self._next()
        closing = {"{": "}", "[": "]"}.get(opening)
        if closing is None:
            raise self._fault("a JSON object or array is expected")
        self._move(self._at + 1)
        if self._next() == closing:
            self._move(self._at + 1)
        else:
            yield from self._until(closing)
        if self._next():
            raise self._fault("something follows the end of the value")

    def _until(self, closing: str) -> Iterator[Entry]:
        while True:
            line, key = self.line, ""
            if closing == "}":
                if self._next() != '"':
                    raise self._fault("a name in double quotes is expected")
                key = self._value()
                self._expect(":")
            self._next()
            yield Entry(line, key, self._value(f"{key}." if key else ""))
            if self._next() == closing:
                self._move(self._at + 1)
                return
            self._expect(",")
            self._next()

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise self._fault(f"“{sign}” is expected")
        self._move(self._at + 1)

    def _next(self) -> str:
        """The next sign that is not blank, "" at the end of the text."""
        while True:
            self._move(after_blanks(self._text, self._at))
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self, prefix: str = "") -> Any:
        while True:
            try:
                found = decode_at(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - TAIL
                if not (cut and self._more()):
                    raise self._fault(error.msg, error.pos) from None
            except ValueError as error:
                raise fault(error, line=self.line, prefix=prefix) from None
            else:
                # A number may go on: of `1e9` only `1` is one as long as the rest has not been read.
                near_end = isinstance(found.value, int | float) and found.end >= len(self._text) - TAIL
                if not (near_end or found.end == len(self._text)) or not self._more():
                    self._refuse_longer(found.end - self._at)
                    self._move(found.end)
                    return found.value

    def _more(self) -> bool:
        """Reads on, as much as is there unread: a long value is then decoded few times over.

        But not much beyond the limit; a value that has reached it without its end is refused.
        """
        parts = [self._text[self._at :]]
        self._refuse_longer(len(parts[0]))
        wanted = min(len(parts[0]), MAX_RECORD - len(parts[0]))
        while wanted >= 0 and (piece := next(self._pieces, None)) is not None:
            parts.append(piece)
            wanted -= len(piece)
        if len(parts) == 1:
            return False
        self._text = "".join(parts)
        self._at = 0
        return True

    def _refuse_longer(self, length: int) -> None:
        if length > MAX_RECORD:
            raise Unreadable(self.line, "", f"the value that begins here {TOO_LONG}")

    def _move(self, to: int) -> None:
        breaks = self._text.count("\n", self._at, to)
        if breaks:
            self.line += breaks
            self._column = to - self._text.rfind("\n", self._at, to)
        else:
            self._column += to - self._at
        self._at = to

    def _fault(self, message: str, at: int | None = None) -> Unreadable:
        if at is not None:
            self._move(at)
        return Unreadable(self.line, "", f"not valid JSON at column {self._column}: {message}")
