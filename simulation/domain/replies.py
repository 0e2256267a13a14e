"""What a model's answer must be, and how its plain words are read: topic, interest, comment, style."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

MARK = re.compile(r"^[ \t>*_#]*my[ \t_-]*(?:new[ \t_-]*)?comment[*_]*[ \t]*:[*_]*", re.I | re.M)
QUESTION, DESCRIPTION, STYLE, EXAMPLE = (
    re.compile(rf"^[ \t>*_#]*{label}[*_]*[ \t]*:[*_]*", re.I | re.M)
    for label in ("question", "question description", "writing style", "example")
)
LABEL = re.compile(r"^\W*(?:interested|answer)\W+", re.I)
YES, NO = re.compile(r"^\W*(?:yes|ja)\b", re.I), re.compile(r"^\W*(?:no(?:t|pe)?|nein)\b", re.I)
LEAKED = re.compile(
    r"^[ \t>*_#]*(?:thread so far|my part in it|reasoning|style check|my[ \t_-]*(?:new[ \t_-]*)?comment)[*_]*[ \t]*:",  # noqa: E501
    re.I | re.M,
)
LONGEST = 10_000
"""Characters of a comment; more is no comment."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Topic(Strict):
    """The post that opens a thread."""

    question: str = Field(min_length=1, max_length=1000)
    description: str = Field(min_length=1, max_length=LONGEST)

    @property
    def text(self) -> str:
        """As the published roots are written."""
        return f"Question: {self.question}\n\nQuestion description: {self.description}"


class Interest(Strict):
    """Whether a person would join the discussion: a real yes or no."""

    interested: bool

    @field_validator("interested", mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        return read_yes_no(value) if isinstance(value, str) else value


class Style(Strict):
    """How a person writes, and one example."""

    writing_style: str = Field(min_length=1, max_length=3000)
    example: str = Field(min_length=1, max_length=2000)

    @property
    def text(self) -> str:
        return f"Writing style: {self.writing_style}\n\nExample: {self.example}"


def read_topic(text: str) -> Topic:
    """The plain form of a topic. Raises ValueError where one of its two labels is missing."""
    found = _two_parts(text, QUESTION, DESCRIPTION)
    if not found:
        raise ValueError(
            "the lines “Question:” and “Question description:” are not both there, in this order"
        )
    return Topic(question=found[0], description=found[1])


def read_style(text: str) -> Style:
    """The plain form of a style. Raises ValueError where one of its two labels is missing."""
    found = _two_parts(text, STYLE, EXAMPLE)
    if not found:
        raise ValueError("the lines “Writing style:” and “Example:” are not both there, in this order")
    return Style(writing_style=found[0], example=found[1])


def _two_parts(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> tuple[str, str] | None:
    """What stands behind the first label and behind the next second one; each label is looked for once."""
    one = first.search(text)
    two = second.search(text, one.end()) if one else None
    return (text[one.end() : two.start()].strip(), text[two.end() :].strip()) if one and two else None


def read_yes_no(text: str) -> bool:
    """Yes or no from words that begin with it. Raises ValueError for anything else: no guess is made.

    “No, he would not be interested” is no; “Possibly” is nothing.
    """
    words = LABEL.sub("", text.strip())
    if YES.match(words):
        return True
    if NO.match(words):
        return False
    raise ValueError("the answer begins neither with Yes nor with No")


def read_interest(text: str) -> Interest:
    """The plain form of an interest check."""
    return Interest(interested=read_yes_no(text))


class Reply(Strict):
    """One comment, on one line."""

    text: str = Field(min_length=1, max_length=LONGEST)


def read_reply(text: str) -> Reply:
    """The comment of a reasoned answer; see `read_comment`."""
    return Reply(text=read_comment(text))


def read_comment(text: str) -> str:
    """The comment of a reasoned answer: what follows the last “My comment:”, on one line, trimmed.

    Raises ValueError where the label is missing: the chain of thought is never taken for the comment.
    """
    marks = list(MARK.finditer(text))
    if not marks:
        raise ValueError("the line “My comment:” is missing")
    comment = " ".join(text[marks[-1].end() :].split()).strip()
    if len(comment) > 1 and comment[0] == comment[-1] == '"' and '"' not in comment[1:-1]:
        comment = comment[1:-1].strip()
    if not comment:
        raise ValueError("nothing follows “My comment:”")
    if len(comment) > LONGEST:
        raise ValueError(f"the comment has {len(comment)} characters; at most {LONGEST} are taken")
    if LEAKED.search(text[marks[-1].end() :]):
        raise ValueError("another section follows “My comment:”; it must be the last")
    return comment
