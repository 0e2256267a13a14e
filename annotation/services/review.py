"""Submitting a review: one row an attribute, an event for each change, the same press stored once."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from annotation.domain.labels import Label, State
from annotation.models import Annotation, AnnotationEvent, AttributeLabel, Item, Submission, Suggestion
from annotation.services import slots
from simulation.models import User


@dataclass(frozen=True)
class Submitted:
    """What became of a submission. `replayed`: it had been stored before, and was not stored again."""

    annotation: Annotation
    replayed: bool = False
    changed: int = 0


@transaction.atomic
def submit(
    *,
    by: User,
    item: Item,
    submission_id: uuid.UUID,
    labels: Mapping[str, Label],
    suggestions: Mapping[str, Suggestion],
    now: datetime,
    active_ms: int = 0,
) -> Submitted:
    """Stores `labels` (attribute key -> label) as the view of `by` on the item's comment.

    A second submission by the same person for the same item changes their labels, with one event for
    each attribute that differs; so does a submission id that comes again with other answers. A lapsed
    lease is no loss: a free slot of the item is taken if there is one, else the answer is kept as over
    quota for as long as others fill the item.
    """
    # One submission of a person at a time: a double press waits here and then finds the first one.
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    digest = digest_of(item, labels)
    earlier = Submission.objects.select_related("annotation").filter(pk=submission_id).first()
    if earlier:
        if earlier.person_id != by.pk:
            raise PermissionError("this submission id belongs to somebody else")
        if earlier.digest == digest:
            return Submitted(earlier.annotation, replayed=True)
        # The page came back from the browser's memory with its old id and other answers: a change.
        submission_id = uuid.uuid4()
    annotation, is_new = _annotation(by, item, now, active_ms)
    changed = _store(annotation, labels, suggestions, by=by, active_ms=active_ms)
    if changed and not is_new:
        annotation.version += 1
        annotation.submitted_at = now
    if not is_new:
        annotation.save(update_fields=["version", "submitted_at", "active_ms", "over_quota"])
    Submission.objects.create(id=submission_id, annotation=annotation, person=by, digest=digest)
    return Submitted(annotation, changed=changed)


def digest_of(item: Item, labels: Mapping[str, Label]) -> str:
    """What a submission says, in one number: the same answers to the same item give the same digest."""
    said = {attribute: asdict(label) for attribute, label in labels.items()}
    return hashlib.sha256(json.dumps([item.public_id, said], sort_keys=True).encode()).hexdigest()


def _annotation(by: User, item: Item, now: datetime, active_ms: int) -> tuple[Annotation, bool]:
    over_quota = not slots.finish(by=by, item=item)
    annotation = Annotation.objects.select_for_update().filter(item=item, person=by).first()
    if annotation:
        annotation.active_ms += active_ms
        annotation.over_quota = over_quota
        return annotation, False
    created = Annotation.objects.create(
        comment_id=item.comment_id,
        item=item,
        person=by,
        submitted_at=now,
        active_ms=active_ms,
        over_quota=over_quota,
    )
    return created, True


def _store(
    annotation: Annotation,
    labels: Mapping[str, Label],
    suggestions: Mapping[str, Suggestion],
    *,
    by: User,
    active_ms: int,
) -> int:
    stored = {label.attribute: label for label in annotation.labels.all()}
    changed, events = [], []
    for attribute, label in labels.items():
        row = stored.get(attribute)
        old = as_json(row) if row else None
        new = {**asdict(label)}
        if old == new:
            continue
        row = row or AttributeLabel(annotation=annotation, attribute=attribute)
        for field, value in new.items():
            setattr(row, field, value)
        row.suggestion = suggestions.get(attribute)
        changed.append(row)
        events.append(
            AnnotationEvent(
                annotation=annotation, person=by, attribute=attribute, old=old, new=new, active_ms=active_ms
            )
        )
    AttributeLabel.objects.bulk_create([row for row in changed if row.pk is None])
    AttributeLabel.objects.bulk_update(
        [row for row in changed if row.attribute in stored],
        ["state", "outcome", "value", "hardness", "certainty", "suggestion"],
    )
    AnnotationEvent.objects.bulk_create(events)
    return len(changed)


def as_json(row: AttributeLabel) -> dict[str, object]:
    """A stored label in the form in which events hold it."""
    return {
        "state": row.state,
        "outcome": row.outcome,
        "value": row.value,
        "hardness": row.hardness,
        "certainty": row.certainty,
    }


def labels_from_events(annotation: Annotation) -> dict[str, dict[str, object]]:
    """The current labels, rebuilt from the append-only events alone."""
    current: dict[str, dict[str, object]] = {}
    for event in annotation.events.order_by("id"):
        current[event.attribute] = event.new
    return {attribute: label for attribute, label in current.items() if label["state"] != State.UNTOUCHED}
