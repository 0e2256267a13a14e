"""Suggestions of an import to rows. Those of other taggers are left alone."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from annotation.exchange.records import TAGGER, CommentRecord, SuggestionRecord
from annotation.exchange.upsert import Job, adopt, differing
from annotation.models import AttributeLabel, Suggestion, SuggestionCheck

NEW = ("comment_id", *SuggestionRecord._fields)
KEPT = "suggestions that the file no longer has were kept, because a person's label refers to them"
JUDGED = "suggestions differ from the file and were kept, because people have judged them"


class Received(NamedTuple):
    """A comment's key, whether it has just been written, and all that the file says about it."""

    comment: int
    is_new: bool
    record: CommentRecord


class _Differing(NamedTuple):
    row: Suggestion
    record: SuggestionRecord


def store_suggestions(received: list[Received], job: Job) -> None:
    stored = _stored([one for one in received if not one.is_new and one.record.suggestions is not None])
    new: list[tuple[Any, ...]] = []
    differ: list[_Differing] = []
    for one in received:
        rows = stored.get(one.comment, {})
        for record in one.record.suggestions or ():
            suggestion = rows.pop((record.tagger, record.attribute), None)
            if suggestion is None:
                new.append((one.comment, *record))
            elif differing(suggestion, record._asdict()):
                differ.append(_Differing(suggestion, record))
            else:
                job.tallies["suggestions"].same += 1
    job.insert(Suggestion, NEW, new, "suggestions")
    if differ:
        _change(differ, job)
    gone = [row.pk for rows in stored.values() for row in rows.values()]
    if gone:
        _remove(gone, job)


def _stored(known: list[Received]) -> dict[int, dict[tuple[str, str], Suggestion]]:
    """What files have suggested so far: without a model's name, or by a model of which this file speaks."""
    stored: dict[int, dict[tuple[str, str], Suggestion]] = defaultdict(dict)
    if not known:
        return stored
    said = {one.comment: {TAGGER, *(each.tagger for each in one.record.suggestions or ())} for one in known}
    taggers = set().union(*said.values())
    for row in Suggestion.objects.filter(comment__in=said, tagger__in=taggers, run=None, batch=""):
        if row.tagger in said[row.comment_id]:
            stored[row.comment_id][row.tagger, row.attribute] = row
    return stored


def _change(differ: list[_Differing], job: Job) -> None:
    """Takes over what the file says, except where a label of a person says what came of a suggestion."""
    judged = _judged([one.row.pk for one in differ])
    changed = [one.row for one in differ if one.row.pk not in judged and adopt(one.row, one.record._asdict())]
    job.update(changed, SuggestionRecord._fields, "suggestions")
    if judged:
        job.tallies["suggestions"].same += len(judged)
        job.problems.warnings[JUDGED] += len(judged)


def _judged(keys: list[int]) -> set[int]:
    labels = AttributeLabel.objects.filter(suggestion__in=keys).order_by()
    return {key for key in labels.values_list("suggestion", flat=True) if key is not None}


def _remove(gone: list[int], job: Job) -> None:
    """The file is the source's word on what was suggested; what people did with a suggestion is not."""
    used = _judged(gone)
    unused = set(gone) - used
    checks = SuggestionCheck.objects.filter(suggestion__in=unused)
    job.before(SuggestionCheck, list(checks.values_list("pk", flat=True)))
    job.before(Suggestion, unused)
    Suggestion.objects.filter(pk__in=unused).delete()
    job.tallies["suggestions"].changed += len(unused)
    if used:
        job.problems.warnings[KEPT] += len(used)
