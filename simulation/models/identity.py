"""Random public ids: what addresses and payloads carry instead of database ids."""

import secrets
from typing import Any

from django.db import models

ALPHABET = b"23456789abcdefghijkmnpqrstuvwxyz"  # 32 signs, none of which looks like another
_TABLE = bytes(ALPHABET[number % 32] for number in range(256))
LENGTH = 12


def new_public_id() -> str:
    """Twelve random signs, 60 bits: unguessable in practice, short enough to read aloud."""
    return secrets.token_bytes(LENGTH).translate(_TABLE).decode()


class PublicIdField(models.CharField):
    """A unique random id, made when the object is."""

    def __init__(self, **options: Any) -> None:
        fixed: dict[str, Any] = {
            "max_length": LENGTH,
            "unique": True,
            "default": new_public_id,
            "editable": False,
        }
        super().__init__(**{**options, **fixed})

    def db_type(self, connection: Any) -> str:
        """varchar by its long name: under the short one Django adds a second index, for LIKE, which nobody
        uses."""
        return f"character varying({LENGTH})"

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        for fixed in ("max_length", "unique", "default", "editable"):
            options.pop(fixed, None)
        return name, path, args, options
