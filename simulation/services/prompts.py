"""Prompt files become rows when a run starts; what it was started with is what it goes on with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from simulation.llm.prompts import Prompt, load, parse
from simulation.models import PromptVersion, Run

FOLDER = Path(settings.BASE_DIR) / "simulation" / "prompts"


class Pinned(NamedTuple):
    """A prompt as a run has it: the row that calls refer to, and the prompt itself."""

    row: PromptVersion
    prompt: Prompt


def freeze(folder: Path, names: Iterable[str], *, language: str = "en") -> dict[str, str]:
    """Name -> digest of each prompt file as it is now; versions not known yet are kept for ever.

    Raises BadPrompt for a file that is missing or wrong.
    """
    digests = {}
    for name in names:
        prompt = load(folder, name, language)
        PromptVersion.objects.get_or_create(
            digest=prompt.digest,
            defaults={"name": prompt.name, "language": prompt.language, "source": prompt.source},
        )
        digests[name] = prompt.digest
    return digests


def pinned(run: Run, name: str) -> Pinned:
    """The version of a prompt that the run was started with."""
    row = PromptVersion.objects.get(digest=run.plan["prompts"][name])
    return Pinned(row, _parsed(row.source))


@lru_cache(maxsize=256)
def _parsed(source: str) -> Prompt:
    return parse(source)
