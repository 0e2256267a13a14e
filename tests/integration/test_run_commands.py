"""Runs from the command line, over a real wire to the scripted model; and the paid demo with its cap."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Suggestion
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.server import Behaviour
from simulation.models import ModelCall, Run, User
from simulation.selectors import workers
from simulation.services import completions, engine
from simulation.services.carrying import carry
from simulation.services.simulating import Simulation
from synthpai_web import simulated
from tests.factories.simulation import CorpusFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(settings, monkeypatch):
    """The scripted model over HTTP on a free port, and a guard that knows it."""
    monkeypatch.setattr(engine, "_send", lambda *_: None)
    monkeypatch.setattr(workers, "alive", dict)
    with in_background(ScriptedModel(), Behaviour()) as (base_url, server):
        settings.LLM_PRIVATE_ADDRESSES = (base_url.split("/")[2],)
        completions.close_gateways()
        yield base_url, server
        completions.close_gateways()


def run(command, *arguments):
    said = StringIO()
    call_command(command, *arguments, stdout=said)
    return json.loads(said.getvalue())


def test_simulate_then_tag_from_the_command_line(endpoint, admin):
    corpus = simulated.corpus(admin)
    ProviderFactory(name="wire", base_url=endpoint[0])
    options = ["--corpus", corpus.name, "--provider", "wire", "--json"]
    plan = ["--threads", "occupation=1,age=1", "--asked", "6", "--rounds", "1", "--seed", "3", "--tag"]
    wrote = run("run_simulation", *options, *plan)
    assert (wrote["state"], wrote["threads"], wrote["seed"]) == ("done", 2, 3)
    assert wrote["comments"] == corpus.comments.count() > 4
    assert wrote["calls"] == Run.objects.get().calls == ModelCall.objects.count()
    tagged = run("tag_comments", *options)
    assert tagged["comments"] == wrote["comments"]
    assert tagged["suggestions"] == Suggestion.objects.count() > 0
    served = set(ModelCall.objects.values_list("served_model", flat=True))
    assert served == {"scripted (rules, not a language model)"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--corpus", "nowhere"], "There is no corpus 'nowhere'"),
        (["--provider", "nobody"], "There is no provider 'nobody'"),
        (["--threads", "age"], "as age=2"),
        (["--threads", "shoes=2"], "Not in the catalogue"),
        (["--rounds", "0"], "rounds: must be a whole number"),
    ],
)
def test_wrong_usage_is_said_and_starts_nothing(admin, change, said):
    corpus = simulated.corpus(admin)
    ProviderFactory(name="here")
    options = {"--corpus": corpus.name, "--provider": "here", "--threads": "age=1"}
    options |= {change[0]: change[1]}
    with pytest.raises(CommandError, match=said) as refused:
        call_command("run_simulation", *[word for pair in options.items() for word in pair])
    assert refused.value.returncode == 2
    assert not Run.objects.exists()


def test_a_run_that_stops_at_its_cap_says_so_with_status_one(endpoint, admin):
    corpus = simulated.corpus(admin)
    ProviderFactory(name="wire", base_url=endpoint[0])
    options = ["--corpus", corpus.name, "--provider", "wire", "--threads", "age=1", "--max-calls", "5"]
    with pytest.raises(CommandError, match="halted: The cap of 5 calls") as stopped:
        call_command("run_simulation", *options, stdout=StringIO())
    assert stopped.value.returncode == 1


def test_the_paid_demo_needs_a_key(monkeypatch, settings, db):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(simulated.NotPaid, match="OPENAI_API_KEY"):
        simulated.paid()


def test_the_paid_demo_says_what_it_may_cost_and_stops_at_its_cap(endpoint, admin, monkeypatch, settings):
    base_url, server = endpoint
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-one")
    settings.DEMO_BASE_URL, settings.DEMO_MAX_CALLS = base_url, 12
    settings.DEMO_MODEL = "gpt-4o-mini"
    model = simulated.paid()
    corpus = simulated.corpus(admin)
    assert "12 calls of gpt-4o-mini: up to about $0.01" in simulated.cost(
        simulated.likely(corpus), model="gpt-4o-mini", max_calls=12
    )
    run = simulated.begin(User.objects.get(pk=admin.pk), corpus, model)
    ended = carry(run=run, work=Simulation(), threads=4, watch=lambda *_: None)
    assert (ended.state, ended.calls) == ("halted", 12)
    assert "cap of 12 calls" in ended.reason
    assert server.stats()["requests"] == 12


def test_a_model_without_a_known_price_is_said_to_have_none():
    forecast = simulated.Forecast(10, 20, 1000, 5)
    assert "no price" in simulated.cost(forecast, model="home-made-7b", max_calls=400)


def test_a_corpus_without_profiles_cannot_be_simulated(endpoint):
    corpus = CorpusFactory(name="empty")
    ProviderFactory(name="wire", base_url=endpoint[0])
    options = ["--corpus", corpus.name, "--provider", "wire", "--threads", "age=1"]
    with pytest.raises(CommandError, match="At least two profiles"):
        call_command("run_simulation", *options)
