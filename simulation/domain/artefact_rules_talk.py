"""Artefacts in which the model speaks about its task, or in which its prompt comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulation.domain.artefact_rule import Rule, Span, Written
from simulation.domain.artefact_shapes import alternatives, shape

# A label opens a text, a line or a sentence; marks of Markdown may stand around it.
_OPENS = re.compile(
    r"(?:\A|\n|(?<=[.!?…;:\"”)\]}>|])\s|\s[-–—•*#>]{1,8}\s?|(?<=\s)\d[.)]\s|[*_#>\[<]|\s{2})\s{0,8}\Z"
)
BEFORE = 20
"""Signs before a label in which what opens it is looked for."""
_STRONG = alternatives("talk", "strong_labels")
_WEAK = alternatives("talk", "weak_labels")
_LABEL = re.compile(
    rf"(?<![^\W_])(?=\w)((?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK}))[*_\]> ]{{0,4}}[:：])", re.I
)
_INSIDE = re.compile(rf"(?<=\s)((?=[A-Z])(?i:{_STRONG}|{_WEAK})[*_ ]{{0,3}}:)(?=\s)")
"""The same in the middle of a line, with a capital."""
_THINK = re.compile(r"</?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis|answer)>", re.I)


def _thought(written: Written) -> Iterator[Span]:
    """One label that only a generator uses, or two different common ones; the span begins at the first."""
    text = written.text
    for tag in _THINK.finditer(text):
        yield tag.span()
    if ":" not in text and "：" not in text:
        return
    labels = list(_labels(text))
    both = sorted(labels + list(_INSIDE.finditer(text)), key=lambda label: label.start(1))
    words = {label[1].strip("*_]> :：").casefold() for label in both}
    if any(label["strong"] for label in labels) or len(words) > 1:
        yield both[0].start(1), both[-1].end(1)


def _labels(text: str) -> Iterator[re.Match[str]]:
    """The labels with something before them that opens a part; the label comes first, as it is rare."""
    place = 0
    while label := _LABEL.search(text, place):
        opened = _OPENS.search(text, max(0, label.start() - BEFORE), label.start())
        if opened:
            yield label
        place = label.end() if opened else label.start() + 1


_MODEL = shape("talk", "names_itself", "refuses", "serves", flags=re.I)
_ABOUT = shape("talk", "about_the_task", flags=re.I)


def _self_talk(written: Written) -> Iterator[Span]:
    text = written.text.replace("’", "'")  # one sign for one sign: places stay
    for match in _MODEL.finditer(text):
        yield match.span()


_ABOUT_WORDS = (
    "word", "character", "length", "token", "persona", "style", "prompt", "instruct", "guideline",
    "task", "tone", "format", "system", "request", "thread", "user", "comment", "reply", "response",
    "emoji", "hashtag", "location", "profile", "facts", "pii", "without", "generated", "few-shot",
    "roleplay", "fictional", "synthetic", "simulated", "fictitious",
    "translation", "description", "this person", "step", "disagree", "respond", "repl", "continu",
    "critical", "end of", "register", "english", "explicitly", "let me", "let's", "hint", "allud", "point",
    "directly", "outright", "verbatim",
)  # fmt: skip
"""One of these stands in whatever the shape above finds; looking for them first is ten times as fast."""


def _task_talk(written: Written) -> Iterator[Span]:
    text = written.text.replace("’", "'")
    small = text.lower()
    if not any(word in small for word in _ABOUT_WORDS):
        return
    for match in _ABOUT.finditer(text):
        yield match.span()


_TURN = shape("talk", "turn_marks")
_ORDER = shape("talk", "orders", flags=re.I)
_DIALOGUE = re.compile(
    r"\b(?:author|username|user|commenter|profile|target|name)\s?:\s?\S[^:\n]{0,60}?\b(?:comment|text|reply|post)\s?:",
    re.I,
)
_NEXT = re.compile(r"(?:\A|\n|\s)@?[A-Z][a-z]+(?:[A-Z][a-z]+)+\d*\s?:\s")
"""A handle and a colon: the next speaker's line."""


_FACT = shape("talk", "facts_of_a_profile", flags=re.I)


def _prompt_echo(written: Written) -> Iterator[Span]:
    facts = list(_FACT.finditer(written.text)) if ":" in written.text or "=" in written.text else []
    if len({fact[1].casefold() for fact in facts}) > 1:
        yield facts[0].start(), facts[-1].end()
    for kind in (_TURN, _ORDER, _DIALOGUE, _NEXT):
        for match in kind.finditer(written.text):
            yield match.span()


_PLACEHOLDER = shape("talk", "placeholders")
_BRACKETED = re.compile(r"\[[^\]\n]{2,60}\]")
_ASIDE = re.compile(
    r"(?i)\b(?:insert|your|placeholder|continues?|truncated|cut off|omitted|redacted|end of)\b"
)


def _placeholder(written: Written) -> Iterator[Span]:
    for match in _PLACEHOLDER.finditer(written.text):
        # In round brackets the same words may be anybody's aside.
        if (
            match[0][0] != "("
            or "_" in match[0]
            or re.match(r"(?i)\(\s?(?:insert|your|fill in|enter)", match[0])
        ):
            yield match.span()
    for match in _BRACKETED.finditer(written.text):
        if _ASIDE.search(match[0]):
            yield match.span()


RULES = (
    Rule(
        "thought",
        "Leaked chain of thought",
        "Section labels of a prompt stand in the comment, so the model's reasoning was taken for its text.",
        _thought,
    ),
    Rule(
        "self_talk",
        "Model speaks as a model",
        "It serves, refuses or names itself as an AI, which no person on a forum does.",
        _self_talk,
    ),
    Rule(
        "task_talk",
        "Talk about the task",
        "It mentions word limits, style, persona or instructions: what the prompt asked for, not the topic.",
        _task_talk,
    ),
    Rule(
        "prompt_echo",
        "Prompt or next speaker",
        "An order, a turn mark or the line of another speaker was written into the comment.",
        _prompt_echo,
    ),
    Rule(
        "placeholder",
        "Unfilled placeholder",
        "A gap was left for a value that nobody put in.",
        _placeholder,
    ),
)
