"""What tells one report from another, and an old one from a current one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def key_of(parameters: Mapping[str, Any]) -> str:
    """The key of a report: equal for equal parameters, in whatever order."""
    return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()


def stamp_of(*parts: object) -> str:
    """A stamp from whatever says how rows are."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
