"""Which price holds, and which the price list would propose."""

from __future__ import annotations

from datetime import datetime

from simulation.domain.money import FREE
from simulation.llm.catalog import abilities
from simulation.llm.connecting import SCRIPTED
from simulation.llm.price_list import Listed, listed
from simulation.models import Price, Provider

NOT_AN_LLM = "the scripted model: rules of this program, not a language model"


def current(provider: Provider, model: str, at: datetime) -> Price | None:
    """The latest row that holds at `at`. One query on an index."""
    return Price.objects.filter(provider=provider, model=model, valid_from__lte=at).first()


def proposed(provider: Provider, model: str, at: datetime) -> Listed | None:
    """What holds where no row does: nothing for the scripted model, else the list price. No query."""
    if provider.base_url == SCRIPTED or abilities(model).not_an_llm:
        return Listed(FREE, NOT_AN_LLM)
    return listed(provider.base_url, model, at)
