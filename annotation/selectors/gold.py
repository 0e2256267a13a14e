"""Questions about gold items. Truth: only for those who manage queues, never for a labeler's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.postgres.search import SearchQuery
from django.db.models import Q

from annotation.domain.known import JUDGED, Typed, typed
from annotation.models import Annotation, Decision, Item, Queue
from annotation.selectors.search import WORDS
from simulation.domain.attributes import TARGETS, Attribute

FOUND = 20
LOOKED_AT = 2000
"""Of words that more comments have than this, any so many are looked for in the queue."""
STATES = [state.value for state in JUDGED]


@dataclass(frozen=True)
class Entry:
    """A gold item with its known answer in the catalogue's order."""

    item: Item
    answer: Sequence[tuple[Attribute, Typed]]


@dataclass(frozen=True)
class Page:
    rows: Sequence[Entry]
    after: int | None
    """Place to continue behind; None on the last page."""


def page(queue: Queue, *, after: int = 0, size: int = 50) -> Page:
    """Gold items of a queue in its order, in one query."""
    found = Item.objects.filter(queue=queue, gold=True, position__gt=after)
    items = list(found.select_related("comment", "gold_answer__by").order_by("position")[: size + 1])
    rows = [Entry(item, answer_of(item)) for item in items[:size]]
    return Page(rows, items[size - 1].position if len(items) > size else None)


def answer_of(item: Item) -> list[tuple[Attribute, Typed]]:
    """The attributes that a gold item checks, each with what is right."""
    known = item.gold_answer.labels
    return [(attribute, typed(known[attribute.key])) for attribute in TARGETS if attribute.key in known]


def find(queue: Queue, words: str) -> list[Item]:
    """Items of a queue that are not gold yet: the one with `words` as its comment's id or its own, then
    some whose comment holds them, in the queue's order. Each question has an index of its own."""
    there = Item.objects.filter(queue=queue, gold=False).select_related("comment")
    named = queue.corpus.comments.filter(Q(external_id=words) | Q(public_id=words)).values_list(
        "pk", flat=True
    )
    found = list(there.filter(Q(comment__in=list(named)) | Q(public_id=words)).order_by("position")[:FOUND])
    asked = SearchQuery(words, config="english", search_type="websearch")
    holding = queue.corpus.comments.annotate(words=WORDS).filter(words=asked)
    # By the index of words first: walking along the queue takes long where hardly any comment has them.
    few = list(holding.values_list("pk", flat=True)[:LOOKED_AT])
    more = there.filter(comment__in=few).order_by("position")
    known = {item.pk for item in found}
    return [*found, *(item for item in more[:FOUND] if item.pk not in known)][:FOUND]


@dataclass(frozen=True)
class Source:
    """Something from which a known answer can be taken over; `key` names it in the address."""

    key: str
    name: str
    rows: dict[str, Typed]


def sources(item: Item) -> list[Source]:
    """What adjudicators settled about an item first, then each person's annotation; three queries."""
    found = []
    settled = Decision.objects.filter(item=item, state__in=STATES)
    decided = {one.attribute: _typed(one) for one in settled}
    if decided:
        found.append(Source("decisions", "What was settled", decided))
    given = Annotation.objects.filter(item=item, person__isnull=False).select_related("person")
    for annotation in given.prefetch_related("labels").order_by("id"):
        rows = {one.attribute: _typed(one) for one in annotation.labels.all() if one.state in STATES}
        if rows and annotation.person:
            found.append(Source(annotation.public_id, f"Answer of {annotation.person.username}", rows))
    return found


def _typed(label: object) -> Typed:
    return typed(vars(label))
