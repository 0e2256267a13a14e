"""Items and slots of a queue, made inside the database: a million in seconds, no row passes through here."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.db.models import (
    BinaryField,
    Exists,
    F,
    Func,
    Min,
    OrderBy,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
    Value,
    Window,
)
from django.db.models.functions import Concat, RowNumber
from django.utils import timezone

from annotation.domain.dealing import blind_places
from annotation.models import Item, Queue, Slot, Suggestion
from simulation.models import Comment
from simulation.models.identity import ALPHABET, LENGTH

LARGE = 10_000
"""From so many items on the planner is told about them at once."""

# The twin of `new_public_id`: each sign is chosen by five random bits of a version 4 UUID; byte 6 is left
# out, because its upper half is the version.
_ID_BYTES = [place for place in range(16) if place != 6][:LENGTH]
_PUBLIC_ID = " || ".join(
    f"substr('{ALPHABET.decode()}', 1 + (get_byte(made, {place}) & 31), 1)" for place in _ID_BYTES
)


class Changed(Exception):
    """The corpus changed meanwhile: there are other comments than those that were counted."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the filter finds {size} comments now")
        self.size = size


def fill(queue: Queue, comments: QuerySet[Comment], *, size: int) -> None:
    """Puts each of `comments` into `queue`, in the queue's order and with its blind draw, and opens slots for
    as many people as it wants. Call it within a transaction.

    `size` is the number of the comments. Raises Changed when it is another one by now.
    """
    with connection.cursor() as cursor:
        blind = _draw(cursor, queue, size)
        ordered, params = _in_order(queue, comments).query.sql_with_params()
        # What is put into the statement is SQL of Django's and of this module; values go as parameters.
        cursor.execute(
            f"INSERT INTO {_table(Item)} (public_id, queue_id, comment_id, position, blind, gold, agreement,"  # noqa: S608
            " differing, flagged)"
            f" SELECT {_PUBLIC_ID}, %s, comment_id, place, {blind}, false, '', '[]', false"
            " FROM (SELECT comment_id, place, uuid_send(gen_random_uuid()) AS made"
            f" FROM ({ordered}) AS dealt (comment_id, place) ORDER BY place) AS dealt",
            [queue.pk, *params],
        )
        if cursor.rowcount != size:
            raise Changed(int(cursor.rowcount))
        cursor.execute("DROP TABLE IF EXISTS pg_temp.blind_place")
    open_slots(queue, first=1, last=queue.people_per_item)
    if size >= LARGE:
        transaction.on_commit(analyze)


def open_slots(queue: Queue, *, first: int, last: int) -> int:
    """Opens the slots `first` to `last` of every item that waits for ordinary work; how many those are.

    Left out are gold items, which are handed out in their own way, and withdrawn comments. Where an item
    has slots beyond its ordinary ones, after skips, the new ones are numbered behind them.
    """
    taken = "true" if first > 1 else "false"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_table(Slot)} (queue_id, item_id, number, position, state, skip_reason,"  # noqa: S608
            " skip_note, changed_at)"
            " SELECT item.queue_id, item.id, step + greatest(0, coalesce(taken.number, 0) - %s + 1),"
            " item.position, 'open', '', '', %s"
            f" FROM {_table(Item)} AS item JOIN {_table(Comment)} AS comment ON comment.id = item.comment_id"
            " CROSS JOIN generate_series(%s::int, %s::int) AS step"
            f" LEFT JOIN LATERAL (SELECT max(number) AS number FROM {_table(Slot)} AS slot"
            f" WHERE slot.item_id = item.id) AS taken ON {taken}"
            " WHERE item.queue_id = %s AND NOT item.gold AND comment.state = 'active'"
            " ORDER BY item.position, step",
            [first, timezone.now(), first, last, queue.pk],
        )
        return int(cursor.rowcount)


def analyze() -> None:
    """Lets the planner know the new items and slots. Outside of a transaction: nobody waits for it."""
    with connection.cursor() as cursor:
        for model in (Item, Slot):
            cursor.execute(f"ANALYZE {_table(model)}")


def _draw(cursor: Any, queue: Queue, size: int) -> str:
    """Draws the blind places, and says in SQL whether `place` is one of them."""
    if queue.blind_percent in (0, 100):
        return "true" if queue.blind_percent else "false"
    cursor.execute("CREATE TEMPORARY TABLE blind_place (place bigint PRIMARY KEY) ON COMMIT DROP")
    with cursor.copy("COPY pg_temp.blind_place FROM STDIN") as copy:
        for place in blind_places(size, queue.blind_percent, queue.seed):
            copy.write_row((place,))
    return "place IN (SELECT place FROM pg_temp.blind_place)"


def _in_order(queue: Queue, comments: QuerySet[Comment]) -> QuerySet[Comment, Any]:
    """Keys and places (from 1) of `comments` in the queue's order; the same list gives the same places."""
    first: list[OrderBy] = []
    if queue.order == "random":
        first = [OrderBy(_shuffle_key(queue.seed))]
    elif queue.order == "unsure":
        first = [OrderBy(_least_certainty(queue.tagger), nulls_last=True)]
    order = [*first, F("sequence").asc(), F("pk").asc()]
    chosen = Comment.objects.filter(pk__in=comments.order_by().values("pk"))
    return chosen.values_list("pk", Window(RowNumber(), order_by=order)).order_by()


def _shuffle_key(seed: int) -> Func:
    """`domain.dealing.shuffle_key`, computed by the database."""
    words = Concat(Value(f"{seed}:"), F("external_id"), output_field=TextField())
    octets = Func(words, Value("UTF8"), function="convert_to", output_field=BinaryField())
    return Func(octets, function="sha256", output_field=BinaryField())


def _least_certainty(tagger: str) -> Subquery:
    """The lowest certainty among the suggestions that the queue shows for a comment; NULL without any."""
    there = Suggestion.objects.filter(tagger=tagger) if tagger else Suggestion.objects.all()
    later = there.filter(comment=OuterRef("comment"), attribute=OuterRef("attribute"), pk__gt=OuterRef("pk"))
    shown = there.filter(~Exists(later), comment=OuterRef("pk")).order_by().values("comment")
    return Subquery(shown.annotate(least=Min("certainty")).values("least"))


def _table(model: type[Item] | type[Slot] | type[Comment]) -> str:
    return connection.ops.quote_name(model._meta.db_table)
