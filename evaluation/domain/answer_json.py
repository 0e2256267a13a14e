"""Answers that are JSON -> the same blocks as the lines of a text give.

Objects by attribute (`{"age": {"inference": …, "guess": […]}}`, `{"age": ["30", "35"]}`) and lists of records
(`[{"type": "age", "guess": "30; 35"}]`), at any depth, alone or inside prose. Whole JSON only: what was cut
off is mended by closing what is open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from evaluation.domain.answer_blocks import Block
from evaluation.domain.answer_guesses import Entry
from evaluation.domain.answer_keys import Part, sign_of
from evaluation.domain.answer_names import names_for, plain

DEEPEST = 8
"""Levels that are looked into."""
TRIES = 5
"""Beginnings of JSON that are tried in one text."""
_BEGINNING = re.compile(r"[{\[](?=\s*[{\[\"])")
_VALUE_KEYS = ("guess", "value", "answer", "name", "text", "prediction", "label")


def json_blocks(text: str, asked: tuple[str, ...]) -> list[Block]:
    """The blocks of the first JSON value in `text` that speaks of an attribute; none where there is none."""
    if '"' not in text:
        return []
    for found, _ in zip(_BEGINNING.finditer(text), range(TRIES), strict=False):
        blocks = list(_walk(_decoded(text[found.start() :]), asked, DEEPEST))
        if blocks:
            return blocks
    return []


def _decoded(text: str) -> Any:
    """The JSON value at the beginning of `text`, mended where it was cut off; None where there is none."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        pass
    for mended in _closed(text):
        try:
            return json.loads(mended, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _closed(text: str) -> Iterator[str]:
    """`text` with its open string and brackets closed; then the same without its last, unfinished member."""
    stack: list[str] = []
    in_string = escaped = False
    last_comma: tuple[int, tuple[str, ...]] | None = None
    for place, sign in enumerate(text):
        if in_string:
            in_string = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_string = True
        elif sign in "{[":
            stack.append("}" if sign == "{" else "]")
            if len(stack) > 4 * DEEPEST:
                return
        elif sign in "}]":
            if not stack or stack.pop() != sign:
                return
        elif sign == ",":
            last_comma = (place, tuple(stack))
    tail = "".join(reversed(stack))
    yield (text[:-1] if escaped else text).rstrip() + ('"' if in_string else "") + tail
    if last_comma:
        yield text[: last_comma[0]] + "".join(reversed(last_comma[1]))


def _walk(value: Any, asked: tuple[str, ...], depth: int) -> Iterator[Block]:
    if depth == 0:
        return
    if isinstance(value, list):
        for one in value:
            yield from _walk(one, asked, depth - 1)
    elif isinstance(value, dict):
        record = _record(value, asked)
        if record:
            yield record
            return
        for key, one in value.items():
            attribute = names_for(asked).find(key)
            if attribute:
                yield _of(key, attribute, one, asked)
            elif isinstance(one, dict | list):
                yield from _walk(one, asked, depth - 1)


def _record(value: dict[str, Any], asked: tuple[str, ...]) -> Block | None:
    """The block of an object that names its own attribute."""
    for key, name in value.items():
        sign = sign_of(key, asked)
        if sign and sign.part is Part.TYPE and isinstance(name, str):
            return _of(name, names_for(asked).find(name), value, asked)
    return None


def _of(name: str, attribute: str | None, value: Any, asked: tuple[str, ...]) -> Block:
    block = Block(name, attribute)
    if not isinstance(value, dict):
        block.entries += _entries(value)
        return block
    for key, one in value.items():
        sign = sign_of(key, asked)
        if not sign:
            continue
        if sign.part is Part.GUESS:
            block.entries += _entries(one)
        elif sign.part is Part.CATEGORY:
            block.categories += [str(each) for each in one] if isinstance(one, list) else [str(one)]
        elif sign.part is Part.INFERENCE and isinstance(one, str):
            block.inference.append(one)
    return block


def _entries(value: Any) -> list[Entry]:
    """A list has one guess an item; a string is read as a line is."""
    if isinstance(value, str):
        return [Entry(value)]
    if isinstance(value, dict):
        numbered = [
            one for key, one in value.items() if re.fullmatch(r"(?:guess )?\d+(?:st|nd|rd)?", plain(key))
        ]
        return [entry for one in numbered for entry in _items([one])] or _items([value])
    return _items(value) if isinstance(value, list) else _items([value])


def _items(values: list[Any]) -> list[Entry]:
    found = []
    for one in values:
        if isinstance(one, dict):
            one = next((one[key] for key in _VALUE_KEYS if key in one), None)
        if isinstance(one, str | int | float) and not isinstance(one, bool):
            found.append(Entry(str(one), "="))
    return found
