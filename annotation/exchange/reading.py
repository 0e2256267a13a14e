"""Bytes to text: plain or gzip, with or without a byte order mark, with line numbers."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from annotation.exchange.watching import WatchedFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20
MAX_RECORD = 16 << 20
"""A line, a tree or a profile may have this many bytes.

Enough for any: the largest published tree has 50 KB, a row or a profile 10 KB, and a thread of ten thousand
long comments fits. Too few to exhaust the memory, in which a record exists some ten times over on its way
(bytes, text, values, JSON for the database). Packed, a thousandth of it is enough to send one.
"""
TOO_LONG = f"is longer than {MAX_RECORD >> 20} MiB; split it, or check that this is the right file"
FIRST_LOOK = 4 * MAX_RECORD
"""Bytes of a file, unpacked, that a first look goes into: packed, it may hold a thousand times its size."""
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
    with BufferedReader(WatchedFile(path)) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not packed:
            yield raw
            return
        with gzip.open(raw) as unpacked:
            yield cast(BinaryIO, unpacked)


class _Beginning(RawIOBase):
    """The first bytes of a stream, as if it ended there."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        super().__init__()
        self._stream, self._left = stream, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        data = self._stream.read(min(len(memoryview(buffer)), self._left))
        memoryview(buffer)[: len(data)] = data
        self._left -= len(data)
        return len(data)


@contextmanager
def beginning(path: Path, most: int | None) -> Iterator[BinaryIO]:
    """As `opened`, but at most so many bytes of the content; None: all of it."""
    with opened(path) as stream:
        if most is None:
            yield stream
        else:
            yield cast(BinaryIO, BufferedReader(_Beginning(stream, most)))


def first_bytes(path: Path) -> bytes:
    """The first piece, unpacked. Faults are left to whoever reads the file in earnest."""
    data = bytearray()
    with opened(path) as stream, suppress(EOFError, gzip.BadGzipFile, zlib.error):
        while len(data) < CHUNK and (piece := stream.read1(CHUNK)):  # type: ignore[attr-defined]
            data += piece
    return bytes(data)


def head(path: Path) -> str:
    """The first piece as text, to see what the file is."""
    return first_bytes(path).decode("utf-8-sig", "replace")


def lines(path: Path, most: int | None = None) -> Iterator[Line]:
    """The lines that are not blank, `most`: of the first so many bytes.

    Raises Unreadable at a broken gzip file or a line without end.
    """
    number = 0
    with beginning(path, most) as stream, named_faults(lambda: number + 1):
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
    with opened(path) as stream, named_faults(lambda: line):
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
    hint = " (perhaps it is Windows-1252, as spreadsheets write)" if _is_western(error) else ""
    return f"column {column} is not UTF-8{byte}; save the file as UTF-8{hint}"


def _is_western(error: UnicodeDecodeError) -> bool:
    """Whether the byte stands beside a letter and would, in cp1252, be a letter or sign."""
    data, start = error.object, error.start
    beside = data[max(0, start - 1) : start] + data[start + 1 : start + 2]
    sign = data[start : start + 1].decode("cp1252", "ignore")
    return sign.isprintable() and sign != "" and any(chr(byte).isalpha() for byte in beside if byte < 128)


def undecodable(path: Path) -> Unreadable:
    """What to say of a file some byte of which is not UTF-8: reads it again, to find the first one."""
    try:
        for _ in chunks(path):
            pass
    except Unreadable as fault:
        return fault
    return Unreadable(None, "", "is not UTF-8; save the file as UTF-8")


def refuse_other_encodings(data: bytes) -> None:
    """Raises Unreadable for a file whose first bytes say that it is UTF-16 or UTF-32."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    sparse = len(data) > 3 and (data[0] == 0) != (data[1] == 0) and data[:64].count(0) * 3 > len(data[:64])
    if marked or sparse:
        raise Unreadable(
            1, "", "the file is UTF-16 or UTF-32, beginning with its first byte; save it as UTF-8"
        )


PACKED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet (.xlsx); unpack it, or save the table as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls); save the table as CSV in UTF-8",
    b"BZh91AY&SY": "packed with bzip2; unpack it, or pack it with gzip",
    b"\xfd7zXZ": "packed with xz; unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it, or pack it with gzip",
    b"\x1f\x8b": "packed with gzip twice; unpack it once",
}


def refuse_packed(data: bytes) -> None:
    """Raises Unreadable for a file that begins as something else than text, with what to do about it."""
    for start, said in PACKED.items():
        if data.startswith(start):
            raise Unreadable(None, "", f"the file is {said}")


@contextmanager
def named_faults(line: Callable[[], int]) -> Iterator[None]:
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
