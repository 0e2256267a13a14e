"""Prompts are files: a head that declares every variable, then the messages. Nothing is left to a guess.

    +++
    name = "thread/comment"
    language = "en"
    variables = ["persona", "style"]
    [parts]
    critic = "You disagree."
    +++
    # system
    You are ... $persona
    # user
    ...

Variables are written `$name` (a dollar sign is `$$`). A missing, an unknown and an undeclared variable are
errors. Parts are sentences that the code chooses among; they are filled like the rest.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template

from simulation.llm.messages import Message

SECTION = re.compile(r"^# (system|user|assistant)$", re.M)


class BadPrompt(Exception):
    """A prompt file, or the values for it, that cannot be used; the message says where and what."""


@dataclass(frozen=True)
class Prompt:
    name: str
    language: str
    variables: tuple[str, ...]
    sections: tuple[Message, ...]
    parts: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    """The file as it is; `parse(source)` gives an equal prompt."""
    label: str = ""
    """What a page calls it, where people choose among several files; else empty."""
    help: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the file: a changed sign is another version."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def render(self, **values: str) -> tuple[Message, ...]:
        """The messages with every variable filled in. Raises BadPrompt for a missing or unknown one."""
        if wrong := set(values).symmetric_difference(self.variables):
            takes = ", ".join(self.variables) or "nothing"
            raise BadPrompt(f"{self.name}: takes {takes}; wrong: {', '.join(sorted(wrong))}")
        return tuple(
            Message(section.role, _tidy(Template(section.content).substitute(values)))
            for section in self.sections
        )

    def part(self, key: str, **values: str) -> str:
        """One of the prompt's parts, filled in."""
        if key not in self.parts:
            raise BadPrompt(f"{self.name}: has no part {key!r}; it has {', '.join(self.parts)}")
        try:
            return Template(self.parts[key]).substitute(values)
        except KeyError as error:
            raise BadPrompt(f"{self.name}, part {key}: the value of ${error.args[0]} is missing") from None


def _tidy(text: str) -> str:
    """An empty variable leaves no hole: three line breaks and more become two."""
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def parse(source: str, *, where: str = "prompt") -> Prompt:
    """Reads the text of a prompt file. Raises BadPrompt naming `where` and what is wrong."""
    pieces = source.split("+++\n")
    if len(pieces) != 3 or pieces[0].strip():
        raise BadPrompt(f"{where}: must begin with a head between two lines of +++")
    try:
        head = tomllib.loads(pieces[1])
    except tomllib.TOMLDecodeError as error:
        raise BadPrompt(f"{where}: the head cannot be read: {error}") from None
    for key in ("name", "language", "variables"):
        if key not in head:
            raise BadPrompt(f"{where}: the head lacks {key!r}")
    cut = SECTION.split(pieces[2])
    if cut[0].strip():
        raise BadPrompt(f"{where}: text before the first '# system' or '# user'")
    sections = tuple(
        Message(role, text.strip()) for role, text in zip(cut[1::2], cut[2::2], strict=True) if text.strip()
    )
    parts = {key: str(text) for key, text in head.get("parts", {}).items()}
    prompt = Prompt(head["name"], head["language"], tuple(head["variables"]), sections, parts, source)
    prompt = replace(prompt, label=str(head.get("label", "")), help=str(head.get("help", "")))
    _check(prompt, where)
    return prompt


def _check(prompt: Prompt, where: str) -> None:
    used: set[str] = set()
    for section in prompt.sections:
        template = Template(section.content)
        if not template.is_valid():
            raise BadPrompt(f"{where}: a dollar sign that begins no variable; write $$")
        used.update(template.get_identifiers())
    if wrong := used.symmetric_difference(prompt.variables):
        raise BadPrompt(f"{where}: declared and used variables differ: {', '.join(sorted(wrong))}")
    for key, text in prompt.parts.items():
        if not Template(text).is_valid():
            raise BadPrompt(f"{where}, part {key}: a dollar sign that begins no variable; write $$")


def load(folder: Path, name: str, language: str = "en") -> Prompt:
    """The prompt `name` below `folder`: the file `<name>.md` for English, else `<name>.<language>.md`."""
    path = folder / f"{name}{suffix_of(language)}"
    try:
        return parse(path.read_text(encoding="utf-8"), where=path.name)
    except FileNotFoundError:
        raise BadPrompt(f"{name}: there is no prompt file for language {language!r}") from None


def suffix_of(language: str) -> str:
    """How the names of a language's prompt files end."""
    return ".md" if language == "en" else f".{language}.md"
