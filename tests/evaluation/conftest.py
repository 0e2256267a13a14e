"""Questions for a judge, and a judge over the wire."""

from urllib.parse import urlsplit

import pytest

from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Faults, Latency
from simulation.llm.serving.server import Behaviour
from simulation.services import completions, engine
from tests.evaluation.judges import saying
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import ProviderFactory


@pytest.fixture
def asked(corpus, gateway):
    """Three guesses at one job and one at another; no worker is called."""
    for guess in ("bus man", "coach driver", "pilot"):
        QuestionFactory(corpus=corpus, guess=guess)
    QuestionFactory(corpus=corpus, truth="nurse", guess="medic")
    gateway.answers = saying({"coach driver": "less precise", "bus man": "yes", "medic": "yes"})
    return corpus


@pytest.fixture
def served(monkeypatch, settings):
    """`served(faults)` is a provider at a loopback address; no worker is called."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    opened = []

    def serve(faults=""):
        behaviour = Behaviour(Faults.parse(faults, seed=3), Latency(0.0, 0.0), retry_after=0.0)
        server = in_background(ScriptedModel(), behaviour)
        address, _ = server.__enter__()
        opened.append(server)
        settings.LLM_PRIVATE_ADDRESSES = [urlsplit(address).netloc]
        completions.guard.cache_clear()
        return ProviderFactory(base_url=address)

    yield serve
    completions.close_gateways()
    for server in opened:
        server.__exit__(None, None, None)
