"""Who reviews which comment: a queue of items, and a slot for each person an item needs.

A slot is the unit of work: free, leased to one person for a while, done or skipped. That an item never
has more people at work than it wants, and no person twice, is a fact of the rows (slots are made with
the item; constraints below), not a promise of the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models import Comment, Corpus, PublicIdField, Run, User

if TYPE_CHECKING:
    from collections.abc import Iterable


class QueueQuerySet(models.QuerySet["Queue"]):
    def with_right(self, person: User, right: Right) -> QueueQuerySet:
        """Queues of the corpora in which `person` has `right`; those in the trash are nobody's."""
        return self.filter(corpus__in=Corpus.objects.with_right(person, right), trashed_at=None)

    def trashed_with_right(self, person: User, right: Right) -> QueueQuerySet:
        """Queues in the trash, of corpora outside it, in which `person` has `right`."""
        return self.filter(corpus__in=Corpus.objects.with_right(person, right), trashed_at__isnull=False)

    def workable_by(self, person: User) -> QueueQuerySet:
        """Queues in which `person` may review: the right to, and on the list where there is one."""
        named = QueueWorker.objects.filter(queue=models.OuterRef("pk"), person=person)
        return self.with_right(person, Right.REVIEW).filter(Q(named_only=False) | models.Exists(named))

    def visible_to(self, person: User) -> QueueQuerySet:
        """Queues this person may work in or manage."""
        return self.filter(
            Q(pk__in=Queue.objects.workable_by(person))
            | Q(pk__in=Queue.objects.with_right(person, Right.MANAGE_QUEUES))
        )


class Queue(models.Model):
    """Which comments are reviewed, by whom and how. What is fixed when it is made: filter, order, seed,
    blind share; the rest may be changed while people work."""

    STATES = [("open", "open"), ("paused", "paused"), ("closed", "closed")]
    ORDERS = [
        ("corpus", "as in the corpus"),
        ("random", "shuffled"),
        ("unsure", "least certain suggestions first"),
    ]
    SKIP_COUNTS, SKIP_OTHERS, SKIP_ADJUDICATOR = "counts", "others", "adjudicator"
    SKIP_POLICIES = [
        (SKIP_OTHERS, "somebody else gets it"),
        (SKIP_COUNTS, "it counts as dealt with; nobody else gets it"),
        (SKIP_ADJUDICATOR, "somebody else gets it; after some skips the adjudicator"),
    ]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="queues", db_index=False)
    name = models.CharField(max_length=80)
    people_per_item = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=10, choices=STATES, default="open")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    filter = models.JSONField(default=dict, blank=True)
    """What was asked for when the queue was made, as fields of the browse page's filter."""
    order = models.CharField(max_length=10, choices=ORDERS, default="corpus")
    seed = models.BigIntegerField(default=0)
    """Of the order and of the draw of blind items."""
    assisted = models.BooleanField(default=True)
    """Whether suggestions are shown at all."""
    tagger = models.CharField(max_length=100, blank=True)
    """Whose suggestions are shown; empty: the latest of each attribute."""
    tag_run = models.ForeignKey(Run, on_delete=models.RESTRICT, null=True, blank=True, related_name="+")
    """The tagging run whose suggestions are shown; null: of any run."""
    blind_percent = models.PositiveSmallIntegerField(default=0)
    """Share of the items that are answered once before the suggestions are shown, 0-100."""
    named_only = models.BooleanField(default=False)
    """Whether only the people on the queue's list may work in it."""
    skip_policy = models.CharField(max_length=12, choices=SKIP_POLICIES, default=SKIP_OTHERS)
    skips_to_adjudicator = models.PositiveSmallIntegerField(default=2)
    gold_every = models.PositiveSmallIntegerField(default=0)
    """After so many comments a person gets a gold one that they have not had; 0: never."""
    bulk_asks_from = models.PositiveSmallIntegerField(default=50)
    """Accepting all suggestions at once asks back from this share of the rows on, in percent."""
    trashed_at = models.DateTimeField(null=True, blank=True)
    trashed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    guideline_version: int | None = None
    """Of the newest guidelines, where a query asked for it."""

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="queue_name_once"),
            models.CheckConstraint(condition=Q(people_per_item__range=(1, 10)), name="queue_people_1_10"),
            models.CheckConstraint(condition=Q(blind_percent__range=(0, 100)), name="queue_blind_percent"),
            models.CheckConstraint(
                condition=Q(skips_to_adjudicator__range=(1, 10)), name="queue_skips_to_adjudicator"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class QueueWorker(models.Model):
    """One person on the list of a queue that is not for everybody."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="workers", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "person"], name="queue_worker_once")]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.queue_id}"


class Guideline(models.Model):
    """One version of a queue's guidelines (Markdown). Versions are added, never changed."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="guidelines", db_index=False)
    version = models.PositiveIntegerField()
    text = models.TextField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version"]
        constraints = [models.UniqueConstraint(fields=["queue", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"version {self.version} of {self.queue_id}"


class Item(models.Model):
    """One comment in one queue. `position` orders the work and is a column of its own on purpose."""

    AGREED, DIFFERS, SETTLED = "agreed", "differs", "settled"
    AGREEMENTS = [(state, state) for state in (AGREED, DIFFERS, SETTLED)]

    public_id = PublicIdField()
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items", db_index=False)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveBigIntegerField()
    blind = models.BooleanField(default=False)
    """Answered once before the suggestions are shown; drawn with the queue's seed."""
    gold = models.BooleanField(default=False)
    """Its answer is known; it is handed out by `gold_every`, to everybody, beside the ordinary work."""
    agreement = models.CharField(max_length=10, choices=AGREEMENTS, blank=True)
    """Empty until as many people have answered as were wanted (and always where that is one person)."""
    differing = models.JSONField(default=list, blank=True)
    """Keys of the attributes on which the answers differ, in the catalogue's order."""
    flagged = models.BooleanField(default=False)
    """Somebody asked for the adjudicator, or it was skipped too often, and it is not settled."""

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "comment"], name="item_once"),
            models.UniqueConstraint(fields=["queue", "position"], name="item_position_once"),
        ]
        indexes = [
            models.Index(
                fields=["queue", "position"],
                name="item_to_adjudicate",
                condition=Q(agreement="differs") | Q(flagged=True),
            ),
            models.Index(fields=["queue", "position"], name="item_agreed", condition=Q(agreement="agreed")),
            models.Index(fields=["queue", "position"], name="item_gold", condition=Q(gold=True)),
            models.Index(fields=["comment"], name="item_settled", condition=Q(agreement="settled")),
        ]

    def __str__(self) -> str:
        return self.public_id


class Slot(models.Model):
    OPEN, LEASED, DONE, SKIPPED = "open", "leased", "done", "skipped"
    STATES = [(state, state) for state in (OPEN, LEASED, DONE, SKIPPED)]
    SKIP_REASONS = [
        ("unreadable", "cannot be read (language, garbled, empty)"),
        ("context", "cannot be judged without more context"),
        ("upsetting", "upsetting, I do not want to judge it"),
        ("knowledge", "needs knowledge I do not have"),
        ("technical", "something is wrong with the page or the data"),
        ("other", "another reason"),
    ]

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    position = models.PositiveBigIntegerField()
    """The item's, so that the next slot is found by one partial index."""
    state = models.CharField(max_length=10, choices=STATES, default=OPEN)
    person = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="slots")
    leased_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.UUIDField(null=True, blank=True)
    skip_reason = models.CharField(max_length=12, choices=SKIP_REASONS, blank=True)
    skip_note = models.CharField(max_length=300, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    # What a query read on the way (see selectors/handed.py); None: nothing was read.
    suggested: list[Any] | None = None
    has_draft: bool | None = None

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


class Tally(models.Model):
    """Slots of a queue counted by person; the row without a person has the number of all slots.

    Kept by triggers on the slots (migration 0006), whatever changes them: nobody else writes here. So done +
    skipped + left = all, always, and reading it does not grow with the corpus.
    """

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="tallies", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    slots = models.PositiveBigIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)
    skipped = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "person"], name="tally_once", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.done} done, {self.skipped} skipped of {self.slots}"
