"""The sections of a reasoned answer: what a model thought, apart from the comment that it wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD = re.compile(
    r"^[ \t>*_#]*(thread so far|my part in it|reasoning|style check|my[ \t_-]*(?:new[ \t_-]*)?comment"
    r"|question|question description|writing style|example)[*_]*[ \t]*:[*_]*",
    re.I | re.M,
)
COMMENT = re.compile(r"my\W*(?:new\W*)?comment", re.I)


@dataclass(frozen=True)
class Section:
    """`label` as the model wrote it; empty for what stands before the first label."""

    label: str
    text: str

    @property
    def is_comment(self) -> bool:
        return COMMENT.fullmatch(self.label) is not None


def sections(answer: str) -> list[Section]:
    """The answer from label to label, in order; one section without a label where it has none.

    Nothing of the answer is left out but blanks at the edges and sections without a word.
    """
    heads = list(HEAD.finditer(answer))
    first = heads[0].start() if heads else len(answer)
    found = [Section("", answer[:first].strip())]
    ends = [head.start() for head in heads[1:]] + [len(answer)]
    for head, end in zip(heads, ends, strict=False):
        found.append(Section(" ".join(head[1].split()).capitalize(), answer[head.end() : end].strip()))
    return [section for section in found if section.text]
