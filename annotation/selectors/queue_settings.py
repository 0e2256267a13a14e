"""Questions of those who make and steer queues: who could work, whose suggestions, which guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Guideline, Item, Queue
from annotation.selectors import search
from simulation.domain.roles import Right, roles_with
from simulation.models import Corpus, Membership, User

MOST_PEOPLE = 10
SAME_PRESS = timedelta(minutes=10)
"""Within this time the same form sent again means the same queue; filling a large one takes a while."""


def reviewers(corpus: Corpus) -> QuerySet[User]:
    """People with an open account who may review in `corpus`, by name."""
    roles = [role.value for role in roles_with(Right.REVIEW)]
    held = Membership.objects.filter(Q(corpus=corpus) | Q(corpus=None), role__in=roles)
    may = Q(pk__in=held.values("person")) | Q(is_superuser=True)
    return User.objects.filter(may, is_active=True).order_by("username")


def next_name(corpus: Corpus) -> str:
    """The first name of the form “round 2” that no queue of the corpus has."""
    used = set(Queue.objects.filter(corpus=corpus, name__startswith="round ").values_list("name", flat=True))
    return next(name for number in count(1) if (name := f"round {number}") not in used)


def reviewable(corpus: Corpus, asked: CommentFilter) -> int:
    """How many comments a queue over `asked` would have: the active ones."""
    return search.matching(corpus, asked).filter(state="active").count()


def made_just_now(by: User, like: Queue, workers: Sequence[User]) -> Queue | None:
    """The queue that `by` made a moment ago by the form of `like`, which is not stored: the seed was drawn
    for the form."""
    there = Queue.objects.filter(
        corpus=like.corpus,
        name=like.name,
        created_by=by,
        created_at__gte=timezone.now() - SAME_PRESS,
        filter=like.filter,
        people_per_item=like.people_per_item,
        assisted=like.assisted,
        tagger=like.tagger,
        blind_percent=like.blind_percent,
        order=like.order,
        seed=like.seed,
        named_only=like.named_only,
        skip_policy=like.skip_policy,
        skips_to_adjudicator=like.skips_to_adjudicator,
        gold_every=like.gold_every,
        bulk_asks_from=like.bulk_asks_from,
        trashed_at=None,
    ).first()
    if there is None:
        return None
    listed = set(there.workers.values_list("person", flat=True))
    return there if listed == {person.pk for person in workers} else None


@dataclass(frozen=True)
class Numbers:
    """How many items a queue has, and how many of them are blind and gold."""

    items: int
    blind: int
    gold: int


def numbers(queue: Queue) -> Numbers:
    """In one query."""
    counted = Item.objects.filter(queue=queue).aggregate(
        items=Count("pk"), blind=Count("pk", filter=Q(blind=True)), gold=Count("pk", filter=Q(gold=True))
    )
    return Numbers(**counted)


def new_reviews(queue: Queue, people: int) -> int:
    """How many reviews are added when `people` look at each comment; see `services.filling.open_slots`."""
    waiting = Item.objects.filter(queue=queue, gold=False, comment__state="active")
    return waiting.count() * max(0, people - queue.people_per_item)


def guideline_of(queue: Queue) -> Guideline | None:
    """The guidelines in force: the latest version. One query."""
    return Guideline.objects.filter(queue=queue).order_by("-version").first()


@dataclass(frozen=True)
class Versions:
    """The versions of a queue's guidelines, latest first, and where the list goes on."""

    rows: Sequence[Guideline]
    before: int | None


def versions(queue: Queue, *, before: int | None = None, size: int = 30) -> Versions:
    """A page of versions in one query, without their texts."""
    found = Guideline.objects.filter(queue=queue).select_related("by").defer("text").order_by("-version")
    if before:
        found = found.filter(version__lt=before)
    rows = list(found[: size + 1])
    return Versions(rows[:size], rows[size - 1].version if len(rows) > size else None)
