"""Reviews of an import to rows: one annotation a reviewer, one label an attribute, one event a change.

Annotations of people here are never looked at, let alone touched.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation.domain.labels import Outcome, State
from annotation.exchange.copying import reserve_ids
from annotation.exchange.records import AnnotationRecord, LabelRecord
from annotation.exchange.upsert import Job, adopt
from annotation.exchange.upsert_suggestions import Received
from annotation.models import Annotation, AnnotationEvent, AttributeLabel
from annotation.services.review import as_json

LABEL = ("state", "outcome", "value", "hardness", "certainty")
NEW_ANNOTATION = ("id", "comment_id", "reviewer", "submitted_at", "active_ms", "extra")
NEW_LABEL = ("annotation_id", *LabelRecord._fields, "outcome")
NEW_EVENT = ("annotation_id", "attribute", "old", "new", "source")
IMPORTED = Outcome.IMPORTED.value
GONE = {"state": State.UNTOUCHED.value, "outcome": IMPORTED, "value": "", "hardness": None, "certainty": None}

NOT_IN_FILE = "imported reviews are not in the file any more; they were kept"


class _New(NamedTuple):
    comment: int
    record: AnnotationRecord


class _Known(NamedTuple):
    row: Annotation
    record: AnnotationRecord


def store_annotations(received: list[Received], job: Job) -> None:
    stored = _stored(received)
    new: list[_New] = []
    known: list[_Known] = []
    for one in received:
        for record in one.record.annotations:
            row = stored.pop((one.comment, record.reviewer), None)
            if row:
                known.append(_Known(row, record))
            else:
                new.append(_New(one.comment, record))
    if stored:  # an annotation is never deleted: its events are what the history consists of
        job.problems.warnings[NOT_IN_FILE] += len(stored)
    _store_new(new, job)
    if known:
        _store_known(known, job)


def _stored(received: list[Received]) -> dict[tuple[int, str], Annotation]:
    """The imported annotations of comments that were there before, by comment and reviewer."""
    known = [one.comment for one in received if not one.is_new]
    if not known:
        return {}
    rows = Annotation.objects.filter(comment__in=known, person=None)
    return {(row.comment_id, row.reviewer): row for row in rows}


def _store_new(new: list[_New], job: Job) -> None:
    """Writes annotations, their labels, and the events of them."""
    annotations, labels, events = [], [], []
    for key, (comment, record) in zip(reserve_ids(Annotation, len(new)), new, strict=True):
        submitted_at = record.submitted_at or job.now
        annotations.append((key, comment, record.reviewer, submitted_at, record.active_ms, record.extra))
        for label in record.labels:
            labels.append((key, *label, IMPORTED))
            if label.state != State.NONE:
                events.append(_event(key, label.attribute, None, _content(label)))
    job.insert(Annotation, NEW_ANNOTATION, annotations, "annotations")
    job.insert(AttributeLabel, NEW_LABEL, labels, "labels", implied=True)
    job.insert(AnnotationEvent, NEW_EVENT, events, implied=True)


def _event(
    annotation: int, attribute: str, old: dict[str, Any] | None, new: dict[str, Any]
) -> tuple[Any, ...]:
    """The values of NEW_EVENT."""
    return (annotation, attribute, old, new, "import")


def _content(record: LabelRecord) -> dict[str, Any]:
    return {
        "state": record.state,
        "outcome": IMPORTED,
        "value": record.value,
        "hardness": record.hardness,
        "certainty": record.certainty,
    }


def _store_known(known: list[_Known], job: Job) -> None:
    """Brings stored annotations to what the file says, and writes the events of it."""
    rows: dict[int, dict[str, AttributeLabel]] = defaultdict(dict)
    for label in AttributeLabel.objects.filter(annotation__in=[one.row.pk for one in known]):
        rows[label.annotation_id][label.attribute] = label
    changes = _Changes()
    altered = []
    for annotation, record in known:
        before = len(changes.events)
        changes.compare(annotation, record, rows[annotation.pk])
        if _annotation_changed(annotation, record) or len(changes.events) > before:
            annotation.version += 1
            altered.append(annotation)
        else:
            job.tallies["annotations"].same += 1
    job.update(altered, ("submitted_at", "active_ms", "extra", "version"), "annotations")
    job.insert(AttributeLabel, NEW_LABEL, changes.new, "labels")
    job.update(changes.changed, LABEL, "labels")
    job.tallies["labels"].same += changes.same
    if changes.gone:
        job.before(AttributeLabel, changes.gone)
        AttributeLabel.objects.filter(pk__in=changes.gone).delete()
        job.tallies["labels"].changed += len(changes.gone)
    job.insert(AnnotationEvent, NEW_EVENT, changes.events)


@dataclass
class _Changes:
    new: list[tuple[Any, ...]] = field(default_factory=list)
    changed: list[AttributeLabel] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    same: int = 0
    events: list[tuple[Any, ...]] = field(default_factory=list)

    def compare(
        self, annotation: Annotation, record: AnnotationRecord, stored: dict[str, AttributeLabel]
    ) -> None:
        """Takes in what differs between the stored labels of an annotation and those of the file."""
        for given in record.labels:
            label = stored.pop(given.attribute, None)
            old = as_json(label) if label else None
            if label is None:
                self.new.append((annotation.pk, *given, IMPORTED))
            elif adopt(label, _content(given)):
                self.changed.append(label)
            else:
                self.same += 1
                continue
            self.events.append(_event(annotation.pk, given.attribute, old, _content(given)))
        for label in stored.values():
            self.gone.append(label.pk)
            self.events.append(_event(annotation.pk, label.attribute, as_json(label), GONE))


def _annotation_changed(annotation: Annotation, record: AnnotationRecord) -> bool:
    wanted: dict[str, Any] = {"active_ms": record.active_ms, "extra": record.extra}
    if record.submitted_at:
        wanted["submitted_at"] = record.submitted_at
    return adopt(annotation, wanted)
