"""The one exception that leaves this package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

ServerName = Literal["postgres", "valkey"]

OWN_SERVER = {
    "postgres": "set DATABASE_URL to a PostgreSQL server of your own",
    "valkey": "set REDIS_URL to a Redis or Valkey server of your own",
}


class EmbeddedServerError(RuntimeError):
    """An embedded server cannot be had. The message says why and what to do, in words to show as they are."""


def with_log_tail(message: str, log_file: Path, *, start: int = 0, lines: int = 20) -> str:
    """Add the last lines which the log got after byte `start`, so that older failures do not mislead."""
    try:
        with log_file.open("rb") as log:
            log.seek(start)
            tail = log.read()[-8000:].decode(errors="replace").strip().splitlines()[-lines:]
    except OSError:
        return message
    if not tail:
        return message
    return "\n".join([message, f"End of {log_file}:", *(f"  {line}" for line in tail)])
