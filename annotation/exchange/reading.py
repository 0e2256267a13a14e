"""Bytes to text: plain or gzip, with or without a byte order mark, with line numbers."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

CHUNK = 1 << 20
MAX_RECORD = 16 << 20
"""A line, a tree or a profile may have this many bytes.

Enough for any: the largest published tree has 50 KB, a row or a profile 10 KB, and a thread of ten thousand
long comments fits. Too few to exhaust the memory, in which a record exists some ten times over on its way
(bytes, text, values, JSON for the database). Packed, a thousandth of it is enough to send one.
"""
TOO_LONG = f"is longer than {MAX_RECORD >> 20} MiB; split it, or check that this is the right file"
BOM = codecs.BOM_UTF8


class Unreadable(Exception):
    """The file, or one line of it, cannot be read; `message` says why and what to do."""

    def __init__(self, line: int | None, field: str, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.field = field
        self.message = message


class Line(NamedTuple):
    number: int
    data: bytes


def stem(name: str) -> str:
    """The name that stands for a thread: without .gz and the ending before it."""
    return re.sub(r"(\.[A-Za-z]{1,6})?(\.gz)?$", "", name, flags=re.IGNORECASE, count=1)


def is_text(name: str) -> bool:
    """Whether a name can be stored and printed: bytes that are no UTF-8 and NUL cannot."""
    return readable(name) == name and "\0" not in name


def readable(name: str) -> str:
    """A name that can be printed, with question marks for what is no UTF-8."""
    return name.encode("utf-8", "replace").decode()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The content, unpacked if the file begins like a gzip file, whatever its name."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not packed:
            yield raw
            return
        with gzip.open(raw) as unpacked:
            yield cast(BinaryIO, unpacked)


def head(path: Path) -> str:
    """The first piece, to see what the file is. Faults are left to whoever reads it in earnest."""
    data = bytearray()
    with opened(path) as stream, suppress(EOFError, gzip.BadGzipFile, zlib.error):
        while len(data) < CHUNK and (piece := stream.read1(CHUNK)):  # type: ignore[attr-defined]
            data += piece
    return data.decode("utf-8-sig", "replace")


def lines(path: Path) -> Iterator[Line]:
    """The lines that are not blank. Raises Unreadable at a broken gzip file or a line without end."""
    number = 0
    with opened(path) as stream, _named_faults(lambda: number + 1):
        while data := stream.readline(MAX_RECORD + 1):
            number += 1
            if len(data) > MAX_RECORD:
                raise Unreadable(number, "", f"the line {TOO_LONG}")
            if number == 1:
                data = data.removeprefix(BOM)
            if not data.isspace():
                yield Line(number, data)


def chunks(path: Path) -> Iterator[str]:
    """The text in pieces. Raises Unreadable at a broken gzip file or bytes that are not UTF-8."""
    decode = codecs.getincrementaldecoder("utf-8-sig")()
    line = 1
    with opened(path) as stream, _named_faults(lambda: line):
        while data := stream.read(CHUNK):
            yield _decoded(decode, data, line)
            line += data.count(b"\n")
        if rest := _decoded(decode, b"", line):
            yield rest


def _decoded(decode: codecs.IncrementalDecoder, data: bytes, line: int) -> str:
    try:
        return decode.decode(data, final=not data)
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        raise Unreadable(line + before.count(b"\n"), "", not_utf8(error)) from None


def not_utf8(error: UnicodeDecodeError) -> str:
    """What to say about bytes that are no text."""
    start = error.object.rfind(b"\n", 0, error.start) + 1
    column = len(error.object[start : error.start].decode("utf-8", "replace")) + 1
    byte = f" (byte 0x{error.object[error.start]:02x})" if error.start < len(error.object) else ""
    return f"column {column} is not UTF-8{byte}; save the file as UTF-8"


@contextmanager
def _named_faults(line: Callable[[], int]) -> Iterator[None]:
    """Turns what a damaged gzip file raises into Unreadable at the line that was reached."""
    try:
        yield
    except EOFError:
        message = "the .gz file ends too early; copy or download it again"
    except (gzip.BadGzipFile, zlib.error) as error:
        message = f"the .gz file is damaged ({error}); copy or download it again"
    else:
        return
    raise Unreadable(line(), "", message)
