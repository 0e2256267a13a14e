"""A released masking: the comments before and after, in two files of the same profiles, matched to a corpus.

Comments are found by user name and text; what is not found is counted and listed, never lost in silence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.exchange.copying import copy_in
from annotation.exchange.problems import Problem, brief
from evaluation.domain.paper.comments import MASK, MaskTally
from evaluation.domain.paper.records import Row
from evaluation.exchange.importing_reading import Refused
from evaluation.exchange.released import Release, UnreadableLine, digest, find
from evaluation.exchange.released_rows import read_rows
from evaluation.models import MaskedText, Masking
from evaluation.selectors import masking as selected
from evaluation.services import reports
from evaluation.services.masking import LONGEST_NAME, digest_of
from evaluation.services.masking_reports import REPORT
from simulation.models import Comment, Corpus, User
from simulation.services import audit

BEFORE, AFTER = "comments_eval_revised", "comments_anonymized"
PROFILES = 50
"""Profiles whose comments are looked up together."""
SHOWN = 20
FIELDS = ("masking_id", "comment_id", "text", "original", "spans")
_RUN = re.compile(re.escape(MASK) + "+")


@dataclass
class MaskingImport:
    """What was read and what became of it.

    `file` counts the pairs of the two files as the paper's numbers do (comments, changed, equal_length,
    masked_characters, characters). `kept` pairs found their comment; `unmatched` found none; `edited` of the
    kept ones belong to what the comment was before a person edited it; `alone` comments stand in one of the
    two files only. `examples` are the first that were not found: (user name, beginning of the text).
    """

    masking: Masking
    is_same: bool = False
    file: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    unmatched: int = 0
    edited: int = 0
    alone: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def numbers(self) -> dict[str, Any]:
        """As the masking keeps them."""
        said = asdict(self)
        return {key: said[key] for key in ("file", "kept", "unmatched", "edited", "alone")}


@transaction.atomic
def import_masking(
    corpus: Corpus, folder: Path, *, name: str = AFTER, by: User | None = None
) -> MaskingImport:
    """A masking of origin imported, from labels/comments_anonymized.jsonl beside comments_eval_revised.jsonl.

    The same bytes under the same name: nothing to do. One transaction. Raises BadFolder for a folder that is
    no release, and Refused where the files or the corpus do not serve; nothing is changed then.
    """
    release, name = find(folder), name.strip()
    before, after = _files(release)
    if not 0 < len(name) <= LONGEST_NAME:
        raise _refused(after, "name", f"a name has 1 to {LONGEST_NAME} characters")
    mark = digest(after)
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)  # a second import waits here
    found = Masking.objects.filter(corpus=corpus, name=name).first()
    if found and (found.origin, found.digest) == (Masking.IMPORTED, mark):
        return MaskingImport(found, is_same=True, kept=found.rows.count(), **_kept_numbers(found))
    if found:
        raise _refused(after, "name", f"there is another masking {brief(name)} here; choose another name")
    if not Comment.objects.filter(corpus=corpus).exists():
        how = "import them first: threads/*.json, with manage.py import_synthpai"
        said = f"{corpus.name} has no comments; {how}"
        raise _refused(after, "", said)
    return _imported(corpus, before, after, {"name": name, "digest": mark, "created_by": by})


def _kept_numbers(found: Masking) -> dict[str, Any]:
    told = found.options.get("import", {})
    return {key: told.get(key, 0) for key in ("unmatched", "edited", "alone")} | {
        "file": told.get("file", {})
    }


def _files(release: Release) -> tuple[Path, Path]:
    paths = [release.labels.get(one) for one in (BEFORE, AFTER)]
    for one, path in zip((BEFORE, AFTER), paths, strict=True):
        if path is None:
            said = f"there is no labels/{one}.jsonl; both files are needed, the texts before and after"
            raise Refused([Problem(f"labels/{one}.jsonl", None, "", said)])
    before, after = paths
    assert before is not None  # looked at above
    assert after is not None
    return before, after


def _refused(path: Path, field: str, message: str) -> Refused:
    return Refused([Problem(path.name, None, field, message)])


def _imported(corpus: Corpus, before: Path, after: Path, told: dict[str, Any]) -> MaskingImport:
    made = Masking.objects.create(
        corpus=corpus,
        origin=Masking.IMPORTED,
        masker=AFTER,
        style=Masking.STARS,
        file_name=after.name,
        **told,
    )
    result, tally, rest = MaskingImport(made), MaskTally(), Counter[str]()
    try:
        pairs = _pairs(_once(before), _once(after), rest)
        counted = _counted(pairs, tally, result)
        while chunk := list(islice(counted, PROFILES)):
            copy_in(MaskedText, FIELDS, list(_rows(made, chunk, result)))
    except UnreadableLine as error:
        raise Refused([error.problem]) from None
    except OSError as error:
        raise _refused(after, "", f"cannot be read: {error.strerror}") from None
    result.alone += rest["comments"]
    result.file = dict(tally.numbers())
    if not result.kept:
        said = (
            f"none of its {result.unmatched} comments is in {corpus.name} by user name and text; import the"
            " threads that belong to it first"
        )
        raise _refused(after, "comments", said)
    _finish(made, result)
    details = {key: result.numbers[key] for key in ("kept", "unmatched", "edited", "alone")}
    audit.record(
        by=told["created_by"], action="masking.imported", target=made, corpus=corpus, details=details
    )
    return result


def _finish(made: Masking, result: MaskingImport) -> None:
    counted = asdict(selected.counts(made))
    for name, value in counted.items():
        setattr(made, name, value)
    if result.file["equal_length"] < result.file["comments"]:
        made.style = Masking.CATEGORY
    made.options = {"import": result.numbers}
    made.state, made.finished_at = Masking.DONE, timezone.now()
    made.save()
    reports.ask_for(made.corpus, REPORT, {"masking": made.public_id})


def _once(path: Path) -> Iterator[Row]:
    """The profiles of a file. Raises Refused for one that stands there twice."""
    lines: dict[str, int] = {}
    for row in read_rows(path):
        if (before := lines.setdefault(row.username, row.line)) != row.line:
            said = f"{brief(row.username)} stands in line {before} already; keep one of the two lines"
            raise Refused([Problem(path.name, row.line, "username", said)])
        yield row


def _pairs(before: Iterable[Row], after: Iterable[Row], rest: Counter[str]) -> Iterator[tuple[Row, Row]]:
    """Rows about the same profile, in whatever order the files have them; in files of one order no more than
    one waits. `rest` counts the comments of rows that have no other."""
    waiting: tuple[dict[str, Row], dict[str, Row]] = ({}, {})
    streams = iter(before), iter(after)
    is_open = [True, True]
    while any(is_open):
        for side in (0, 1):
            row = next(streams[side], None) if is_open[side] else None
            if row is None:
                is_open[side] = False
                continue
            other = waiting[1 - side].pop(row.username, None)
            if other is not None:
                yield (other, row) if side else (row, other)
            else:
                waiting[side][row.username] = row
    for left in waiting:
        rest["comments"] += sum(len(row.comments) for row in left.values())


def _counted(
    pairs: Iterable[tuple[Row, Row]], tally: MaskTally, result: MaskingImport
) -> Iterator[tuple[Row, Row]]:
    for old, new in pairs:
        tally.take(old, new)
        result.alone += abs(len(old.comments) - len(new.comments))
        yield old, new


def _rows(
    made: Masking, pairs: Sequence[tuple[Row, Row]], result: MaskingImport
) -> Iterator[tuple[Any, ...]]:
    """The masked texts of some profiles. Equal texts of one author are taken in the corpus' order."""
    there = _comments(made.corpus_id, {old.username for old, _ in pairs})
    for old, new in pairs:
        for was, became in zip(old.comments, new.comments, strict=False):
            text = was.strip()
            known = there.get((old.username, text))
            if not known:
                result.unmatched += 1
                if len(result.examples) < SHOWN:
                    result.examples.append((old.username, text[:80]))
                continue
            key, is_edited = known.pop(0)
            masked = _trimmed(was, became)
            result.kept += 1
            result.edited += is_edited
            yield made.pk, key, masked, digest_of(text), _spans(text, masked)


def _comments(corpus: int, authors: set[str]) -> dict[tuple[str, str], list[tuple[int, bool]]]:
    """(User name, text) -> the comments that have it, in the corpus' order, and behind them those that had it
    before a person edited them. One query."""
    found: dict[tuple[str, str], list[tuple[int, bool]]] = defaultdict(list)
    rows = Comment.objects.filter(corpus=corpus, username__in=authors).order_by("sequence", "pk")
    edited = []
    for key, author, text, original in rows.values_list("pk", "username", "text", "original_text"):
        found[author, text].append((key, False))
        if original and original != text:
            edited.append(((author, original), key))
    for place, key in edited:
        found[place].append((key, True))
    return found


def _trimmed(was: str, became: str) -> str:
    """The masked text of what a comment keeps of the original, which is without white space around it."""
    if len(was) != len(became):
        return became.strip()
    lead = len(was) - len(was.lstrip())
    return became[lead : lead + len(was.strip())]


def _spans(text: str, masked: str) -> list[dict[str, Any]]:
    """Runs of asterisks that were none before; an asterisk of the text itself is masked by nobody.

    The file names no category and no confidence. Where lengths differ places cannot be told: no spans.
    """
    if len(text) != len(masked):
        return []
    hidden = "".join(MASK if sign == MASK != was else " " for was, sign in zip(text, masked, strict=True))
    return [
        {"start": run.start(), "end": run.end(), "category": "", "confidence": None}
        for run in _RUN.finditer(hidden)
    ]
