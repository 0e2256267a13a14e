"""Who waits for an import: hears how far it is, and may want it to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Stopped(Exception):
    """The import is to end here; whoever began its transaction takes it back."""


class Watch:
    """The one who does not mind. Methods are called often, and may raise Stopped."""

    def stage(self, name: str) -> None:
        """What begins now: "checking" or "storing"."""

    def read(self, place: int) -> None:
        """So many bytes of the file, as it lies on the disk, have been read at this stage."""

    def wrote(self, count: int) -> None:
        """So many rows more have been written."""


NOBODY = Watch()
_READING: ContextVar[Callable[[int], None]] = ContextVar("reading", default=NOBODY.read)


@contextmanager
def reading_for(watch: Watch) -> Iterator[None]:
    """Files that are opened by `WatchedFile` inside are read for `watch`.

    Readers are generators in generators that know nothing of who waits, so the address does not travel with
    the calls.
    """
    token = _READING.set(watch.read)
    try:
        yield
    finally:
        _READING.reset(token)


def told(place: int) -> None:
    """Says to who waits how far a file has been read that cannot be opened as a `WatchedFile`."""
    _READING.get()(place)


class WatchedFile(FileIO):
    """A file on the disk that tells how far it has been read; to be wrapped into a buffer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._tell_watch = _READING.get()
        self._place = 0

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer) or 0
        self._place += count
        self._tell_watch(self._place)
        return count

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._place = super().seek(offset, whence)
        return self._place
