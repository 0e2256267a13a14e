"""Prices of models: looked up before each call, set by people, taken from the price list where nobody has."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from simulation.domain.money import FREE
from simulation.models import Price, Provider, User
from simulation.selectors import prices as selectors
from simulation.services import audit

HIGHEST = Decimal(1_000_000)
"""USD per million tokens."""
PLACES = 6


class UnknownPrice(Exception):
    """Nobody knows what a call of this model costs, so none is made; the message says where to set it."""

    def __init__(self, provider: Provider, model: str) -> None:
        super().__init__(
            f"No price is known for “{model}” at {provider.name}. Set it on the page Prices, or with"
            f" manage.py prices --set; 0 if it costs nothing. Until then it is not called."
        )
        self.provider, self.model = provider, model


def price_of(provider: Provider, model: str, *, at: datetime | None = None) -> Price | None:
    """What `model` costs at `provider` from `at` (None: now) on; None where nobody knows.

    The latest row that holds. Without one: what costs nothing by its nature gets a row of zeros, and what
    the price list knows is kept as a row. So a price, once used, does not change with the list.
    """
    now = at or timezone.now()
    known = selectors.current(provider, model, now)
    if known is not None:
        return known
    found = selectors.proposed(provider, model, now)
    if found is None:
        return None
    with transaction.atomic():
        # Workers that come at once wait here; the second finds the row of the first.
        Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
        known = selectors.current(provider, model, now) or _kept(provider, model)
        return known or Price.objects.create(
            provider=provider,
            model=model,
            input=found.unit.input,
            output=found.unit.output,
            cached=found.unit.cached,
            valid_from=now,
            source=Price.BUILT_IN if found.unit == FREE else Price.PACKAGE,
            note=found.note,
        )


def _kept(provider: Provider, model: str) -> Price | None:
    """The row that another worker has kept meanwhile, an instant later than this one's."""
    return Price.objects.filter(provider=provider, model=model).exclude(source=Price.PERSON).first()


def require(pairs: Iterable[tuple[Provider, str]]) -> None:
    """Raises UnknownPrice for the first model of `pairs` that has no price."""
    for provider, model in dict.fromkeys(pairs):
        if price_of(provider, model) is None:
            raise UnknownPrice(provider, model)


@transaction.atomic
def set_price(
    *,
    by: User | None,
    provider: Provider,
    model: str,
    input: Decimal,
    output: Decimal,
    cached: Decimal | None = None,
    note: str = "",
    valid_from: datetime | None = None,
) -> Price:
    """A new price in USD per million tokens, from `valid_from` (None: now) on; former ones stay.

    Calls that were sent keep the price they were sent with. Raises ValidationError, field by field.
    """
    problems = {
        name: said
        for name, amount in (("input", input), ("output", output), ("cached", cached))
        if amount is not None and (said := _wrong(amount))
    }
    if not problems and cached is not None and cached > input:
        problems["cached"] = "No more than the price of input: what is set aside for a call counts on it."
    if not 1 <= len(model.strip()) <= 100:
        problems["model"] = "The name of a model, of 1 to 100 characters."
    if len(note) > 300:
        problems["note"] = "At most 300 characters."
    if problems:
        raise ValidationError(problems)
    Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
    price = Price.objects.create(
        provider=provider,
        model=model.strip(),
        input=input,
        output=output,
        cached=cached,
        valid_from=valid_from or timezone.now(),
        source=Price.PERSON,
        note=note.strip(),
        created_by=by,
    )
    audit.record(
        by=by,
        action="price.set",
        target=price,
        details={"provider": provider.public_id, "input": str(input), "output": str(output)}
        | ({} if cached is None else {"cached": str(cached)}),
    )
    return price


def _wrong(amount: Decimal) -> str:
    if not amount.is_finite() or not 0 <= amount <= HIGHEST:
        return "From 0 to 1,000,000 dollars per million tokens."
    exponent = amount.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > PLACES:
        return f"At most {PLACES} decimal places."
    return ""
