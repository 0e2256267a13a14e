"""The page of prices: every model that has one, and those that are named somewhere and have none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from simulation.llm.price_list import Listed
from simulation.models import Price, Provider, Run, RunPreset
from simulation.selectors import ledger_sums, prices

LATEST_RUNS = 200
"""Runs whose plans are looked at for the models they name."""
Pair = tuple[int, str]
"""Primary key of a provider, and a model."""


@dataclass
class PriceRow:
    """One model at one provider. Without `current` and `listed` its price is unknown."""

    provider: Provider
    model: str
    current: Price | None = None
    listed: Listed | None = None
    """What the price list says: kept as `current` at the first call, or what differs from it by now."""
    others: list[Price] = field(default_factory=list)
    """Former prices and those to come, latest first."""
    calls: int = 0
    cost: int = 0
    named_by: str = ""

    @property
    def is_unknown(self) -> bool:
        return self.current is None and self.listed is None

    @property
    def has_moved(self) -> bool:
        """Whether the list says something else by now than what was kept from it."""
        kept = self.current
        return bool(kept and kept.source == Price.PACKAGE and self.listed and self.listed.unit != kept.unit)


def rows(now: datetime, spent: Sequence[ledger_sums.Spent] = ()) -> list[PriceRow]:
    """Those without a price first, then by provider and model. A fixed number of queries."""
    providers = {one.pk: one for one in Provider.objects.all()}
    found: dict[Pair, PriceRow] = {}

    def row(pair: Pair) -> PriceRow:
        return found.setdefault(pair, PriceRow(providers[pair[0]], pair[1]))

    for price in Price.objects.select_related("created_by").order_by("-valid_from", "-id"):
        one = row((price.provider_id, price.model))
        if one.current is None and price.valid_from <= now:
            one.current = price
        else:
            one.others.append(price)
    for pair, who in _named(providers):
        one = row(pair)
        one.named_by = one.named_by or who
    for share in spent:
        one = row((share.provider_id, share.model))
        one.calls += share.calls
        one.cost += share.cost
    for one in found.values():
        if one.current is None or one.current.source == Price.PACKAGE:
            one.listed = prices.proposed(one.provider, one.model, now)
    return sorted(found.values(), key=lambda one: (not one.is_unknown, one.provider.name, one.model))


def _named(providers: dict[int, Provider]) -> Iterator[tuple[Pair, str]]:
    """The models that runs, presets and providers name, each with who names it."""
    ids = {one.public_id: pk for pk, one in providers.items()}
    plans = Run.objects.order_by("-pk").values_list("name", "provider_id", "plan__models", "plan__tagger")
    for name, provider, models, tagger in plans[:LATEST_RUNS]:
        for role in [*(models or {}).values(), tagger]:
            if role:
                yield (ids.get(role.get("provider", ""), provider), role["model"]), f"run “{name}”"
    for preset in RunPreset.objects.all():
        for public_id, model in _of_preset(preset.values):
            if public_id in ids:
                yield (ids[public_id], model), f"preset “{preset.name}”"
    for pk, provider_row in providers.items():
        yield (pk, provider_row.default_model), "the provider’s default"


def _of_preset(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Provider and model of each field of a form that names a model: `model`, `tagger_model`, ..."""
    for name, model in values.items():
        role, underscore, last = name.rpartition("_")
        if last == "model" and isinstance(model, str) and model:
            own = values.get(f"{role}{underscore}provider") or values.get("provider")
            yield str(own or ""), model
