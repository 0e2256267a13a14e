"""A provider that allows eight calls at a time and answers 429 above: runs find that out and lose nothing."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from annotation.services.tagging import start_tagging
from simulation.llm.lanes import lane_of
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Latency
from simulation.llm.serving.server import Behaviour
from simulation.models import CallAttempt, ModelCall
from simulation.services.lanes import lanes
from tests.factories.simulation import ProviderFactory
from tests.integration.test_run_survives import await_with_sweeps, check_ledger, commented, ended

# With the long ones: where it settles is measured, and needs a machine that does nothing else.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.faults]

ALLOWED = 8
COMMENTS = 140


@pytest.mark.parametrize("retry_after", [None, 0.5])
def test_a_run_settles_at_what_the_provider_allows_and_loses_no_turn(worker, retry_after):
    behaviour = Behaviour(latency=Latency(1.0, 0.2), limit=ALLOWED, retry_after=retry_after)
    with in_background(ScriptedModel(), behaviour) as (address, server):
        provider = ProviderFactory(base_url=address)
        lane = lane_of(address, "scripted")
        run = start_tagging(
            by=None,
            corpus=commented(COMMENTS),
            name="tags",
            provider=provider,
            model="scripted",
            max_calls=4000,
            max_tokens=10_000_000,
            parallel=24,
        )
        worker.start(concurrency=24, LLM_PRIVATE_ADDRESSES=urlsplit(address).netloc)
        limits = []

        def over() -> bool:
            limits.append(lanes().state(lane).limit)
            return ended(run)

        await_with_sweeps(over, what="the end of the run", seconds=120)
        said = lanes().state(lane)
    check_ledger(run)
    assert set(run.steps.values_list("state", flat=True)) == {"done"}
    assert server.max_in_flight == ALLOWED
    assert limits[0] == 20
    assert 7 <= said.limit <= 9
    assert "in flight" in said.reason or "successes in a row" in said.reason
    # Nothing but the beginning costs 429s, and these cost no call its patience.
    attempts = CallAttempt.objects.filter(call__run=run).order_by("sent_at", "pk")
    states = list(attempts.values_list("state", flat=True))
    settled = states[len(states) // 3 :]
    assert states.count("rate_limited") == server.replies["limited"] > 0
    assert settled.count("rate_limited") <= 0.08 * len(settled)
    assert set(states) == {"answered", "rate_limited"}
    assert not ModelCall.objects.filter(run=run, state="failed").exists()
