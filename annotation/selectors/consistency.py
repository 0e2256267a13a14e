"""Is the state what the append-only record says? Read chunk by chunk, with flat memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from annotation.domain.labels import State
from annotation.models import Annotation, AnnotationEvent, Decision, DecisionEvent, Queue, Slot, Tally

FIELDS = ("state", "outcome", "value", "hardness", "certainty", "evidence", "bulk")
ABSENT = {"evidence": [], "bulk": False}
"""What older events do not say."""
NOTE = "note"


@dataclass(frozen=True)
class Deviation:
    """Where state and record part: what kind of row, which one (public id or name), and how."""

    kind: str
    which: str
    what: str


@dataclass(frozen=True)
class Checked:
    """One chunk: how many rows were rebuilt from how many events, and what was found."""

    kind: str
    rows: int
    events: int
    deviations: tuple[Deviation, ...]


def everything(*, chunk: int = 500) -> Iterator[Checked]:
    """Every annotation and decision against its events, every queue's tally against its slots."""
    yield from annotations(chunk=chunk)
    yield from decisions(chunk=chunk)
    yield from tallies()


def annotations(*, chunk: int = 500) -> Iterator[Checked]:
    last = 0
    while True:
        found = list(
            Annotation.objects.filter(pk__gt=last)
            .order_by("pk")
            .only("pk", "public_id", "note")
            .prefetch_related("labels")[:chunk]
        )
        if not found:
            return
        last = found[-1].pk
        said: dict[int, dict[str, Any]] = {row.pk: {} for row in found}
        events = AnnotationEvent.objects.filter(annotation__in=list(said)).order_by("pk")
        n = 0
        for annotation, attribute, new in events.values_list("annotation", "attribute", "new"):
            said[annotation][attribute] = new
            n += 1
        deviations = tuple(one for row in found for one in _of_annotation(row, said[row.pk]))
        yield Checked("annotation", len(found), n, deviations)


def _of_annotation(row: Annotation, said: dict[str, Any]) -> Iterator[Deviation]:
    note = said.pop(NOTE, {"note": ""})["note"]
    if note != row.note:
        yield Deviation("annotation", row.public_id, "the note is not what the events say")
    stored = {label.attribute: {name: getattr(label, name) for name in FIELDS} for label in row.labels.all()}
    for attribute in sorted(stored.keys() | said.keys()):
        label, event = stored.get(attribute), said.get(attribute)
        if event is None and label and label["state"] in (State.NONE, State.UNTOUCHED):
            continue  # an import writes no event for what it left out
        if label is None and event and event["state"] == State.UNTOUCHED:
            continue
        if label != _whole(event):
            yield Deviation("annotation", row.public_id, f"{attribute}: stored {label}, events say {event}")


def _whole(event: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if event is None else {**ABSENT, **event}


def decisions(*, chunk: int = 500) -> Iterator[Checked]:
    last = 0
    while True:
        found = list(
            Decision.objects.filter(pk__gt=last)
            .order_by("pk")
            .select_related("item")
            .only("pk", "attribute", "state", "value", "hardness", "certainty", "item__public_id")[:chunk]
        )
        if not found:
            return
        last = found[-1].pk
        events = DecisionEvent.objects.filter(item__in=[row.item_id for row in found]).order_by("pk")
        said: dict[tuple[int, str], Any] = {}
        n = 0
        for item, attribute, new in events.values_list("item", "attribute", "new"):
            said[item, attribute] = new
            n += 1
        deviations = tuple(
            Deviation("decision", row.item.public_id, f"{row.attribute}: not what the events say")
            for row in found
            if not _same_decision(row, said.get((row.item_id, row.attribute)))
        )
        yield Checked("decision", len(found), n, deviations)


def _same_decision(row: Decision, event: Mapping[str, Any] | None) -> bool:
    names = ("state", "value", "hardness", "certainty")
    return event is not None and all(getattr(row, name) == event.get(name) for name in names)


def tallies() -> Iterator[Checked]:
    """The counts that the database keeps, against the slots themselves."""
    for queue in Queue.objects.order_by("pk"):
        kept = {
            row.person_id: (row.slots, row.done, row.skipped) for row in Tally.objects.filter(queue=queue)
        }
        counted: dict[int | None, tuple[int, int, int]] = {
            row["person"]: (0, row["done"], row["skipped"])
            for row in Slot.objects.filter(queue=queue, state__in=(Slot.DONE, Slot.SKIPPED))
            .values("person")
            .annotate(
                done=Count("pk", filter=Q(state=Slot.DONE)), skipped=Count("pk", filter=Q(state=Slot.SKIPPED))
            )
        }
        counted[None] = (Slot.objects.filter(queue=queue).count(), 0, 0)
        wrong = [
            person
            for person in kept.keys() | counted.keys()
            if kept.get(person, (0, 0, 0)) != counted.get(person, (0, 0, 0))
        ]
        found = (Deviation("queue", queue.name, f"{len(wrong)} tallies are not the slots"),) if wrong else ()
        yield Checked("queue", 1, counted[None][0], found)
