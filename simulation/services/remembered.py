"""What a process remembers of prices and providers, so that a call need not ask the database for it."""

from __future__ import annotations

import time

from simulation.domain.plans import RoleModel
from simulation.llm.messages import ChatReply
from simulation.models import Price, Provider, Run
from simulation.selectors.providers import of_role
from simulation.services import prices
from simulation.services.ledger import Asked

PRICE_SECONDS = 5.0
_PRICES: dict[tuple[int, str], tuple[float, Price | None]] = {}


def price_now(provider: Provider, model: str) -> Price | None:
    """The price of the next call, looked up every few seconds: a new price counts within five."""
    now, key = time.monotonic(), (provider.pk, model)
    known = _PRICES.get(key)
    if known is None or now - known[0] > PRICE_SECONDS:
        known = (now, prices.price_of(provider, model))
        if known[1] is not None:  # an unknown one may be set at any moment
            _PRICES[key] = known
    return known[1]


_PROVIDERS: dict[str, Provider] = {}


def provider_of(run: Run, role: RoleModel) -> Provider:
    """Who answers for a role: a provider of its own, or the run's."""
    if not role.provider:
        return run.provider
    if role.provider not in _PROVIDERS:
        _PROVIDERS[role.provider] = of_role(run.provider, role)
    return _PROVIDERS[role.provider]


_COUNTED: dict[tuple[int, str], float] = {}


def counts_more(provider: Provider, model: str) -> float:
    """How much larger a provider has counted a prompt than our own upper estimate, at worst; 1 at least."""
    return _COUNTED.get((provider.pk, model), 1.0)


def learn(asked: Asked, reply: ChatReply) -> None:
    """A provider that counts more than was set aside is believed from the next call on, in this process."""
    key, size = (asked.provider.pk, asked.request.model), asked.request.size()
    if (worst := reply.usage.input / size) > _COUNTED.get(key, 1.0):
        _COUNTED[key] = min(worst, 1000.0)


def forget() -> None:
    """Forgets prices, counts and providers; for tests, whose rows go."""
    _PRICES.clear()
    _COUNTED.clear()
    _PROVIDERS.clear()
