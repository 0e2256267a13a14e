"""Who reviews which comment: a queue of items, and a slot for each person an item needs.

A slot is the unit of work: free, leased to one person for a while, done or skipped. That an item never
has more people at work than it wants, and no person twice, is a fact of the rows (slots are made with
the item; constraints below), not a promise of the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models import Comment, Corpus, PublicIdField, User

if TYPE_CHECKING:
    from collections.abc import Iterable


class QueueQuerySet(models.QuerySet["Queue"]):
    def with_right(self, person: User, right: Right) -> QueueQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, right))

    def visible_to(self, person: User) -> QueueQuerySet:
        """Queues this person may work in or manage."""
        return self.filter(
            Q(corpus__in=Corpus.objects.with_right(person, Right.REVIEW))
            | Q(corpus__in=Corpus.objects.with_right(person, Right.MANAGE_QUEUES))
        )


class Queue(models.Model):
    STATES = [("open", "open"), ("paused", "paused"), ("closed", "closed")]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="queues", db_index=False)
    name = models.CharField(max_length=80)
    people_per_item = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=10, choices=STATES, default="open")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="queue_name_once"),
            models.CheckConstraint(condition=Q(people_per_item__range=(1, 10)), name="queue_people_1_10"),
        ]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One comment in one queue. `position` orders the work and is a column of its own on purpose."""

    public_id = PublicIdField()
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items", db_index=False)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "comment"], name="item_once"),
            models.UniqueConstraint(fields=["queue", "position"], name="item_position_once"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Slot(models.Model):
    OPEN, LEASED, DONE, SKIPPED = "open", "leased", "done", "skipped"
    STATES = [(state, state) for state in (OPEN, LEASED, DONE, SKIPPED)]

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    position = models.PositiveBigIntegerField()
    """The item's, so that the next slot is found by one partial index."""
    state = models.CharField(max_length=10, choices=STATES, default=OPEN)
    person = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="slots")
    leased_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.UUIDField(null=True, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="slot_once"),
            models.UniqueConstraint(
                fields=["item", "person"], name="slot_person_once", condition=Q(person__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["queue", "person"], name="slot_one_lease", condition=Q(state="leased")
            ),
            models.CheckConstraint(
                name="slot_state_has_its_fields",
                condition=Q(
                    state="open", person__isnull=True, leased_until__isnull=True, lease_token__isnull=True
                )
                | Q(
                    state="leased",
                    person__isnull=False,
                    leased_until__isnull=False,
                    lease_token__isnull=False,
                )
                | Q(state__in=("done", "skipped"), person__isnull=False, leased_until__isnull=True),
            ),
        ]
        indexes = [
            models.Index(fields=["queue", "position", "number"], name="slot_open", condition=Q(state="open")),
            models.Index(fields=["queue", "leased_until"], name="slot_leased", condition=Q(state="leased")),
            models.Index(fields=["person", "queue", "state"], name="slot_of_person"),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of item {self.item_id}: {self.state}"

    @classmethod
    def of(cls, items: Iterable[Item], people: int) -> list[Slot]:
        """The unsaved open slots of `items`, `people` each."""
        return [
            cls(queue_id=item.queue_id, item=item, number=number, position=item.position)
            for item in items
            for number in range(1, people + 1)
        ]
