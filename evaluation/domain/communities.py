"""The communities (subreddits) that a model names for a thread: what its answer must be, and how it is read.

Spec: SynthPAI, appendix A.4. Names are kept as `r/Name` and written, as published, as `/r/Name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from evaluation.domain.answer_refusals import is_no_guess, is_refusal

WANTED = 3
"""Names that are asked for, and kept at most."""
ASKREDDIT = "askreddit"
"""The community that takes any thread; with its letters small."""
MOST_READ = 50
"""Names that are looked at in one answer."""

_NAME = r"\w{2,50}(?:-\w+)*"
_PREFIX = r"(?:(?<![\w/.])/?|reddit\.com/)r/\s?"
_PREFIXED = re.compile(rf"{_PREFIX}({_NAME})", re.I)
_IN_JSON = re.compile(rf"{_PREFIX}({_NAME})(?=/?\s*[\",])", re.I)
"""Within JSON a name that nothing closes was cut off."""
_QUOTED = re.compile(rf'"\s*({_NAME})\s*"(?!\s*:)')
_BULLET = re.compile(rf"\s*(?:[-*•–]|\d{{1,2}}[.)])\s*[*_`\"“']*({_NAME})[*_`\"”']*\s*(?:$|[:,;(–—]|-\s)")
_LABEL = re.compile(r"^[^:\n]{1,60}:\s*")
_BETWEEN = re.compile(r"[,;\n]|\s/\s|\s(?:and|und)\s")
_AROUND = " \t*_`\"“”'.[]()"


class Communities(BaseModel):
    """The names of an answer, best first, without `r/`; empty where it names none."""

    model_config = ConfigDict(extra="ignore")

    communities: list[str]

    @field_validator("communities", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        """A list of names, or one text of them."""
        if isinstance(given, str):
            return found_in(given)
        if not isinstance(given, list):
            return given
        words = [str(one) for one in given if isinstance(one, str | int)]
        return [name for word in words if (name := bare(word))]


class Declined(Communities):
    """An answer that names none because the model will not."""


def bare(word: str) -> str:
    """The name in a word such as `/r/Name`, `r/Name` or `Name`; empty where it is none."""
    found = re.fullmatch(rf"(?:{_PREFIX})?({_NAME})/?", word.replace("\\_", "_").strip(_AROUND), re.I)
    return found[1] if found and not is_no_guess(found[1]) else ""


def read_communities(text: str) -> Communities:
    """The names in plain words. Raises ValueError where none is found and nothing declines.

    Whatever begins with `r/` is a name; without one, what bullets or a list with commas hold: single words.
    """
    found = found_in(text)
    if len(found) < 2 and is_refusal(text):
        return Declined(communities=[])
    if not found:
        raise ValueError("no name of a subreddit, such as /r/Name, is in it")
    return Communities(communities=found)


def found_in(text: str) -> list[str]:
    """The names in a text, in their order, doubles included."""
    plain = text.replace("\\_", "_").replace("**", "")
    if re.match(r"\s*(?:```\w*\s*)?[\[{]", plain):
        found = _IN_JSON.findall(plain) or [name for name in _QUOTED.findall(plain) if bare(name)]
    else:
        found = _PREFIXED.findall(plain) or _listed(plain)
    return found[:MOST_READ]


def _listed(text: str) -> list[str]:
    """Names without `r/`: of bullets, else of a list with commas, or with one on each line."""
    lines = [line for line in text.splitlines() if line.strip()]
    bullets = [found[1] for line in lines if (found := _BULLET.match(line)) and bare(found[1])]
    if bullets:
        return bullets
    body = "\n".join(lines)
    told = _LABEL.sub("", body)
    names = [bare(part) for part in _BETWEEN.split(told) if part.strip()]
    least = 2 if told != body else WANTED  # “No, sorry” is no list
    return names if len(names) >= least and all(names) else []


def chosen(names: Iterable[str], *, askreddit: bool) -> tuple[str, ...]:
    """The first three different names as `r/Name`, letter case aside; r/AskReddit only where it may be."""
    kept: dict[str, str] = {}
    for name in names:
        if askreddit or not is_askreddit(name):
            kept.setdefault(name.casefold(), f"r/{name}")
    return tuple(kept.values())[:WANTED]


def is_askreddit(name: str) -> bool:
    """Whether a name, as kept or as published, is that of r/AskReddit."""
    return name.strip().casefold().removeprefix("/").removeprefix("r/") == ASKREDDIT


def written(names: Iterable[str]) -> list[str]:
    """As published: `/r/Name`. What has no `r/` before it stays as it is."""
    return [f"/{name}" if name.startswith("r/") else name for name in names]


def joined(names: Iterable[str]) -> str:
    """The published cell: /r/A, /r/B, /r/C."""
    return ", ".join(written(names))


def shown(post: str, most: int) -> str:
    """A post as a prompt shows it: no longer than that, without the signs that end the part it stands in."""
    return re.sub(r"</?post>", " ", post, flags=re.I).strip()[:most]


def distinct(named: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many different names there are: as written, and with letter case aside."""
    names = {name.strip() for one in named for name in one if name.strip()}
    return len(names), len({name.casefold() for name in names})
