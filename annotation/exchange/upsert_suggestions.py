"""Suggestions of an import to rows. Those of other taggers are left alone."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from annotation.exchange.records import CommentRecord, SuggestionRecord
from annotation.exchange.upsert import Job, adopt
from annotation.models import AttributeLabel, Suggestion

TAGGER = "imported"
NEW = ("comment_id", *SuggestionRecord._fields, "tagger")
KEPT = "suggestions that the file no longer has were kept, because a person's label refers to them"


class Received(NamedTuple):
    """A comment's key, whether it has just been written, and all that the file says about it."""

    comment: int
    is_new: bool
    record: CommentRecord


def store_suggestions(received: list[Received], job: Job) -> None:
    stored: dict[int, dict[str, Suggestion]] = defaultdict(dict)
    known = [one.comment for one in received if not one.is_new and one.record.suggestions is not None]
    if known:
        for row in Suggestion.objects.filter(comment__in=known, tagger=TAGGER):
            stored[row.comment_id][row.attribute] = row
    new, changed = [], []
    for one in received:
        rows = stored.get(one.comment, {})
        for record in one.record.suggestions or ():
            suggestion = rows.pop(record.attribute, None)
            if suggestion is None:
                new.append((one.comment, *record, TAGGER))
            elif adopt(suggestion, record._asdict()):
                changed.append(suggestion)
            else:
                job.tallies["suggestions"].same += 1
    job.insert(Suggestion, NEW, new, "suggestions")
    job.update(changed, SuggestionRecord._fields, "suggestions")
    gone = [row.pk for rows in stored.values() for row in rows.values()]
    if gone:
        _remove(gone, job)


def _remove(gone: list[int], job: Job) -> None:
    """The file is the source's word on what was suggested; what people did with a suggestion is not."""
    used = set(AttributeLabel.objects.filter(suggestion__in=gone).values_list("suggestion", flat=True))
    Suggestion.objects.filter(pk__in=set(gone) - used).delete()
    job.tallies["suggestions"].changed += len(set(gone) - used)
    if used:
        job.problems.warnings[KEPT] += len(used)
