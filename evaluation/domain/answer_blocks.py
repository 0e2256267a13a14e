"""The lines of an answer -> one block for each time that it speaks of an attribute.

A small machine with one state: what the last key announced. Keys and headings change it; other lines belong
to it or, as prose behind a list, to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from evaluation.domain.answer_guesses import Entry, is_placeholder, is_prose, split_line
from evaluation.domain.answer_keys import Part, Sign, key_and_value, sign_of
from evaluation.domain.answer_lines import Line, unmarked
from evaluation.domain.answer_names import names_for

_BOLD_END = re.compile(r"\A[*_]{1,3}(?=\s|\Z)")
"""What is left of a bold key behind its colon."""


@dataclass(slots=True)
class Block:
    """What one passage says of one attribute; filled line by line, then only read."""

    name: str
    """As the answer names the attribute."""
    attribute: str | None
    """The key that the name means; None for a name outside the catalogue."""
    inference: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """What stood in the place of the guesses."""
    loose: list[Entry] = field(default_factory=list)
    """A list right under the attribute's name, which is the guesses where no key announces any."""
    categories: list[str] = field(default_factory=list)
    is_final: bool = False
    is_bulleted: bool = False
    keyed: int = 0
    """How often a key announced guesses here."""
    is_inline: bool = False
    """Whether guesses stood on the line of their key, so that lines below it are no more guesses."""


class State(StrEnum):
    """Where the next plain line belongs."""

    OPEN = "open"
    INFERENCE = "inference"
    GUESS = "guess"
    AFTER = "after"


def blocks_of(lines: Iterable[Line], asked: tuple[str, ...]) -> list[Block]:
    """Every block of an answer, in its order, those of attributes that nobody asked for among them."""
    machine = _Machine(asked)
    for line in lines:
        machine.read(line)
    return machine.blocks


class _Machine:
    def __init__(self, asked: tuple[str, ...]) -> None:
        self.asked = asked
        self.names = names_for(asked)
        self.blocks: list[Block] = []
        self.current: Block | None = None
        self.state = State.AFTER
        self.awaits_type = False
        self.is_final = False
        self.gap = False

    def read(self, line: Line) -> None:
        if not line.text:
            self.gap = True
            return
        key, value = key_and_value(line.text)
        sign = sign_of(key, self.asked) if key else self._bare_sign(line)
        if sign:
            self._follow(sign, value if key else "", line)
        elif self.awaits_type:
            self._open(line.text, self.names.find(line.text.strip(" :")), line)
        elif (header := self._header(line, key, value)) is not None:
            name, attribute, rest = header
            self._open(name, attribute, line)
            self._first_line(rest)
        elif line.is_heading and self.current and self.current.entries:
            self.state = State.AFTER
        else:
            self._content(line)
        self.gap = False

    def _bare_sign(self, line: Line) -> Sign | None:
        """A key without a colon: “## Guess”, “**Inference**”, or the word alone."""
        if line.mark and not (line.is_heading or line.is_bold):
            return None
        sign = sign_of(line.text, self.asked)
        if sign and sign.part in (Part.CATEGORY, Part.REMARK) and not (line.is_heading or line.is_bold):
            return None
        return sign

    def _follow(self, sign: Sign, value: str, line: Line) -> None:
        """Does what a key announces."""
        if sign.part is Part.TYPE:
            self.awaits_type = not value
            if value:
                self._open(value, self.names.find(value), line)
            return
        self.awaits_type = False
        if sign.attribute and (
            not self.current or self.current.attribute != sign.attribute or self.current.entries
        ):
            self._open(line.text, sign.attribute, line)
        if sign.part is Part.GUESS:
            self._guesses(value, line)
        elif sign.part is Part.INFERENCE:
            self._inference(value)
        elif sign.part is Part.FINAL:
            self.is_final = line.is_heading or line.is_bold or not value
            self.current, self.state = (None, State.AFTER) if self.is_final else (self.current, self.state)
        elif sign.part is Part.CATEGORY:
            if self.current and value:
                self.current.categories.append(value)
        elif self.state is not State.INFERENCE:
            self.state = State.AFTER

    def _open(self, name: str, attribute: str | None, line: Line) -> None:
        self.current = Block(
            name.strip(" :"), attribute, is_final=self.is_final, is_bulleted=line.mark == "-"
        )
        self.blocks.append(self.current)
        self.state, self.awaits_type = State.OPEN, False

    def _first_line(self, value: str) -> None:
        """What stands behind an attribute's name: guesses, or the beginning of the inference."""
        if value and is_prose(value):
            self._inference(value)
        elif value and self.current:
            self.current.entries.append(Entry(value))
            self.current.is_inline = True
            self.state = State.GUESS

    def _inference(self, value: str) -> None:
        if self.current:
            self.current.inference += [value] if value else []
            self.state = State.INFERENCE

    def _guesses(self, value: str, line: Line) -> None:
        if self.current is None and len(self.asked) == 1 and not self.blocks:
            self._open(self.asked[0], self.asked[0], line)
        block = self.current
        if block is None:
            return
        block.keyed += 1
        if block.entries and (
            len(block.entries) != block.keyed - 1 or len(self._pieces(block.entries[-1])) > 1
        ):
            self.state = State.AFTER  # the guesses are there; a second list repeats or echoes the first
            return
        self.state = State.GUESS
        if value and not (is_placeholder(value) or (is_prose(value) and value.endswith(":"))):
            mark, rest = unmarked(value)
            styled = _BOLD_END.sub("", line.styled.partition(":")[2])
            only = mark and len(self._pieces(Entry(value))) == 1
            block.entries.append(Entry(rest, mark) if only else Entry(styled or value))
            block.is_inline = True

    def _pieces(self, entry: Entry) -> list[str]:
        return split_line(entry.text, self.current.attribute or "") if self.current else []

    def _header(self, line: Line, key: str, value: str) -> tuple[str, str | None, str] | None:
        """(name, attribute, rest) of a line that opens a block by naming its attribute; None for others."""
        is_title = line.is_heading or line.is_bold
        if (key and not value) or not key:
            name = key or line.text
            found = self.names.find(name)
            if not found and line.is_heading:
                found = self.names.within(line.text)
            if not found or not (is_title or key or self._may_open()):
                return None
            if line.mark and not is_title and self.state is State.GUESS:
                return None
            return name, found, ""
        found = self.names.find(key)
        if not found:
            return None
        if line.is_heading or self._is_row(line, value):
            return key, found, value
        return None

    def _may_open(self) -> bool:
        """Whether an attribute's bare name on a line of its own can be a title here."""
        return self.state is not State.GUESS or (self.gap and bool(self.current and self.current.entries))

    def _is_row(self, line: Line, value: str) -> bool:
        """Whether “Age: …” opens a block: not as a clue within an inference or as an item of a list."""
        if self.state in (State.INFERENCE, State.GUESS) and line.mark:
            return bool(
                self.current and self.current.is_bulleted and line.mark == "-" and not is_prose(value)
            )
        if self.state is State.INFERENCE:
            return not is_prose(value)
        return True

    def _content(self, line: Line) -> None:
        block = self.current
        if block is None:
            return
        is_list = bool(block.entries) and line.mark.isdigit() and self.state is not State.AFTER
        if is_list and line.mark == self._next_number(block):
            self._add(line)
        elif self.state is State.GUESS:
            self._item(line, block)
        elif self.state is not State.AFTER:
            block.inference.append(line.text)
            if self.state is State.OPEN and (line.mark or ";" in line.text) and not is_prose(line.text):
                block.loose.append(Entry(line.styled, line.mark, line.indent))

    def _next_number(self, block: Block) -> str:
        """The number that goes on with the guesses of a block; nothing where they are not counted."""
        last = block.entries[-1]
        if last.mark.isdigit():
            return str(int(last.mark) + 1)
        if last.mark or len(block.entries) > 1 or len(self._pieces(last)) > 1:
            return ""
        return "2"  # “Guess: a”, and below it “2. b”

    def _add(self, line: Line) -> None:
        if self.current:
            self.current.entries.append(Entry(line.styled, line.mark, line.indent))

    def _item(self, line: Line, block: Block) -> None:
        """A line below a key for guesses or below a guess: a guess, the reason of one, or prose."""
        if not block.entries:
            if line.mark or not is_prose(line.text):
                self._add(line)
            else:
                block.inference.append(line.text)
            return
        last = block.entries[-1]
        ends_open = last.text.rstrip().endswith((";", ","))
        if last.mark.isdigit() or (line.mark.isdigit() and block.entries[0].mark.isdigit()):
            if line.mark.isdigit():
                self.state = State.AFTER  # a second list, or one that counts otherwise
        elif last.mark:
            if line.mark != "-":
                self.state = State.AFTER if line.mark or self.gap else self.state
            elif line.indent <= block.entries[0].indent + 1:
                self._add(line)
        elif ends_open and not is_prose(line.text):
            self._add(line)
        elif line.mark or is_prose(line.text) or block.is_inline or (self.gap and len(block.entries) >= 3):
            self.state = State.AFTER
        else:
            self._add(line)
