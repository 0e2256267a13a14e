"""Typed readers of environment variables.

A reader refuses a bad value by naming the variable, what it holds and what it may hold, so that a
mistake in a deployment ends at start-up and not in the middle of a labeler's day. Every name read is
recorded: a test compares the record with `.env.example`.
"""

from collections.abc import Mapping
from datetime import datetime, time
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


class BadSetting(Exception):
    """An environment variable holds something that cannot be used."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name


class Env:
    """Reads variables from `source`. An empty value counts as not set."""

    def __init__(self, source: Mapping[str, str]) -> None:
        self._source = source
        self.names: set[str] = set()

    def _raw(self, name: str) -> str:
        self.names.add(name)
        return self._source.get(name, "").strip()

    def text(self, name: str, default: str = "") -> str:
        return self._raw(name) or default

    def flag(self, name: str, default: bool = False) -> bool:
        raw = self._raw(name).lower()
        if not raw:
            return default
        if raw in TRUE:
            return True
        if raw in FALSE:
            return False
        raise BadSetting(name, f"{raw!r} is neither yes nor no; write 1 or 0")

    def whole(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number within [least, most]."""
        raw = self._raw(name)
        if not raw:
            return default
        try:
            number = int(raw)
        except ValueError:
            raise BadSetting(name, f"{raw!r} is not a whole number") from None
        if not least <= number <= most:
            raise BadSetting(name, f"{number} is outside {least} to {most}")
        return number

    def words(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """A comma-separated list; blanks around the words do not matter."""
        raw = self._raw(name)
        words = [word.strip() for word in raw.split(",") if word.strip()]
        if raw and not words:
            raise BadSetting(name, "there is nothing between the commas")
        return words or list(default)

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        raw = self._raw(name) or default
        if raw not in allowed:
            raise BadSetting(name, f"{raw!r} is not one of {', '.join(allowed)}")
        return raw

    def zone(self, name: str, default: str) -> str:
        """The name of a time zone that this machine knows."""
        raw = self._raw(name) or default
        try:
            ZoneInfo(raw)
        except (KeyError, ValueError, OSError):
            raise BadSetting(name, f"{raw!r} is not a time zone; write one as Europe/Zurich") from None
        return raw

    def time(self, name: str, default: str) -> time:
        """A time of day as HH:MM."""
        raw = self._raw(name) or default
        try:
            return datetime.strptime(raw, "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
        except ValueError:
            raise BadSetting(name, f"{raw!r} is not a time of day; write one as 02:30") from None

    def folder(self, name: str, default: Path) -> Path:
        """A folder's path; it need not exist yet, but may not be a file."""
        raw = self._raw(name)
        path = Path(raw).expanduser() if raw else default
        if path.exists() and not path.is_dir():
            raise BadSetting(name, f"{path} is a file, a folder is needed")
        return path.resolve()

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        """An address with one of `schemes`, or the empty string. Problems are told without its password."""
        raw = self._raw(name)
        if not raw:
            return ""
        try:
            parts = urlsplit(raw)
        except ValueError:
            raise BadSetting(name, "this is not an address; is a bracket missing?") from None
        try:
            _ = parts.port
        except ValueError:
            raise BadSetting(
                name, "the port is not a number from 0 to 65535 (in a password, write / as %2F, # as %23)"
            ) from None
        if parts.scheme not in schemes:
            allowed = ", ".join(f"{scheme}://" for scheme in schemes)
            raise BadSetting(name, f"the address must begin with {allowed}")
        return raw
