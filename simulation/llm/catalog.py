"""What each model can do, read from `catalog.toml`: facts are rows, never guesses from a name."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from simulation.llm.messages import Form


@dataclass(frozen=True)
class Abilities:
    forms: tuple[Form, ...]
    seed: bool
    logprobs: bool
    penalty: bool
    max_output: int
    """Most completion tokens it can give."""
    not_an_llm: bool = False
    cap_field: str = "max_tokens"
    """What the field of the completion cap is called; newer models of OpenAI: max_completion_tokens."""


def load_catalog(path: Path) -> dict[str, Abilities]:
    """Reads a catalogue. Raises ValueError naming the row that is wrong."""
    rows = {}
    for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
        try:
            fields["forms"] = tuple(Form(form) for form in fields["forms"])
            rows[name] = Abilities(**fields)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"{path.name}, [{name}]: {error}") from None
    return rows


CATALOG = load_catalog(Path(__file__).with_name("catalog.toml"))


def abilities(model: str) -> Abilities:
    """The row of `model`, or the careful default."""
    return CATALOG.get(model, CATALOG["default"])
