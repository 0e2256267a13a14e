"""Prompt files become rows when a run starts; what it was started with is what it goes on with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from simulation.domain.plans import BadPlan
from simulation.llm.prompts import BadPrompt, Prompt, load, parse, suffix_of
from simulation.models import PromptVersion, Run

FOLDER = Path(settings.BASE_DIR) / "simulation" / "prompts"
PLATFORMS = "platforms"
"""The folder with a file for each place where threads may be written."""
PLATFORM = "reddit"
"""Where threads are written, unless a run says otherwise."""
PARTS = frozenset({"place", "task", "post_rules", "opening", "tone", "reply_rules", "post_form"})
"""What the file of a platform says: how the opening post is stored (`post_form`), and words for prompts."""
THREAD = ("thread/persona", "thread/topic", "thread/interest", "thread/comment")
STYLE = "thread/style"


class Pinned(NamedTuple):
    """A prompt as a run has it: the row that calls refer to, and the prompt itself."""

    row: PromptVersion
    prompt: Prompt


class Platform(NamedTuple):
    """A place where threads may be written, as a form offers it."""

    key: str
    label: str
    help: str


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


def freeze_thread(*, language: str, platform: str) -> dict[str, str]:
    """The prompts of a simulation in a language and on a platform; that of the platform is called so.

    Raises BadPlan naming the file that is missing or what is wrong with it.
    """
    frozen = {}
    for name in THREAD:
        frozen[name] = _frozen(name, language, "language")
    frozen["platform"] = _frozen(f"{PLATFORMS}/{platform}", language, "platform")
    return frozen


def _frozen(name: str, language: str, field: str) -> str:
    shown = f"simulation/prompts/{name}{suffix_of(language)}"
    wanted = file_of(name, language)
    if not wanted.is_relative_to(FOLDER) or not wanted.is_file():
        offered = languages() if field == "language" else [one.key for one in platforms(language)]
        there = f"There are: {', '.join(offered)}." if offered else "There are none in this language."
        raise BadPlan(field, f"There is no prompt file {shown}. {there}")
    try:
        missing = PARTS - load(FOLDER, name, language).parts.keys() if field == "platform" else ()
        if missing:
            raise BadPrompt(f"lacks the parts {', '.join(sorted(missing))}")
        return freeze(FOLDER, [name], language=language)[name]
    except BadPrompt as error:
        raise BadPlan(field, f"{shown}: {error}") from None


def languages() -> list[str]:
    """Codes of the languages in which all prompts of a thread and at least one platform are there."""
    found = {"en"}
    for path in (FOLDER / "thread").glob("topic.*.md"):
        found.add(path.name.split(".")[1])
    return sorted(
        one
        for one in found
        if all(file_of(name, one).is_file() for name in (*THREAD, STYLE)) and platforms(one)
    )


def platforms(language: str) -> list[Platform]:
    """What can be chosen in a language, the usual one first.

    A file that is wrong is offered with what is wrong as its help; a run on it does not start.
    """
    suffix = suffix_of(language)
    keys = [
        path.name.removesuffix(suffix)
        for path in (FOLDER / PLATFORMS).glob(f"*{suffix}")
        if "." not in path.name.removesuffix(suffix)
    ]
    found = []
    for key in sorted(keys, key=lambda key: (key != PLATFORM, key)):
        try:
            file = load(FOLDER, f"{PLATFORMS}/{key}", language)
        except BadPrompt as error:
            found.append(Platform(key, key, f"This file cannot be used: {error}"))
        else:
            found.append(Platform(key, file.label or key, file.help))
    return found


def file_of(name: str, language: str) -> Path:
    """Where the prompt of this name is, or would be."""
    return (FOLDER / f"{name}{suffix_of(language)}").resolve()


def pinned(run: Run, name: str) -> Pinned:
    """The version of a prompt that the run was started with."""
    return version(run.plan["prompts"][name])


def platform_parts(run: Run) -> Mapping[str, str]:
    """What the run's platform adds to its prompts. Runs from before there was a choice have the usual one."""
    digest = run.plan["prompts"].get("platform")
    if digest is None:
        return _usual_platform(str(run.plan.get("language") or "en"))
    return version(digest).prompt.parts


@lru_cache(maxsize=16)
def _usual_platform(language: str) -> Mapping[str, str]:
    return load(FOLDER, f"{PLATFORMS}/{PLATFORM}", language).parts


@lru_cache(maxsize=256)
def version(digest: str) -> Pinned:
    """Versions never change, so each is read and parsed once a process."""
    row = PromptVersion.objects.get(digest=digest)
    return Pinned(row, parse(row.source))
