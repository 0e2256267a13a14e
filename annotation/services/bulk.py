"""Acts on many comments at once: counted first, done in one transaction, refused when the count changed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.dealing import blind_places
from annotation.models import Annotation, Item, Queue, Slot
from annotation.selectors import search
from annotation.services import claims
from simulation.models import Comment, Corpus, User
from simulation.services import audit

BATCH = 1000
MOST_AT_ONCE = 100_000
"""Comments that one act touches: somebody waits for the page. A new queue may have any number."""


class Refused(ValueError):
    """Nothing was done; the text says why and what to do."""


class Changed(Exception):
    """The act would touch another number of comments than the person was told: ask again."""


@dataclass(frozen=True)
class Chosen:
    """Comments of one corpus: those with `ids`, or, where that is None, all that `asked` means."""

    corpus: Corpus
    asked: CommentFilter
    ids: tuple[str, ...] | None = None

    def comments(self) -> QuerySet[Comment]:
        """Raises Refused for an empty list of ids and for ids that are not in the corpus."""
        if self.ids is None:
            return search.matching(self.corpus, self.asked)
        if not self.ids:
            raise Refused("Choose at least one comment: tick it in the list.")
        found = Comment.objects.filter(corpus=self.corpus, public_id__in=self.ids)
        if missing := len(set(self.ids)) - found.count():
            raise Refused(
                f"{missing} of the chosen comments are not in this corpus. Go back and choose again."
            )
        return found


@dataclass(frozen=True)
class Forecast:
    """What an act will do: of `chosen` comments it touches `touched`."""

    chosen: int
    touched: int
    already: int
    """Are in the state, or in the queue, already."""
    left_out: int = 0
    """Withdrawn ones, which no queue takes."""
    held: int = 0
    """Of those touched: open in front of somebody at this moment."""
    waiting: int = 0
    """Reviews of those touched that wait in queues."""
    labelled: int = 0
    """Of those touched: with labels."""
    reviews: int = 0
    """Reviews that are added."""


def withdrawal(chosen: Chosen) -> Forecast:
    """What `withdraw` would do. Raises Refused."""
    there = chosen.comments()
    touched = there.filter(state="active")
    n, all_of_them = touched.count(), there.count()
    _not_too_many(n, "withdrawn", "do it in parts")
    slots = Slot.objects.filter(item__comment__in=touched.order_by().values("pk"))
    return Forecast(
        chosen=all_of_them,
        touched=n,
        already=all_of_them - n,
        held=slots.filter(state=Slot.LEASED).values("item__comment").distinct().count(),
        waiting=slots.filter(state=Slot.OPEN).count(),
        labelled=touched.filter(Exists(Annotation.objects.filter(comment=OuterRef("pk")))).count(),
    )


def restoration(chosen: Chosen) -> Forecast:
    """What `restore` would do. Raises Refused."""
    there = chosen.comments()
    touched = there.filter(state="withdrawn")
    n, all_of_them = touched.count(), there.count()
    _not_too_many(n, "taken back", "do it in parts")
    slots = Slot.objects.filter(item__comment__in=touched.order_by().values("pk"), state=Slot.OPEN)
    return Forecast(all_of_them, n, already=all_of_them - n, waiting=slots.count())


def addition(chosen: Chosen, queue: Queue) -> Forecast:
    """What `add_to_queue` would do. Raises Refused."""
    there = chosen.comments()
    n, all_of_them = _missing(there, queue).count(), there.count()
    _not_too_many(n, "added to a queue", "make a new queue of these")
    already = there.filter(_is_in(queue)).count()
    return Forecast(
        chosen=all_of_them,
        touched=n,
        already=already,
        left_out=all_of_them - n - already,
        reviews=n * queue.people_per_item,
    )


def _not_too_many(n: int, done: str, instead: str) -> None:
    if n > MOST_AT_ONCE:
        raise Refused(
            f"At most {MOST_AT_ONCE:,} comments can be {done} at once, not {n:,}."
            f" Narrow the filter, or {instead}."
        )


@transaction.atomic
def withdraw(*, by: User, chosen: Chosen, expected: int) -> int:
    """Takes comments out of work: nobody is given them from now on; what was said about them stays.

    `expected` is the number that the person was told. Raises Refused, and Changed when it is another by now.
    """
    return _set_state(by, chosen, "active", "withdrawn", expected)


@transaction.atomic
def restore(*, by: User, chosen: Chosen, expected: int) -> int:
    """Takes withdrawals back. Raises as `withdraw`."""
    return _set_state(by, chosen, "withdrawn", "active", expected)


def _set_state(by: User, chosen: Chosen, old: str, new: str, expected: int) -> int:
    _not_too_many(expected, "changed", "do it in parts")
    keys = list(chosen.comments().filter(state=old).order_by().values_list("pk", flat=True))
    n = Comment.objects.filter(pk__in=keys, state=old).update(state=new)
    if n != expected:
        raise Changed
    items = list(Item.objects.filter(comment__in=keys).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(items), BATCH):
        part = items[start : start + BATCH]
        if new == "active":
            claims.bring_back(items=part)
        else:
            claims.close(items=part)
    if n:
        action = "comments.withdrawn" if new == "withdrawn" else "comments.restored"
        _write_down(by, action, chosen, n)
    return n


@transaction.atomic
def add_to_queue(*, by: User, chosen: Chosen, queue: Queue, expected: int) -> int:
    """Puts active comments that are not in `queue` yet behind its last one, in the corpus' order, with the
    queue's share of blind ones and as many slots each as it has people for a comment.

    `expected` is the number that the person was told. Raises Refused, also for a queue that is not open, and
    Changed when it is another number by now.
    """
    queue = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    if queue.corpus_id != chosen.corpus.pk or queue.state != "open" or queue.trashed_at:
        raise Refused("This queue is not open; open it, or choose another.")
    if addition(chosen, queue).touched != expected:
        raise Changed
    last = Item.objects.filter(queue=queue).aggregate(last=Max("position"))["last"] or 0
    if _fill(queue, _missing(chosen.comments(), queue), last, expected) != expected:
        raise Changed
    if expected:
        _write_down(by, "queue.extended", chosen, expected, queue)
    return expected


def _fill(queue: Queue, comments: QuerySet[Comment], last: int, n: int) -> int:
    """Items and slots behind the position `last`; how many comments there were, at most `n` + 1."""
    seed = random.Random(f"{queue.seed}:{last + 1}").getrandbits(63)  # noqa: S311 - a reproducible draw
    blind = blind_places(n, queue.blind_percent, seed)
    next_blind, place = next(blind, 0), 0
    keys = comments.order_by("sequence", "pk").values_list("pk", flat=True)
    for batch in _batches(keys[: n + 1].iterator(chunk_size=BATCH)):
        items = []
        for key in batch:
            place += 1
            items.append(Item(queue=queue, comment_id=key, position=last + place, blind=place == next_blind))
            if place == next_blind:
                next_blind = next(blind, 0)
        Item.objects.bulk_create(items)
        Slot.objects.bulk_create(Slot.of(items, queue.people_per_item))
    return place


def _batches(keys: Iterator[int]) -> Iterator[Sequence[int]]:
    while batch := list(islice(keys, BATCH)):
        yield batch


def _is_in(queue: Queue) -> Exists:
    return Exists(Item.objects.filter(queue=queue, comment=OuterRef("pk")))


def _missing(comments: QuerySet[Comment], queue: Queue) -> QuerySet[Comment]:
    return comments.filter(~_is_in(queue), state="active")


def _write_down(by: User, action: str, chosen: Chosen, n: int, queue: Queue | None = None) -> None:
    """Numbers and the names of the fields: a text that was searched for must not get into the audit."""
    how = sorted(chosen.asked.fields()) if chosen.ids is None else "one by one"
    details = {"comments": n, "chosen_by": how}
    audit.record(by=by, action=action, target=queue or chosen.corpus, corpus=chosen.corpus, details=details)
