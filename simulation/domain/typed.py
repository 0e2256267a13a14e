"""Typed confirmation: whoever does what is hard to undo types the name of the thing."""

import unicodedata


class NotConfirmed(Exception):
    """What was typed is not the name; the message is fit for the person who typed it."""


def require_typed(typed: str, name: str) -> None:
    """Raises NotConfirmed unless `typed` is `name`, capitals included.

    Spaces around it and how many there are between words do not matter: a page does not show them either.
    Nor does it matter by which signs of Unicode a letter with an accent is written.
    """
    if _plain(typed) == _plain(name):
        return
    if not _plain(typed):
        raise NotConfirmed(f"Nothing was typed. Type the name, “{name}”, to confirm.")
    raise NotConfirmed(f"“{_short(typed)}” is not the name. Type “{name}”, capitals included, to confirm.")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _short(text: str) -> str:
    plain = _plain(text)
    return plain if len(plain) <= 80 else f"{plain[:79]}…"
