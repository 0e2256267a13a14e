"""List prices of models from the package genai-prices: what stands in it, without a network.

A provider is known by its address alone: a server of one's own that calls its model "gpt-4o-mini" has no
list price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from importlib.metadata import version

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
)

from simulation.domain.money import UnitPrice

PACKAGE = "genai-prices"
PLACES = Decimal("0.000001")
"""Prices are kept to a millionth of a dollar per million tokens."""
UNASKED = "anthropic"
"""The provider that writes a cache only when asked to; the others may do so, and bill it, by themselves."""


@dataclass(frozen=True)
class Listed:
    """A price of the list; `note` says from which version, for what, and what was rounded up."""

    unit: UnitPrice
    note: str


def listed(base_url: str, model: str, at: datetime) -> Listed | None:
    """The list price of `model` at this address from `at` on, or None where the list does not know it.

    Where the list has several prices (by the length of the prompt, by the hour), it is the highest that may
    apply: what is set aside for a call then always suffices. None as well for a model that also costs
    something other than tokens, such as a fee a request.
    """
    found = _find(base_url, model)
    if found is None:
        return None
    provider, info = found
    prices = list(_possible(info, at))
    if not prices or not all(_by_tokens_alone(price) for price in prices):
        return None
    prompt = ["input_mtok"] if provider.id == UNASKED else ["input_mtok", "cache_write_mtok"]
    input, output = _amounts(prices, *prompt), _amounts(prices, "output_mtok", "output_reasoning_mtok")
    read_back = all(getattr(price, "cache_read_mtok", None) is not None for price in prices)
    cached = min(max(_amounts(prices, "cache_read_mtok")), max(input)) if read_back else None
    dearest = ", the dearest of its rates" if len(input) > 1 or len(output) > 1 else ""
    name = re.sub(r"\s+", " ", info.name or info.id)
    note = f"{PACKAGE} {version(PACKAGE)}: {name} at {provider.name}{dearest}"
    return Listed(UnitPrice(max(input), max(output), cached), note[:300])


def _find(base_url: str, model: str) -> tuple[Provider, ModelInfo] | None:
    """By the address first; providers that share one are tried in turn."""
    snapshot = get_snapshot()
    for provider in snapshot.providers:
        if re.match(provider.api_pattern, base_url):
            info = provider.find_model(model, all_providers=snapshot.providers)
            if info is not None:
                return provider, info
    return None


def _possible(info: ModelInfo, at: datetime) -> Iterator[ModelPrice]:
    """The prices that may apply at `at` or at another hour of that day: later entries of the list come
    before earlier ones, down to the first that holds all day."""
    if isinstance(info.prices, ModelPrice):
        yield info.prices
        return
    entries: list[ConditionalPrice] = list(reversed(info.prices))
    for entry in entries:
        if isinstance(entry.constraint, StartDateConstraint) and not entry.constraint.active(at):
            continue
        yield entry.prices
        if entry.constraint is None or isinstance(entry.constraint, StartDateConstraint):
            return
    yield info.prices[0].prices


def _by_tokens_alone(price: ModelPrice) -> bool:
    known = price.input_mtok is not None and price.output_mtok is not None
    return known and not getattr(price, "requests_kcount", None)


def _amounts(prices: list[ModelPrice], *keys: str) -> set[Decimal]:
    """All amounts under `keys`, of every tier, rounded up to what a row holds."""
    amounts = set()
    for value in (getattr(price, key, None) for price in prices for key in keys):
        if isinstance(value, TieredPrices):
            amounts |= {value.base, *(tier.price for tier in value.tiers)}
        elif isinstance(value, Decimal):
            amounts.add(value)
    return {amount.quantize(PLACES, ROUND_CEILING) for amount in amounts}
