"""Queues: made over the comments of a corpus, steered while people work, paused, closed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict, Unpack

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Annotation, Item, Queue, QueueWorker, Suggestion
from annotation.selectors import queue_settings, search
from annotation.services import adjudication, filling, slots
from annotation.services.filling import Changed
from annotation.services.guidelines import add_version
from simulation.models import Corpus, User
from simulation.services import audit

__all__ = ["Changed", "Lowered", "change", "create", "raise_people", "set_state"]


class Ways(TypedDict, total=False):
    """How a queue is worked on; see the fields of `Queue`. What is left out has the default there."""

    people_per_item: int
    assisted: bool
    tagger: str
    blind_percent: int
    order: str
    seed: int
    skip_policy: str
    skips_to_adjudicator: int
    gold_every: int
    bulk_asks_from: int


class Steering(TypedDict, total=False):
    """What may be changed while people work."""

    name: str
    skip_policy: str
    skips_to_adjudicator: int
    gold_every: int
    bulk_asks_from: int


class Lowered(ValueError):
    """People an item can be raised, not lowered: slots that people hold or have done would be too many."""


@transaction.atomic
def create(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    comments: CommentFilter | None = None,
    only_suggested: bool = False,
    workers: Collection[User] | None = None,
    guidelines: str = "",
    expected: int | None = None,
    **ways: Unpack[Ways],
) -> Queue:
    """An open queue over the active comments of `corpus` that `comments` means (None: all of them).

    `only_suggested` leaves out those without any suggestion. `workers` are the only people who may work in
    it; None: everybody with the right. `guidelines` become version 1 of the queue's guidelines. `expected` is
    the number of comments that the person was told.

    Raises Changed where there are others by now, and IntegrityError for a name that the corpus has already;
    nothing is made then.
    """
    asked = comments or CommentFilter()
    queue = Queue.objects.create(
        corpus=corpus,
        name=name,
        created_by=by,
        filter=asked.fields(),
        named_only=workers is not None,
        **ways,
    )
    QueueWorker.objects.bulk_create(QueueWorker(queue=queue, person=person) for person in workers or ())
    chosen = search.matching(corpus, asked).filter(state="active")
    if only_suggested:
        chosen = chosen.filter(Exists(Suggestion.objects.filter(comment=OuterRef("pk"))))
    size = chosen.count() if expected is None else expected
    filling.fill(queue, chosen, size=size)
    if guidelines:
        add_version(by=by, queue=queue, text=guidelines)
    audit.record(
        by=by,
        action="queue.created",
        target=queue,
        corpus=corpus,
        details={
            "items": size,
            "people_per_item": queue.people_per_item,
            "filter": sorted(queue.filter),
            "only_suggested": only_suggested,
            "order": queue.order,
            "seed": queue.seed,
            "assisted": queue.assisted,
            "blind_percent": queue.blind_percent,
            "workers": [person.public_id for person in workers] if workers is not None else "everybody",
        },
    )
    return queue


@transaction.atomic
def change(
    *, by: User | None, queue: Queue, workers: Collection[User] | None, **steering: Unpack[Steering]
) -> list[str]:
    """Changes what may be changed while people work; the names of what did change.

    `workers` are the only people who may work in it from now on; None: everybody with the right. Who is left
    out gets nothing new; their answers stay. Raises IntegrityError for a name that the corpus has already.
    """
    queue = Queue.objects.select_for_update(no_key=True).select_related("corpus").get(pk=queue.pk)
    before = {field: getattr(queue, field) for field in steering}
    changed = {field: value for field, value in steering.items() if before[field] != value}
    details: dict[str, object] = {field: value for field, value in changed.items() if field != "name"}
    if workers is None and queue.named_only:
        changed["named_only"] = False
        details["workers"] = "everybody"
        queue.workers.all().delete()
    elif workers is not None and _name(queue, workers):
        changed["named_only"] = True
        details["workers"] = [person.public_id for person in workers]
    if not changed:
        return []
    for field, value in changed.items():
        setattr(queue, field, value)
    queue.save(update_fields=list(changed))
    details["changed"] = sorted("workers" if field == "named_only" else field for field in changed)
    audit.record(by=by, action="queue.changed", target=queue, corpus=queue.corpus, details=details)
    return list(changed)


def _name(queue: Queue, workers: Collection[User]) -> bool:
    """Makes `workers` the list of the queue; whether that changes who may work in it."""
    listed = set(queue.workers.values_list("person", flat=True))
    wanted = {person.pk for person in workers}
    queue.workers.exclude(person__in=wanted).delete()
    QueueWorker.objects.bulk_create(
        QueueWorker(queue=queue, person_id=person) for person in sorted(wanted - listed)
    )
    return not queue.named_only or listed != wanted


@transaction.atomic
def raise_people(*, by: User | None, queue: Queue, people: int, expected: int) -> int:
    """Lets `people` look at each comment instead of fewer; the number of reviews that this adds.

    Items count as waiting for answers again, but for those that are settled. Answers over quota fill the new
    slots. `expected` is the number that the person was told: raises Changed when it is another one by now.
    Raises Lowered for a number of people that is not higher, or higher than ten.
    """
    queue = Queue.objects.select_for_update(no_key=True).select_related("corpus").get(pk=queue.pk)
    if not queue.people_per_item < people <= queue_settings.MOST_PEOPLE:
        raise Lowered(f"{people} is not more than {queue.people_per_item}")
    _lock_items(queue)
    before, queue.people_per_item = queue.people_per_item, people
    queue.save(update_fields=["people_per_item"])
    added = filling.open_slots(queue, first=before + 1, last=people)
    if added != expected:
        raise Changed(added)
    Item.objects.filter(queue=queue, agreement__in=(Item.AGREED, Item.DIFFERS)).update(
        agreement="", differing=[]
    )
    late = Annotation.objects.filter(item__queue=queue, over_quota=True)
    for item in Item.objects.filter(pk__in=late.values("item")).select_related("queue"):
        if slots.settle([item.pk]):
            adjudication.assess(item)
    audit.record(
        by=by,
        action="queue.people_raised",
        target=queue,
        corpus=queue.corpus,
        details={"from": before, "to": people, "reviews": added},
    )
    if added >= filling.LARGE:
        transaction.on_commit(filling.analyze)
    return added


def _lock_items(queue: Queue) -> None:
    """All items in the order in which everybody locks them; their keys stay in the database."""
    wanted = Item.objects.filter(queue=queue).order_by("pk").select_for_update(no_key=True).only("pk")
    sql, params = wanted.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({sql}) AS locked", params)  # noqa: S608 - Django's own SQL


@transaction.atomic
def set_state(*, by: User, queue: Queue, state: str) -> Queue:
    """Opens, pauses or closes a queue. What people hold stays theirs: submitting still works."""
    if state not in dict(Queue.STATES):
        raise ValueError(f"{state!r} is not a state of a queue")
    queue.state = state
    queue.save(update_fields=["state"])
    audit.record(by=by, action=f"queue.{state}", target=queue, corpus=queue.corpus)
    return queue
