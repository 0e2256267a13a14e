"""The demo's simulation: the starter profiles write threads, a model tags them, a queue waits.

Normally the scripted model answers, over HTTP on this machine. Only with DEMO_PAID=1 and a key does a real
provider, within DEMO_MAX_CALLS.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from genai_prices import Usage, calc_price

from annotation.exchange import dataset
from annotation.models import Queue
from annotation.services import following, queues
from simulation.domain.parameters import Parameters
from simulation.domain.plans import Forecast, forecast, published_models
from simulation.domain.run_states import ENDED_RUNS, RunState
from simulation.models import Corpus, Provider, Run, User
from simulation.selectors.progress import progress
from simulation.services import prices, providers, runs

CORPUS, RUN, QUEUE = "simulated", "demo run", "first look"
TARGETS = {"occupation": 1, "relationship_status": 1, "city_country": 1}
PARAMETERS = Parameters(profiles_asked=27)
SEED = 20240611
KEY_VARIABLE = "OPENAI_API_KEY"
OUTPUT_TOKENS = 250
"""Of an answer, generously; the rest of the forecast's tokens are input."""


class NotPaid(Exception):
    """A paid demo that cannot be had; the message says what is missing."""


@dataclass(frozen=True)
class Model:
    """Which provider answers, and how many calls may be made."""

    provider: Provider
    max_calls: int
    paid: bool


def scripted(base_url: str) -> Model:
    """The scripted model at `base_url`. It is this command's own process: no guard asks about its address."""
    provider, _ = Provider.objects.update_or_create(
        name="scripted model",
        defaults={"base_url": base_url, "default_model": "scripted", "timeout_seconds": 30},
    )
    return Model(provider, max_calls=20_000, paid=False)


def paid() -> Model:
    """The provider of DEMO_BASE_URL with the key of OPENAI_API_KEY. Raises NotPaid without one."""
    if not os.environ.get(KEY_VARIABLE):
        raise NotPaid(f"DEMO_PAID=1 needs a key in {KEY_VARIABLE}. Without DEMO_PAID no key is needed.")
    provider = Provider.objects.filter(name="paid demo").first()
    if provider is None:
        provider = providers.add(
            by=None,
            name="paid demo",
            base_url=settings.DEMO_BASE_URL,
            key_variable=KEY_VARIABLE,
            default_model=settings.DEMO_MODEL,
        )
    return Model(provider, max_calls=settings.DEMO_MAX_CALLS, paid=True)


def likely(corpus: Corpus) -> Forecast:
    """What the demo's run will need."""
    return forecast(targets=TARGETS, profiles=corpus.profiles.count(), parameters=PARAMETERS, then_tag=True)


def cost(likely: Forecast, *, model: str, max_calls: int) -> str:
    """What that may cost at list prices, as a sentence; says so where no price is known."""
    calls = min(likely.calls_high, max_calls)
    tokens = likely.tokens_high * calls // max(1, likely.calls_high)
    usage = Usage(input_tokens=max(0, tokens - calls * OUTPUT_TOKENS), output_tokens=calls * OUTPUT_TOKENS)
    try:
        price = calc_price(usage, model_ref=model).total_price
    except LookupError:
        return f"at most {max_calls} calls of {model}; no price of it is known here"
    return f"at most {max_calls} calls of {model}: up to about ${max(price, Decimal('0.01')):.2f}"


def corpus(by: User) -> Corpus:
    """The corpus that the demo writes into, with the starter profiles and nothing else to begin with."""
    dataset.import_paths(
        paths=[settings.BASE_DIR / "simulation" / "starter_corpus" / "profiles.json"],
        corpus_name=CORPUS,
        by=by,
        licence="CC0-1.0",
        description="Threads that agents with the starter profiles wrote on this machine.",
    )
    return Corpus.objects.get(name=CORPUS)


def known(where: Corpus) -> Run | None:
    """The demo's run, if it has been begun before."""
    return Run.objects.filter(corpus=where, kind=Run.SIMULATE, name=RUN).first()


def begin(by: User, where: Corpus, model: Model) -> Run:
    """The demo's run: the one that is there, or a new one. Raises NotPaid for a model without a price."""
    if (there := known(where)) is not None:
        return there
    try:
        prices.require([(model.provider, model.provider.default_model)])
    except prices.UnknownPrice as unknown:
        raise NotPaid(str(unknown)) from None
    models = published_models(model.provider.default_model)
    return runs.start_simulation(
        by=by,
        corpus=where,
        name=RUN,
        provider=model.provider,
        targets=TARGETS,
        profiles=list(where.profiles.order_by("pk")),
        parameters=PARAMETERS,
        models=models,
        seed=SEED,
        max_calls=model.max_calls,
        max_tokens=likely(where).tokens_high * 3,
        then_tag=True,
        tagger=models["tagger"],
    )


def see_through(run: Run, say: Callable[[str], None], *, seconds: float = 600) -> Run:
    """Waits for a run that workers carry out, saying how far it is every few seconds."""
    end, told = time.monotonic() + seconds, time.monotonic()
    while True:
        now = Run.objects.get(pk=run.pk)
        if now.state in ENDED_RUNS or now.state in (RunState.PAUSED, RunState.HALTED):
            return now
        if time.monotonic() > end:
            return now
        if time.monotonic() - told > 3:
            say(f"  {now.get_kind_display()}: {progress(now).done} steps done, {now.calls} calls")
            told = time.monotonic()
        time.sleep(0.2)


def tagged(run: Run) -> Run | None:
    """The tagging run that follows, begun now if the clock has not done so yet; None where there is none."""
    following.follow_simulations()
    return Run.objects.filter(follows=run).first()


def queue(by: User, where: Corpus) -> Queue:
    """The queue over what was written, made once."""
    known = Queue.objects.filter(corpus=where, name=QUEUE).first()
    return known or queues.create(by=by, corpus=where, name=QUEUE, people_per_item=1)
