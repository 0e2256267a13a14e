"""Runs from the command line, over a real wire to the scripted model; and the paid demo with its cap."""

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Suggestion
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.server import Behaviour
from simulation.models import ModelCall, Run, User
from simulation.selectors import workers
from simulation.services import completions, engine, presets, prices, terminal
from simulation.services.carrying import carry
from simulation.services.simulating import Simulation
from synthpai_web import simulated
from tests.factories.simulation import CorpusFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)
EVERYTHING = {
    "mode": "random",
    "rounds": "1",
    "actions": "2",
    "start_weight": "6",
    "profiles_asked": "5",
    "sampled": "4",
    "max_depth": "3",
    "max_children": "2",
    "p_critic": "0.1",
    "p_short": "0.2",
    "short_least": "2",
    "short_most": "5",
    "long_least": "6",
    "long_most": "9",
}
EVERYTHING_READ = {
    "mode": "random",
    "rounds": 1,
    "actions": 2,
    "start_weight": 6,
    "profiles_asked": 5,
    "sampled": 4,
    "max_depth": 3,
    "max_children": 2,
    "p_critic": 0.1,
    "p_short": 0.2,
    "short_words": [2, 5],
    "long_words": [6, 9],
}


@pytest.fixture
def endpoint(settings, monkeypatch):
    """The scripted model over HTTP on a free port, and a guard that knows it."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
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
        (["--rounds", "0"], "--rounds: .*greater than or equal to 1"),
        (["--max-children", "many"], "--max-children: Enter a whole number"),
        (["--short-least", "30"], "--short-most: .*not less than the least, 30"),
        (["--where", "shoes=big"], "profiles are told by: age"),
        (["--where", "sex=robot"], "--where sex: .*robot is not one of"),
        (["--where", "age=18-x"], "--where age_most: Enter a whole number"),
        (["--role", "user.colour=red"], "ROLE.WHAT=VALUE"),
        (["--role", "user.temperature=9"], "--role user.temperature: .*less than or equal to 2"),
        (["--role", "judge.provider=nobody"], "There is no provider “nobody”"),
        (["--platform", "usenet"], "--platform: .*usenet is not one of"),
        (["--max-cost", "much"], "--max-cost: Enter a number"),
        (["--soft-cost", "-1"], "--soft-cost: .*greater than or equal to 0"),
        (["--preset", "nightly"], "There is no preset “nightly”; there are: as published"),
        (["--topics", "/nowhere.jsonl"], "/nowhere.jsonl: cannot be read"),
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


def test_every_option_reaches_the_plan(admin, tmp_path, monkeypatch):
    """The first caps allow nothing: what was planned is looked at, nothing is asked."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", dict)
    monkeypatch.setattr(terminal, "see_through", lambda run, *_, **__: run)
    corpus = simulated.corpus(admin)
    ProviderFactory(name="here")
    other = ProviderFactory(name="there", default_model="scripted-2")
    topics = tmp_path / "topics.jsonl"
    post = {"target": "sex", "question": "Who cooks?", "description": "I do."}
    topics.write_text(f"{json.dumps(post)}\n\n", encoding="utf-8")
    flags = {f"--{name.replace('_', '-')}": value for name, value in EVERYTHING.items()}
    options = ["--corpus", corpus.name, "--provider", "here", "--topics", str(topics), "--threads", "age=2"]
    options += [word for pair in flags.items() for word in pair]
    options += ["--role", "judge.provider=there", "--role", "user.temperature=0.7", "--role", "author.seed=5"]
    options += ["--where", "sex=female", "--where", "age=18-60", "--judge", "--platform", "news"]
    options += [
        "--max-cost",
        "3.5",
        "--soft-cost",
        "1",
        "--parallel",
        "3",
        "--name",
        "all of it",
        "--seed",
        "9",
    ]
    with pytest.raises(CommandError, match="The run is queued"):
        call_command("run_simulation", *options, stdout=StringIO())

    run = Run.objects.get()
    assert run.plan["parameters"] == EVERYTHING_READ
    assert (run.max_cost, run.soft_cost, run.parallel) == (3_500_000_000, 10**9, 3)
    assert (run.name, run.seed, run.plan["platform"], run.plan["typed"]) == ("all of it", 9, "news", 1)
    assert (run.plan["judge"]["provider"], run.plan["judge"]["model"]) == (other.public_id, "scripted-2")
    assert run.plan["tagger"] is not None
    assert (run.plan["models"]["user"]["temperature"], run.plan["models"]["author"]["seed"]) == (0.7, 5)
    chosen = corpus.profiles.filter(external_id__in=run.plan["profiles"])
    assert 2 <= len(chosen) < corpus.profiles.count()
    assert {one.facts["sex"] for one in chosen} == {"female"}
    assert run.run_threads.get(target="sex").typed == {"question": "Who cooks?", "description": "I do."}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", 'line 2: an object with "target"'),
        ('{"target": "age", "question": "q"}', 'line 2: an object with "target"'),
        ('{"target": "shoes", "question": "q", "description": "d"}', "line 2: “shoes” is no attribute"),
        ('{"target": "age", "question": " ", "description": "d"}', "line 2: The question is missing"),
    ],
)
def test_a_file_of_posts_that_cannot_be_read_is_refused_by_its_line(admin, tmp_path, line, said):
    corpus = simulated.corpus(admin)
    ProviderFactory(name="here")
    topics = tmp_path / "topics.jsonl"
    topics.write_text(f'{{"target": "age", "question": "q", "description": "d"}}\n{line}\n', encoding="utf-8")
    options = ["--corpus", corpus.name, "--provider", "here", "--topics", str(topics)]
    with pytest.raises(CommandError, match=said):
        call_command("run_simulation", *options)
    assert not Run.objects.exists()


def test_a_dry_run_says_what_it_would_need_and_starts_nothing(admin):
    corpus = simulated.corpus(admin)
    ProviderFactory(name="here")
    options = ["--corpus", corpus.name, "--provider", "here", "--preset", "a small first run", "--dry-run"]
    found = run("run_simulation", *options, "--json")
    assert (found["threads"], found["profiles"], found["problems"]) == (2, corpus.profiles.count(), [])
    assert 0 < found["calls_low"] < found["calls_high"] <= found["caps"]["max_calls"]
    assert (found["cost_high"], found["caps"]["max_cost"]) == (0, None)
    said = StringIO()
    call_command("run_simulation", *options, "--rounds", "4", stdout=said)
    assert f"calls     {found['calls_low']:,} to" not in said.getvalue()
    assert not Run.objects.exists()
    assert not ModelCall.objects.exists()


def test_presets_are_listed_shown_used_and_deleted(admin):
    presets.save(by=admin, name="nightly", values={"rounds": 5, "threads_age": 3})
    names = [one["name"] for one in run("presets", "--json")]
    assert names == ["as published", "a small first run", "nightly"]
    shown = run("presets", "--show", "nightly", "--json")
    assert shown == {"name": "nightly", "values": {"rounds": 5, "threads_age": 3}}
    corpus = simulated.corpus(admin)
    ProviderFactory(name="here")
    options = ["--corpus", corpus.name, "--provider", "here", "--preset", "nightly", "--dry-run", "--json"]
    assert run("run_simulation", *options)["threads"] == 3
    assert run("run_simulation", *options, "--threads", "sex=1")["threads"] == 1
    assert run("presets", "--delete", "nightly", "--json") == {"deleted": "nightly"}
    for wrong, said in (("nightly", "There is no preset"), ("as published", "comes with the product")):
        with pytest.raises(CommandError, match=said) as refused:
            call_command("presets", "--delete", wrong)
        assert refused.value.returncode == 2


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
    with pytest.raises(simulated.NotPaid, match="No price is known"):
        simulated.begin(admin, corpus, model)
    prices.set_price(
        by=None, provider=model.provider, model="gpt-4o-mini", input=Decimal(1), output=Decimal(2)
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
