"""Texts that people bring to compare a corpus with: read line by line, kept until they were counted."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from evaluation.models import Report
from simulation.models import Corpus

MOST_BYTES = 20 * 1024**2
LONGEST = 20_000
"""Characters of one text."""
LONGEST_NAME = 100
JSON_NAMES = (".jsonl", ".ndjson", ".json")
KEPT = timedelta(days=1)
"""After so long a file goes that nobody waits for: its report failed, or its removal was cut short."""


class BadTexts(ValueError):
    """A file that cannot be compared with; `line` (from 1, None for the whole file) and `field` say where."""

    def __init__(self, message: str, line: int | None = None, field: str = "") -> None:
        where = [f"Line {line}" if line else "", field]
        said = ", ".join(part for part in where if part)
        super().__init__(f"{said}: {message}" if said else message)
        self.line, self.field = line, field


class Given(NamedTuple):
    """A text with its author and thread; empty ones where the file names none."""

    text: str
    author: str
    thread: str = ""


@dataclass(frozen=True)
class Received:
    """A file that was kept: SHA-256 of its texts, its name, how many texts there are."""

    digest: str
    name: str
    texts: int


def receive(corpus: Corpus, lines: Iterable[bytes], name: str) -> Received:
    """Keeps the texts below MEDIA_ROOT until they are counted, as JSONL whatever they came as.

    Raises BadTexts at the first problem, and keeps nothing then.
    """
    sweep()
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, texts = hashlib.sha256(), 0
    handle, made = tempfile.mkstemp(dir=folder, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stored:
            for one in read_texts(lines, is_json=name.lower().endswith(JSON_NAMES)):
                line = json.dumps(one if one.thread else one[:2], ensure_ascii=True).encode() + b"\n"
                digest.update(line)
                stored.write(line)
                texts += 1
        if not texts:
            raise BadTexts("There is no text in the file; write one a line.")
        Path(made).replace(path_of(corpus, digest.hexdigest()))
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return Received(digest.hexdigest(), Path(name).name[:LONGEST_NAME] or "texts", texts)


def read_texts(lines: Iterable[bytes], *, is_json: bool) -> Iterator[Given]:
    """One text a line, or with `is_json` an object a line: `text` and, if known, `author` and `thread`. Empty
    lines are passed over. Raises BadTexts."""
    read = 0
    for number, raw in enumerate(lines, 1):
        read += len(raw)
        if read > MOST_BYTES:
            raise BadTexts(f"The file has more than {MOST_BYTES // 1024**2} MB; bring a sample of it.")
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            raise BadTexts("is not UTF-8; save the file as UTF-8 text.", number) from None
        if not line:
            continue
        one = _object(line, number) if is_json else Given(line, "")
        if "\0" in one.text or len(one.text) > LONGEST:
            fault = "holds a NUL character" if "\0" in one.text else f"has {len(one.text):,} characters"
            raise BadTexts(
                f"{fault}; a text has at most {LONGEST:,} characters and no NUL.",
                number,
                "text" if is_json else "",
            )
        if one.text:
            yield one


def _object(line: str, number: int) -> Given:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise BadTexts('is no JSON object; write {"text": "…", "author": "…"}.', number) from None
    if not isinstance(found, dict):
        raise BadTexts('must be an object such as {"text": "…"}.', number)
    text = found.get("text")
    if not isinstance(text, str):
        raise BadTexts("must be there, as text in quotes.", number, "text")
    author, thread = (_name(found, field, number) for field in ("author", "thread"))
    return Given(text.strip(), author, thread)


def _name(found: dict[str, Any], field: str, number: int) -> str:
    name = found.get(field)
    if name is not None and not isinstance(name, str | int):
        raise BadTexts("must be text in quotes, or be left out.", number, field)
    return "" if name is None else str(name)


def kept(corpus: Corpus, digest: str) -> Iterator[Given]:
    """The texts of a kept file. Raises FileNotFoundError where it is gone."""
    with path_of(corpus, digest).open("rb") as stored:
        for line in stored:
            yield Given(*json.loads(line))


def path_of(corpus: Corpus, digest: str) -> Path:
    """Where the texts are until they are counted."""
    return _folder() / f"{corpus.public_id}-{digest}.jsonl"


def forget(corpus: Corpus, digest: str) -> None:
    """Removes texts that no report waits for any more."""
    waiting = Report.objects.filter(
        corpus=corpus, kind=Report.DIVERSITY, asked_at__isnull=False, parameters__other=digest
    )
    if not waiting.exists():
        path_of(corpus, digest).unlink(missing_ok=True)


def sweep() -> None:
    """Removes files older than a day that no report waits for."""
    waiting = None
    before = (timezone.now() - KEPT).timestamp()
    for path in _folder().glob("*"):
        try:
            is_old = path.stat().st_mtime < before
        except FileNotFoundError:  # somebody else was quicker
            continue
        if not is_old:
            continue
        if waiting is None:
            asked = Report.objects.filter(kind=Report.DIVERSITY, asked_at__isnull=False)
            waiting = set(asked.values_list("parameters__other", flat=True))
        if path.stem.rpartition("-")[2] not in waiting:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "realism"
