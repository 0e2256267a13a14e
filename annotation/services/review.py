"""Submitting a review: one row an attribute, an event for each change, the same press stored once."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import IntegrityError, OperationalError, transaction

from annotation.domain.labels import Label, State
from annotation.models import (
    Annotation,
    AnnotationEvent,
    AttributeLabel,
    Draft,
    FirstAnswer,
    Guideline,
    Item,
    Submission,
    Suggestion,
)
from annotation.services import adjudication, at_once, slots
from simulation.models import User

LABEL_FIELDS = ["state", "outcome", "value", "hardness", "certainty", "evidence", "bulk"]
NOTE = "note"
"""Stands for the note where events name an attribute."""


@dataclass(frozen=True)
class Sent:
    """What a person says about one comment, and how long it took.

    `active_ms` counts while the page was in sight and the person not idle, `wall_ms` by the clock.
    """

    labels: Mapping[str, Label]
    note: str = ""
    active_ms: int = 0
    wall_ms: int = 0
    arm: str = ""
    guideline: Guideline | None = None
    suggestions: Mapping[str, Suggestion] = field(default_factory=dict)


@dataclass(frozen=True)
class Submitted:
    """What became of a submission. `replayed`: it had been stored before, and was not stored again."""

    annotation: Annotation
    replayed: bool = False
    changed: int = 0


class Conflict(Exception):
    """The stored answer is not the one that the person's page began with; nothing was changed."""

    def __init__(self, annotation: Annotation) -> None:
        super().__init__("another page of this person stored an answer meanwhile")
        self.annotation = annotation


def submit(
    *,
    by: User,
    item: Item,
    submission_id: uuid.UUID,
    labels: Mapping[str, Label],
    suggestions: Mapping[str, Suggestion],
    now: datetime,
    base_version: int | None = None,
    note: str = "",
    active_ms: int = 0,
    wall_ms: int = 0,
    arm: str = "",
    guideline: Guideline | None = None,
) -> Submitted:
    """Stores `labels` (attribute key -> label) and `note` as the view of `by` on the item's comment.

    A second submission by the same person for the same item changes their labels, with one event for
    each attribute that differs; so does a submission id that comes again with other answers. A lapsed
    lease is no loss: a free slot of the item is taken if there is one, else the answer is kept as over
    quota for as long as others fill the item.

    `base_version` is the version of the stored answer that the page began with (0: none). Raises Conflict
    where it is another one and says something else.
    """
    sent = Sent(labels, note, active_ms, wall_ms, arm, guideline, suggestions)
    digest = digest_of(item, sent)
    if base_version in (None, 0) and (stored := _at_once(by, item, submission_id, digest, sent, now)):
        return stored
    return _step_by_step(by, item, submission_id, digest, sent, now, base_version)


def _at_once(
    by: User, item: Item, submission_id: uuid.UUID, digest: str, sent: Sent, now: datetime
) -> Submitted | None:
    """The usual case: the first answer to an item that they hold. None: it is another case."""
    annotation = _unsaved(by, item, sent, over_quota=False, now=now)
    labels = [
        {
            "attribute": attribute,
            **label.as_json(),
            "suggestion": sent.suggestions[attribute].pk if attribute in sent.suggestions else None,
        }
        for attribute, label in sent.labels.items()
    ]
    events = [
        {"attribute": event.attribute, "new": event.new, "source": event.source, "active_ms": event.active_ms}
        for event in _events(annotation, {}, sent, "")
    ]
    try:
        with at_once.alone(item.queue.people_per_item == 1):
            number = at_once.store(
                by=by,
                item=item,
                submission_id=submission_id,
                digest=digest,
                annotation=annotation,
                labels=labels,
                events=events,
            )
            if not number:
                return None
            if item.queue.people_per_item > 1:
                adjudication.assess(item)
        if item.queue.people_per_item == 1 and number > 1:
            _compare(item)  # somebody may have answered before: a lead asked for another look
    except (IntegrityError, OperationalError):  # a known submission id, a deadlock: the steps tell them apart
        return None
    return Submitted(annotation, changed=len(labels))


@slots.whole
def _compare(item: Item) -> None:
    slots.lock([item.pk])
    adjudication.assess(item)


@slots.whole
def _step_by_step(
    by: User,
    item: Item,
    submission_id: uuid.UUID,
    digest: str,
    sent: Sent,
    now: datetime,
    base_version: int | None,
) -> Submitted:
    # Everything about an item happens under its lock: a double press waits here and finds the first one.
    slots.lock([item.pk])
    stored = Annotation.objects.select_for_update().filter(item=item, person=by).first()
    if stored:
        earlier = Submission.objects.filter(pk=submission_id).first()
        if earlier and earlier.person_id != by.pk:
            raise PermissionError("this submission id belongs to somebody else")
        if earlier and earlier.annotation_id == stored.pk and earlier.digest == digest:
            return Submitted(stored, replayed=True)
        if base_version is not None and base_version != stored.version:
            if not _differs(stored, sent):
                return Submitted(stored, replayed=True)
            raise Conflict(stored)
        if earlier:
            # The page came back from the browser's memory with its old id and other answers: a change.
            submission_id = uuid.uuid4()
    set_aside = stored is not None and slots.SET_ASIDE in stored.extra
    over_quota = set_aside or not slots.finish(by=by, item=item, locked=True)
    if stored:
        annotation, changed = stored, _change(stored, sent, over_quota=over_quota, now=now)
    else:
        annotation, changed = _create(by, item, sent, over_quota=over_quota, now=now), len(sent.labels)
    _keep_id(submission_id, annotation, by, digest)
    Draft.objects.filter(item=item, person=by).delete()
    adjudication.assess(item)
    return Submitted(annotation, changed=changed)


def _keep_id(submission_id: uuid.UUID, annotation: Annotation, by: User, digest: str) -> None:
    """Remembers the press. Raises PermissionError for an id that stands for another item or person."""
    try:
        Submission.objects.create(id=submission_id, annotation=annotation, person=by, digest=digest)
    except IntegrityError as error:
        raise PermissionError("this submission id belongs to something else") from error


def digest_of(item: Item, sent: Sent) -> str:
    """What a submission says, in one number: the same answers to the same item give the same digest."""
    said = {attribute: label.as_json() for attribute, label in sent.labels.items()}
    whole = json.dumps([item.public_id, said, sent.note], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _unsaved(by: User, item: Item, sent: Sent, *, over_quota: bool, now: datetime) -> Annotation:
    return Annotation(
        comment_id=item.comment_id,
        item=item,
        person=by,
        submitted_at=now,
        active_ms=sent.active_ms,
        wall_ms=sent.wall_ms,
        note=sent.note,
        arm=sent.arm,
        guideline=sent.guideline,
        over_quota=over_quota,
    )


def _create(by: User, item: Item, sent: Sent, *, over_quota: bool, now: datetime) -> Annotation:
    annotation = _unsaved(by, item, sent, over_quota=over_quota, now=now)
    annotation.save(force_insert=True)
    _store(annotation, {}, sent)
    return annotation


def _change(annotation: Annotation, sent: Sent, *, over_quota: bool, now: datetime) -> int:
    """Brings a stored answer to what was sent; the number of attributes that changed."""
    old_note = annotation.note
    annotation.note = sent.note
    changed = _store(annotation, {row.attribute: row for row in annotation.labels.all()}, sent, old_note)
    if changed:
        annotation.version += 1
        annotation.submitted_at = now
        annotation.guideline = sent.guideline or annotation.guideline
    annotation.active_ms += sent.active_ms
    annotation.wall_ms += sent.wall_ms
    annotation.over_quota = over_quota
    annotation.save(
        update_fields=[
            "version",
            "submitted_at",
            "guideline",
            "active_ms",
            "wall_ms",
            "note",
            "over_quota",
        ]
    )
    return changed


def _differs(annotation: Annotation, sent: Sent) -> bool:
    stored = {row.attribute: as_json(row) for row in annotation.labels.all()}
    said = {attribute: label.as_json() for attribute, label in sent.labels.items()}
    return annotation.note != sent.note or any(stored.get(key) != label for key, label in said.items())


def _store(
    annotation: Annotation, stored: Mapping[str, AttributeLabel], sent: Sent, old_note: str = ""
) -> int:
    """Writes what differs from `stored`, an event each; how many attributes (the note is one) that is."""
    events = _events(annotation, stored, sent, old_note)
    named = [event.attribute for event in events if event.attribute != NOTE]
    rows = [_filled(stored.get(key), annotation, key, sent.labels[key].as_json(), sent) for key in named]
    AttributeLabel.objects.bulk_create([row for row in rows if row.pk is None])
    changed = [row for row in rows if row.attribute in stored]
    if changed:
        AttributeLabel.objects.bulk_update(changed, [*LABEL_FIELDS, "suggestion"])
    AnnotationEvent.objects.bulk_create(events)
    return len(events)


def _events(
    annotation: Annotation, stored: Mapping[str, AttributeLabel], sent: Sent, old_note: str
) -> list[AnnotationEvent]:
    """One event for each attribute about which something else is said than before, and for the note."""
    events = []
    for attribute, label in sent.labels.items():
        row = stored.get(attribute)
        old, said = as_json(row) if row else None, label.as_json()
        if old != said:
            source = "bulk" if label.bulk else "human"
            events.append(_event(annotation, attribute, old, said, sent.active_ms, source))
    if sent.note != old_note:
        old_said = {"note": old_note} if old_note else None
        events.append(_event(annotation, NOTE, old_said, {"note": sent.note}, 0, "human"))
    return events


def _filled(
    row: AttributeLabel | None, annotation: Annotation, attribute: str, said: Mapping[str, object], sent: Sent
) -> AttributeLabel:
    row = row or AttributeLabel(annotation=annotation, attribute=attribute)
    for name in LABEL_FIELDS:
        setattr(row, name, said[name])
    row.suggestion = sent.suggestions.get(attribute)
    return row


def _event(
    annotation: Annotation,
    attribute: str,
    old: Mapping[str, object] | None,
    new: Mapping[str, object],
    active_ms: int,
    source: str,
) -> AnnotationEvent:
    return AnnotationEvent(
        annotation=annotation,
        person_id=annotation.person_id,
        attribute=attribute,
        old=old,
        new=new,
        active_ms=active_ms,
        source=source,
    )


def as_json(row: AttributeLabel) -> dict[str, object]:
    """A stored label in the form in which events hold it."""
    return {name: getattr(row, name) for name in LABEL_FIELDS}


@transaction.atomic
def answer_first(
    *, by: User, item: Item, labels: Mapping[str, Label], note: str = "", active_ms: int = 0
) -> FirstAnswer:
    """Keeps what `by` said about a blind item before the suggestions were shown; the first one stays."""
    answer, _ = FirstAnswer.objects.get_or_create(
        item=item,
        person=by,
        defaults={
            "labels": {attribute: label.as_json() for attribute, label in labels.items()},
            "note": note,
            "active_ms": active_ms,
        },
    )
    Draft.objects.filter(item=item, person=by).delete()
    return answer


def labels_from_events(annotation: Annotation) -> dict[str, dict[str, object]]:
    """The current labels, rebuilt from the append-only events alone."""
    current: dict[str, dict[str, object]] = {}
    for event in annotation.events.exclude(attribute=NOTE).order_by("id"):
        current[event.attribute] = event.new
    return {attribute: label for attribute, label in current.items() if label["state"] != State.UNTOUCHED}
