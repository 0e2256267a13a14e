"""The prompts by which models are asked about authors: files of one folder, a variant each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from simulation.domain.plans import BadPlan
from simulation.llm.prompts import BadPrompt, load, suffix_of
from simulation.services import prompts

FOLDER = Path(settings.BASE_DIR) / "evaluation" / "prompts"
PUBLISHED = "infer_profile"


@dataclass(frozen=True)
class Variant:
    """One way to ask. `name` is that of its file; `title` says what is particular about it."""

    name: str
    title: str


def variants(language: str, *, folder: Path = FOLDER) -> list[Variant]:
    """Every `infer_*.md` that there is in `language`, the published one first. A new file is one more."""
    names = {path.name.split(".")[0] for path in folder.glob("infer_*.md")}
    return [
        Variant(name, load(folder, name, language).parts.get("title", ""))
        for name in sorted(names, key=lambda name: (name != PUBLISHED, name))
        if (folder / f"{name}{suffix_of(language)}").is_file()
    ]


def freeze(name: str, language: str, *, folder: Path = FOLDER) -> dict[str, str]:
    """The prompt as it is now, for a run's plan.

    Raises BadPlan where there is none of that name in the language: a prompt of another language is never
    taken instead.
    """
    path = folder / f"{name}{suffix_of(language)}"
    if path.parent != folder or not path.is_file():
        raise BadPlan("variant", f"There is no prompt “{name}” for the language “{language}”.")
    try:
        return prompts.freeze(folder, [name], language=language)
    except BadPrompt as problem:
        raise BadPlan("variant", f"The prompt cannot be used: {problem}") from None
