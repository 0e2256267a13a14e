"""What a person has typed and not submitted: kept on the server as well, the newest save wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from annotation.models import Annotation, Item
from simulation.models import User

LARGEST = 40_000
"""Characters of a draft, all fields together."""


@dataclass(frozen=True)
class Stale(Exception):
    """The stored answer is newer than the page: `version` is what it has now."""

    version: int


class TooLarge(Exception):
    """More than a form can hold."""


# An older save that arrives late changes nothing.
KEEP = """
INSERT INTO annotation_draft AS d (item_id, person_id, base_version, stamp, fields, at)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (item_id, person_id) DO UPDATE
SET base_version = excluded.base_version, stamp = excluded.stamp, fields = excluded.fields, at = excluded.at
WHERE d.stamp < excluded.stamp OR d.base_version < excluded.base_version
"""


@transaction.atomic
def save(
    *, by: User, item: Item, base_version: int, stamp: int, fields: Mapping[str, str], now: datetime
) -> None:
    """Keeps `fields` as the draft of `by` for `item`.

    Raises Stale where their answer was stored with another version than the page began with, TooLarge for
    more than a form holds.
    """
    if sum(len(name) + len(value) for name, value in fields.items()) > LARGEST:
        raise TooLarge
    stored = Annotation.objects.filter(item=item, person=by).values_list("version", flat=True).first() or 0
    if stored != base_version:
        raise Stale(stored)
    document = connection.ops.adapt_json_value(dict(fields), None)
    with connection.cursor() as cursor:
        cursor.execute(KEEP, [item.pk, by.pk, base_version, stamp, document, now])
