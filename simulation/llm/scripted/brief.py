"""Reads a request: what it is for, in which form the answer is wanted, and what it tells. No answers here."""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass, field
from enum import StrEnum

from simulation.llm.messages import ChatRequest, Form
from simulation.llm.scripted.facts import Person, read_person
from simulation.llm.scripted.tongues import tongue_of, tongues

LIMITS = re.compile(r"between (\d+) and (\d+) words", re.I)
SPEAKER = re.compile(r"^author: (\S+) comment: (.*)$", re.M)
CRITIC = re.compile(r"you (?:are critical|disagree)", re.I)
TITLE = re.compile(r'"title": "(\w+)", "type": "object"')
CONTENT = re.compile(r"<(post|thread|comments?|persona|style)>.*</\1>", re.S)


class Purpose(StrEnum):
    TOPIC = "topic"
    INTEREST = "interest"
    COMMENT = "comment"
    STYLE = "style"
    TAGS = "tags"
    INFERENCE = "inference"
    JUDGEMENT = "judgement"
    PROFILE = "profile"
    FINDINGS = "findings"
    REWRITE = "rewrite"
    COMMUNITIES = "communities"
    UNKNOWN = "unknown"


MARKS: tuple[tuple[str, Purpose], ...] = (
    ("<wishes>", Purpose.PROFILE),
    ("<private>", Purpose.FINDINGS),
    ("<findings>", Purpose.REWRITE),
    ("<naming>", Purpose.COMMUNITIES),
    ("<comments>", Purpose.INFERENCE),
    ("<attributes>", Purpose.TAGS),
    ("<truth>", Purpose.JUDGEMENT),
    ("<thread>", Purpose.COMMENT),
    ("<post>", Purpose.INTEREST),
    ("<target>", Purpose.TOPIC),
    ("Writing style:", Purpose.STYLE),
    ("writes comments", Purpose.STYLE),
)
"""The first that stands in the prompt outside of quoted content decides, unless a schema tells."""


@dataclass(frozen=True)
class Turn:
    """One comment of the thread that is shown."""

    author: str
    text: str


@dataclass(frozen=True)
class Brief:
    """A request, read. Fields that a purpose does not use are empty."""

    digest: str
    purpose: Purpose
    json: bool
    """Whether the answer is to be one JSON object."""
    text: str
    """The prompt without correction turns."""
    person: Person = field(default_factory=Person)
    language: str = "en"
    """That of the prompt: English, or one that there is a bank for."""

    def chance(self, purpose: str) -> random.Random:
        """The generator of one decision: it hangs on the request and the name alone."""
        seed = hashlib.sha256(f"{self.digest}{purpose}".encode()).hexdigest()
        return random.Random(int(seed, 16))  # noqa: S311  it has to be repeatable, it guards nothing

    def block(self, tag: str) -> str:
        """What stands between `<tag>` and the last `</tag>`; empty where nothing does."""
        found = re.search(rf"<{tag}>(.*)</{tag}>", self.text, re.S)
        return found[1].strip() if found else ""

    @property
    def thread(self) -> list[Turn]:
        """The comments shown, root first. A line of another form continues the comment before it."""
        turns: list[Turn] = []
        for line in self.block("thread").splitlines():
            if found := SPEAKER.match(line):
                turns.append(Turn(found[1], found[2]))
            elif turns:
                turns[-1] = Turn(turns[-1].author, f"{turns[-1].text} {line}".strip())
        return turns

    @property
    def limits(self) -> tuple[int, int]:
        """Least and most words; 10 and 50 where the prompt does not say."""
        found = LIMITS.search(self.text) or self._searched("limits", self.text)
        low, high = (int(found[1]), int(found[2])) if found else (10, 50)
        return low, max(low, high)

    @property
    def critic(self) -> bool:
        frame = CONTENT.sub("", self.text)
        return bool(CRITIC.search(frame) or self._searched("critic", frame))

    def _searched(self, what: str, text: str) -> re.Match[str] | None:
        """What the prompt's language, if it is not English, says for it."""
        tongue = next((one for one in tongues() if one.language == self.language), None)
        return re.search(tongue.bank[what], text, re.I) if tongue else None


def read_brief(request: ChatRequest) -> Brief:
    """Reads the request. Answers and corrections after the first question are passed over."""
    asked: list[str] = []
    for message in request.messages:
        if message.role == "assistant":
            break
        asked.append(message.content)
    text = "\n\n".join(asked)
    persona = re.search(r"<persona>(.*?)</persona>", text, re.S)
    told = persona[1] if persona else ""
    tongue = tongue_of(CONTENT.sub("", text))
    return Brief(
        digest=request.digest(),
        purpose=_purpose(request, text),
        json=request.form is not Form.TEXT,
        text=text,
        person=tongue.person(told) if tongue else read_person(told),
        language=tongue.language if tongue else "en",
    )


def _purpose(request: ChatRequest, text: str) -> Purpose:
    title = str((request.schema or {}).get("title", ""))
    if not title and request.form is Form.OBJECT:
        title = (["", *TITLE.findall(text)])[-1]
    if title.lower() in Purpose.__members__.values():
        return Purpose(title.lower())
    # Content of other people stands between tags and must not decide what is asked.
    frame = re.sub(r"<(post|thread|comments?)>.*</\1>", r"<\1>", text, flags=re.S)
    return next((purpose for mark, purpose in MARKS if mark in frame), Purpose.UNKNOWN)
