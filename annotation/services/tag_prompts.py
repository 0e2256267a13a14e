"""The prompts by which comments are tagged and tags judged: files of one folder, a variant each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from simulation.domain.plans import BadPlan
from simulation.llm.prompts import BadPrompt, load
from simulation.services import prompts

FOLDER = Path(settings.BASE_DIR) / "annotation" / "prompts"
FULL, JUDGE = "tag_comment", "judge_tags"


@dataclass(frozen=True)
class Variant:
    """One way to ask for tags. `name` is that of its file; `title` says what is particular about it."""

    name: str
    title: str


def variants(language: str, *, folder: Path = FOLDER) -> list[Variant]:
    """Every `tag_*.md` that there is in `language`, the full one first. A new file is a new variant."""
    names = sorted(
        {path.name.split(".")[0] for path in folder.glob("tag_*.md")}, key=lambda n: (n != FULL, n)
    )
    found = []
    for name in names:
        if _path(folder, name, language).is_file():
            found.append(Variant(name, load(folder, name, language).parts.get("title", "")))
    return found


def freeze(name: str, language: str, *, field: str = "variant", folder: Path = FOLDER) -> dict[str, str]:
    """The prompt as it is now, for a run's plan.

    Raises BadPlan where there is none of that name in the language: a prompt of another language is never
    taken instead.
    """
    path = _path(folder, name, language)
    if path.parent != folder or not path.is_file():
        known = ", ".join(one.name for one in variants(language, folder=folder)) or "none"
        raise BadPlan(
            field,
            f"There is no prompt “{name}” for the language “{language}”; to tag in it there are: {known}."
            f" Write the file {path.name}, or set another language for the corpus.",
        )
    try:
        return prompts.freeze(folder, [name], language=language)
    except BadPrompt as problem:
        raise BadPlan(field, f"The prompt cannot be used: {problem}") from None


def _path(folder: Path, name: str, language: str) -> Path:
    return folder / (f"{name}.md" if language == "en" else f"{name}.{language}.md")
