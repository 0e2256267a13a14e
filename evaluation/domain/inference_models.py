"""The published checkpoints as a preset of names. The list is `inference_models.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("inference_models.toml")


@cache
def published() -> dict[str, str]:
    """What a chart calls a model -> the name by which it is asked for; in the order of the paper's list."""
    return dict(tomllib.loads(TABLE.read_text(encoding="utf-8"))["models"])


def called(model: str) -> str:
    """What a chart calls a model: its published name where it has one, else the name itself."""
    return next((name for name, asked in published().items() if asked == model), model)
