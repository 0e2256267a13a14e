"""Pages of a listing: rows in a fixed order, and a mark behind which the next page begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Field, Model, Q, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from simulation.rest.cursors import BadCursor, seal, unseal
from simulation.rest.strict import Strict

MOST = 200
USUAL = 50
Row = TypeVar("Row", bound=Model)


class PageQuery(Strict):
    """The query of every listing; filters are fields of a class below it."""

    cursor = serializers.CharField(
        required=False, max_length=500, help_text="`next` of the page before: the page behind it."
    )
    limit = serializers.IntegerField(
        default=USUAL, min_value=1, max_value=MOST, help_text="Rows of a page, at most."
    )


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: Sequence[Row]
    next: str | None
    """The mark to continue behind; None on the last page."""


def page(
    rows: QuerySet[Row], *, order: Sequence[str], limit: int, cursor: str | None, listing: str
) -> Page[Row]:
    """One page in one query. `order` names fields that together are unique, all ascending or all with “-”.

    Rows that come or go meanwhile shift nothing: a page begins behind a position, not after a number of rows.
    Raises ValidationError for a mark of another listing.
    """
    names = [name.removeprefix("-") for name in order]
    if cursor:
        rows = rows.filter(_behind(rows.model, names, _position(cursor, listing), order[0].startswith("-")))
    found = list(rows.order_by(*order)[: limit + 1])
    kept = found[:limit]
    if len(found) <= limit:
        return Page(kept, None)
    return Page(kept, seal([_plain(getattr(kept[-1], name)) for name in names], listing=listing))


def listing_of(request: Request) -> str:
    """By what a listing is told: its address and filters, without the place on it."""
    filters = sorted((k, v) for k, v in request.query_params.items() if k not in ("cursor", "limit"))
    return f"{request.path}?{urlencode(filters)}"


def _position(cursor: str, listing: str) -> list[Any]:
    try:
        return unseal(cursor, listing=listing)
    except BadCursor:
        wrong = "It does not belong to this listing with these filters. Begin without it."
        raise ValidationError({"cursor": [wrong]}) from None


def _behind(model: type[Model], names: Sequence[str], position: Sequence[Any], descending: bool) -> Q:
    """(a, b) behind (x, y): a > x, or a = x and b > y."""
    behind, equal = Q(), Q()
    side = "lt" if descending else "gt"
    for name, value in zip(names, position, strict=True):
        field = model._meta.get_field(name)
        assert isinstance(field, Field)
        read = field.to_python(value)
        behind |= equal & Q(**{f"{name}__{side}": read})
        equal &= Q(**{name: read})
    # Says nothing new, but is what lets an index begin at the position instead of at the first row.
    first = model._meta.get_field(names[0])
    assert isinstance(first, Field)
    return behind & Q(**{f"{names[0]}__{side}e": first.to_python(position[0])})


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | str) or value is None else value.isoformat()
