"""What waits for an adjudicator: queues with their counts, the items of one, the next one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.domain.adjudication import NOTHING, Opinion, relation
from annotation.domain.labels import State
from annotation.models import Annotation, AttributeLabel, Decision, Flag, Item, Queue, Slot
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, Attribute
from simulation.domain.matching import Match
from simulation.domain.roles import Right
from simulation.models import User

OPEN = "open"
KINDS = {
    OPEN: "to adjudicate",
    "differs": "answers differ",
    "flagged": "flagged",
    "agreed": "agreed, not settled",
    "settled": "settled",
}
# The first two conditions are those of the partial indexes of items, word by word.
TO_ADJUDICATE = Q(agreement="differs") | Q(flagged=True)
AGREED = Q(agreement="agreed")
_OF_KIND = {
    OPEN: TO_ADJUDICATE,
    "differs": TO_ADJUDICATE & Q(agreement="differs"),
    "flagged": TO_ADJUDICATE & Q(flagged=True),
    "agreed": AGREED,
    "settled": Q(agreement="settled"),
}
PAGE = 50
AT_ONCE = 2000
"""Items that one press settles at most: a page is not kept waiting longer than some seconds."""
OWN = "own-"


@dataclass(frozen=True)
class Waiting:
    """A queue as an adjudicator sees it; the numbers are items. An item can be flagged and anything else."""

    queue: Queue
    differs: int
    flagged: int
    agreed: int
    settled: int

    @property
    def compared(self) -> int:
        """Items whose answers were compared, or that were settled without."""
        return self.differs + self.agreed + self.settled

    @property
    def of_kind(self) -> dict[str, int]:
        return {
            "differs": self.differs,
            "flagged": self.flagged,
            "agreed": self.agreed,
            "settled": self.settled,
        }


def queues(person: User) -> list[Waiting]:
    """The queues in which `person` adjudicates, with their counts: four queries for any number of them."""
    return waiting(Queue.objects.with_right(person, Right.ADJUDICATE).select_related("corpus").order_by("id"))


def waiting(queues: Iterable[Queue]) -> list[Waiting]:
    """The counts of `queues`, in three queries; the first two read the partial indexes alone."""
    asked = list(queues)
    items = Item.objects.filter(queue__in=asked).order_by()
    still = {
        row["queue"]: row
        for row in items.filter(TO_ADJUDICATE)
        .values("queue")
        .annotate(
            n_differs=Count("pk", filter=Q(agreement="differs")),
            n_flagged=Count("pk", filter=Q(flagged=True)),
        )
    }
    agreed, settled = (
        dict(items.filter(condition).values_list("queue").annotate(n=Count("pk")))
        for condition in (AGREED, _OF_KIND["settled"])
    )
    nothing = {"n_differs": 0, "n_flagged": 0}
    return [
        Waiting(queue, row["n_differs"], row["n_flagged"], agreed.get(queue.pk, 0), settled.get(queue.pk, 0))
        for queue in asked
        for row in [still.get(queue.pk, nothing)]
    ]


def of_kind(queue: Queue, kind: str, attribute: str = "") -> QuerySet[Item]:
    """The items of one kind (a key of KINDS); with `attribute` those on which it differs or was flagged."""
    items = queue.items.filter(_OF_KIND[kind])
    if attribute:
        asked = Flag.objects.filter(item=OuterRef("pk"), attribute=attribute, resolved_at=None)
        items = items.filter(Q(differing__contains=[attribute]) | Exists(asked))
    return items


def _own(person: User) -> Exists:
    return Exists(Annotation.objects.filter(item=OuterRef("pk"), person=person))


@dataclass(frozen=True)
class Line:
    """One item of the list. `attributes` are those that differ, with how strongly."""

    item: Item
    attributes: list[tuple[Attribute, Match]]
    flags: list[Flag]
    skips: list[str]
    """Why people skipped it, in words."""
    own: bool
    """The person asking answered this one."""


@dataclass(frozen=True)
class Page:
    lines: list[Line]
    after: str
    """Mark to continue behind; empty on the last page."""


def page(
    person: User, queue: Queue, *, kind: str = OPEN, attribute: str = "", after: str = "", size: int = PAGE
) -> Page:
    """One page in the queue's order, those that `person` answered last; the same few queries for any number.

    `after` is a mark that a page gave; anything else begins at the front.
    """
    items = of_kind(queue, kind, attribute).select_related("comment").order_by("position")
    own_part, place = after.startswith(OWN), _place(after.removeprefix(OWN))
    found: list[Item] = []
    if not own_part:
        found = list(items.filter(~_own(person), position__gt=place)[: size + 1])
    own: list[Item] = []
    if len(found) <= size:
        behind = place if own_part else -1
        own = list(items.filter(_own(person), position__gt=behind)[: size + 1 - len(found)])
    marks = [str(item.position) for item in found] + [f"{OWN}{item.position}" for item in own]
    shown = [*found, *own][:size]
    return Page(
        lines=_lines(shown, {item.pk for item in own}),
        after=marks[size - 1] if len(marks) > size else "",
    )


def _place(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 18 else -1


def _lines(items: list[Item], own: set[int]) -> list[Line]:
    flags: dict[int, list[Flag]] = defaultdict(list)
    for flag in Flag.objects.filter(item__in=items, resolved_at=None).order_by("at"):
        flags[flag.item_id].append(flag)
    skips: dict[int, list[str]] = defaultdict(list)
    for slot in Slot.objects.filter(item__in=items, state=Slot.SKIPPED).order_by("number"):
        skips[slot.item_id].append(slot.get_skip_reason_display() or "no reason given")
    said = opinions_of(items)
    return [
        Line(
            item=item,
            attributes=[(one, _strength(one, said[item.pk])) for one in _known(item.differing)],
            flags=flags[item.pk],
            skips=skips[item.pk],
            own=item.pk in own,
        )
        for item in items
    ]


def _known(keys: Iterable[str]) -> list[Attribute]:
    return [CATALOGUE[key] for key in keys if key in CATALOGUE]


def _strength(attribute: Attribute, answers: Iterable[dict[str, Opinion]]) -> Match:
    return relation(attribute, [answer.get(attribute.key, NOTHING) for answer in answers])


def counted(items: Iterable[Item]) -> QuerySet[Annotation]:
    """The annotations of `items` that count: by people here, within what the queue wanted; oldest first."""
    asked = items if isinstance(items, QuerySet) else list(items)
    return Annotation.objects.filter(item__in=asked, person__isnull=False, over_quota=False).order_by("pk")


def opinions_of(items: Iterable[Item]) -> dict[int, list[dict[str, Opinion]]]:
    """Item key -> what each annotation that counts says, without quotes; one query."""
    answers: dict[int, dict[int, dict[str, Opinion]]] = defaultdict(lambda: defaultdict(dict))
    rows = AttributeLabel.objects.filter(annotation__in=counted(items).order_by(), attribute__in=TARGET_KEYS)
    for item, annotation, attribute, state, value in rows.order_by("annotation").values_list(
        "annotation__item", "annotation", "attribute", "state", "value"
    ):
        answers[item][annotation][attribute] = Opinion(State(state), value)
    found: dict[int, list[dict[str, Opinion]]] = defaultdict(list)
    for item, by_annotation in answers.items():
        found[item] = list(by_annotation.values())
    return found


def next_item(person: User, queue: Queue, *, after: Item | None = None) -> Item | None:
    """The next item to adjudicate: behind `after`, else the first; those that `person` answered come last."""
    items = of_kind(queue, OPEN).order_by("position")
    if after is not None:
        items = items.exclude(pk=after.pk)
    others = items.filter(~_own(person))
    found = others.filter(position__gt=after.position).first() if after is not None else None
    return found or others.first() or items.filter(_own(person)).first()


@dataclass(frozen=True)
class Unanimous:
    """What settling the agreed items of a queue in bulk does: so many of `items` and labels, now."""

    items: int
    labels: int
    waiting: int
    """All that could be settled, of which one press takes AT_ONCE at most."""

    @property
    def rest(self) -> int:
        return self.waiting - self.items


def unanimous(queue: Queue) -> QuerySet[Item]:
    """The agreed items that nobody flagged, in the queue's order."""
    return queue.items.filter(AGREED, flagged=False).order_by("position")


def settleable(queue: Queue, *, at_once: int = AT_ONCE) -> tuple[list[int], Unanimous]:
    """The keys of the items that one press settles, and the numbers. Labels are attributes that somebody
    judged and that have no decision yet."""
    keys = list(unanimous(queue).values_list("pk", flat=True)[:at_once])
    labels = (
        AttributeLabel.objects.filter(
            annotation__in=counted(Item.objects.filter(pk__in=keys)).order_by(), attribute__in=TARGET_KEYS
        )
        .exclude(state=State.UNTOUCHED)
        .filter(
            ~Exists(
                Decision.objects.filter(item=OuterRef("annotation__item"), attribute=OuterRef("attribute"))
            )
        )
        .order_by()
        .values("annotation__item", "attribute")
        .distinct()
        .count()
    )
    more = len(keys) == at_once
    return keys, Unanimous(len(keys), labels, unanimous(queue).count() if more else len(keys))
