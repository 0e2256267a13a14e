"""Runs through the API: started, watched, steered."""

from datetime import timedelta

import pytest
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.domain.run_states import StepState
from simulation.models import AuditEntry, Happening, Run, RunPreset
from simulation.services import engine
from tests.api import api_of, fields_in, problem_in
from tests.factories.runs import scene
from tests.factories.simulation import (
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    ProviderFactory,
    RunFactory,
    RunThreadFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)


@pytest.fixture
def run(corpus):
    return scene(corpus, calls=40, tokens=4200).run


@pytest.fixture
def peopled(corpus):
    ProviderFactory(name="OpenAI")
    for number in range(12):
        facts = {"age": 20 + number, "sex": "female" if number % 2 else "male"}
        ProfileFactory(corpus=corpus, external_id=f"pers{number}", facts=facts)
    return corpus


def starting(corpus):
    return f"corpora/{corpus.public_id}/runs/"


# Started.


def test_a_run_is_started_from_a_shipped_preset(admin, peopled):
    answer = api_of(admin).post(starting(peopled), {"preset": "small", "plan": {"seed": 7}})
    assert answer.status_code == 201, answer.content
    run, found = Run.objects.get(), answer.json()
    assert answer["Location"] == f"/api/v1/runs/{run.public_id}/"
    assert (found["id"], found["state"], found["seed"]) == (run.public_id, "queued", 7)
    assert found["plan"]["targets"] == {"age": 1, "occupation": 1}
    assert found["progress"] == {"over": 0, "known": 2, "unit": "threads"}
    assert run.created_by == admin
    assert run.plan["parameters"]["rounds"] == 1
    assert AuditEntry.objects.filter(action="run.started", actor=admin).exists()


def test_a_plan_of_its_own_says_what_it_wants(admin, peopled):
    plan = {
        "name": "nightly",
        "threads_age": 2,
        "rounds": 1,
        "filter_sex": ["female"],
        "user_temperature": 0.5,
        "then_tag": True,
        "max_calls": 300,
        "typed": [{"target": "sex", "question": "Who cooks?", "description": "At home, I mean."}],
    }
    answer = api_of(admin).post(starting(peopled), {"plan": plan})
    assert answer.status_code == 201, answer.content
    run = Run.objects.get()
    assert (run.name, run.max_calls) == ("nightly", 300)
    assert run.plan["targets"] == {"age": 2}
    assert run.plan["typed"] == 1
    assert len(run.plan["profiles"]) == 6
    assert run.plan["models"]["user"]["temperature"] == 0.5
    assert run.plan["tagger"]
    assert run.run_threads.count() == 3


def test_a_saved_preset_and_an_earlier_run_are_taken_over(admin, peopled):
    preset = RunPreset.objects.create(name="mine", values={"threads_sex": 3, "rounds": 1})
    api = api_of(admin)
    first = api.post(starting(peopled), {"preset": preset.public_id, "plan": {"seed": 11}}).json()
    assert first["plan"]["targets"] == {"sex": 3}
    again = api.post(starting(peopled), {"like": first["id"]}).json()
    assert (again["seed"], again["plan"]["targets"]) == (11, {"sex": 3})


def test_with_a_key_a_lost_answer_starts_no_second_run(admin, peopled):
    api, sent = api_of(admin), {"preset": "small"}
    first, again = (api.post(starting(peopled), sent, key="night-1") for _ in range(2))
    assert first.json()["id"] == again.json()["id"]
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"preset": "nothere"}, {"preset"}),
        ({"like": "nothere"}, {"like"}),
        ({"preset": "small", "plan": {"speed": 9}}, {"plan.speed"}),
        ({"preset": "small", "plan": {"form": "x"}}, {"plan.form"}),
        ({"preset": "small", "plan": {"rounds": [1]}}, {"plan.rounds"}),
        ({"preset": "small", "plan": {"then_tag": "yes"}}, {"plan.then_tag"}),
        ({"preset": "small", "plan": {"filter_sex": "male"}}, {"plan.filter_sex"}),
        ({"preset": "small", "plan": {"typed": [{"target": "age"}]}}, {"plan.typed"}),
        ({"preset": "small", "plan": {"rounds": "x", "seed": -1}}, {"plan.rounds", "plan.seed"}),
        ({"preset": "small", "plan": {"max_cost": "NaN"}}, {"plan.max_cost"}),
        ({"preset": "small", "plan": {"provider": "nothere"}}, {"plan.provider"}),
        ({"preset": "small", "plan": []}, {"plan"}),
    ],
)
def test_what_is_wrong_is_named_and_nothing_starts(admin, peopled, sent, named):
    assert fields_in(api_of(admin).post(starting(peopled), sent)) == named
    assert not Run.objects.exists()


def test_a_run_without_threads_is_refused_beside_their_field(admin, peopled):
    (named,) = fields_in(api_of(admin).post(starting(peopled), {"plan": {"max_calls": 9}}))
    assert named.startswith("plan.threads_")


def test_a_dry_run_says_what_it_takes_and_starts_nothing(admin, peopled):
    address = f"corpora/{peopled.public_id}/dry-runs/"
    found = api_of(admin).post(address, {"preset": "small", "plan": {"seed": -1}}).json()
    assert (found["profiles"], found["threads"]) == (12, 2)
    assert 0 < found["calls_low"] <= found["calls_high"]
    assert found["caps"]["max_calls"] >= found["calls_high"]
    assert [one["field"] for one in found["problems"]] == ["plan.seed"]
    assert not Run.objects.exists()


def test_a_dry_run_says_what_the_start_would_refuse(admin, peopled):
    """Whatever rule says so: that of a field, or that of the plan as a whole."""
    api, lonely = api_of(admin), CorpusFactory()
    for corpus, sent in ((peopled, {}), (lonely, {"preset": "small"})):
        dry = api.post(f"corpora/{corpus.public_id}/dry-runs/", sent).json()
        refused = problem_in(api.post(starting(corpus), sent), 400)
        assert dry["problems"] == refused["errors"]
    assert not Run.objects.exists()


def test_a_researcher_starts_nothing(researcher, peopled):
    for address in (starting(peopled), f"corpora/{peopled.public_id}/dry-runs/"):
        problem_in(api_of(researcher).post(address, {"preset": "small"}), 403)
    problem_in(api_of(researcher).get("presets/"), 403)


def test_presets_and_providers_are_listed_without_addresses(admin, peopled):
    RunPreset.objects.create(name="mine")
    assert [one["name"] for one in api_of(admin).get("presets/").json()["results"]][-1] == "mine"
    (provider,) = api_of(admin).get("providers/").json()["results"]
    assert set(provider) == {"id", "name", "default_model"}


# Watched.


def test_runs_are_listed_newest_first_and_filtered(researcher, run, corpus):
    other = scene(CorpusFactory()).run
    api = api_of(researcher)

    def found(**query):
        return [one["id"] for one in api.get("runs/", **query).json()["results"]]

    assert found() == [other.public_id, run.public_id]
    assert found(corpus=corpus.public_id) == [run.public_id]
    assert found(kind="tag") == []
    assert found(state="running", limit=1) == [other.public_id]
    assert fields_in(api.get("runs/", kind="walk", state="tired")) == {"kind", "state"}


def test_a_listing_of_runs_costs_the_same_queries_however_long(
    researcher, corpus, django_assert_max_num_queries
):
    api, counts = api_of(researcher), []
    api.get("runs/")
    for _ in range(2):
        for _ in range(4):
            StepFactory(run=RunThreadFactory(run=RunFactory(corpus=corpus)).run)
        with django_assert_max_num_queries(9) as caught:
            api.get("runs/")
        counts.append(len(caught))
    assert counts[0] == counts[1]


def test_one_run_says_how_far_it_is_and_what_it_spent(researcher, admin, run):
    Run.objects.filter(pk=run.pk).update(cost=1_250_000_000, max_cost=2_000_000_000)
    found = api_of(researcher).get(f"runs/{run.public_id}/").json()
    assert found["spending"]["calls"] == 40
    assert (found["spending"]["cost_usd"], found["spending"]["max_cost_usd"]) == ("1.25", "2.00")
    assert found["spending"]["soft_cost_usd"] is None
    assert found["steps"]["done"] == run.steps.filter(state=StepState.DONE).count()
    assert found["plan"] is None
    assert "models" in api_of(admin).get(f"runs/{run.public_id}/").json()["plan"]
    assert "prompts" not in api_of(admin).get(f"runs/{run.public_id}/").json()["plan"]


def test_its_story_is_told_from_a_number_on(researcher, run):
    run.happenings.all().delete()
    for number in range(5):
        Happening.objects.create(run=run, text=f"line {number + 1}")
    Happening.objects.update(at=timezone.now() - timedelta(seconds=10))
    Happening.objects.create(run=run, text="just now")
    api, address = api_of(researcher), f"runs/{run.public_id}/events/"
    found = api.get(address, limit=3).json()
    assert [(one["number"], one["text"]) for one in found["results"]] == [
        (1, "line 1"),
        (2, "line 2"),
        (3, "line 3"),
    ]
    rest = api.get(address, after=found["last"]).json()
    assert [one["number"] for one in rest["results"]] == [4, 5]
    assert api.get(address, after=5).json() == {"results": [], "last": 5, "state": "running"}
    assert fields_in(api.get(address, after=-1)) == {"after"}


# Steered.


def test_a_run_is_paused_resumed_and_stopped(admin, run):
    api, address = api_of(admin), f"runs/{run.public_id}/control/"
    for event, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert api.post(address, {"event": event}).json()["state"] == state
    assert "cannot" in problem_in(api.post(address, {"event": "resume"}), 409)["detail"]
    assert fields_in(api.post(address, {"event": "finish"})) == {"event"}


def test_a_run_that_changed_meanwhile_is_left_alone(admin, run):
    api, address = api_of(admin), f"runs/{run.public_id}/"
    tag = api.get(address)["ETag"]
    Run.objects.filter(pk=run.pk).update(calls=41)
    given = {"If-Match": tag}
    problem_in(api.post(f"{address}control/", {"event": "pause"}, headers=given), 412)
    given = {"If-Match": api.get(address)["ETag"]}
    assert api.post(f"{address}control/", {"event": "pause"}, headers=given).json()["state"] == "paused"
    assert Run.objects.get().state == "paused"


def test_caps_are_set_and_not_below_what_is_spent(admin, run):
    api, address = api_of(admin), f"runs/{run.public_id}/caps/"
    sent = {"max_calls": 5000, "max_tokens": 9_000_000, "max_cost_usd": "2.5"}
    found = api.post(address, sent).json()["spending"]
    assert (found["max_calls"], found["max_cost_usd"]) == (5000, "2.50")
    assert fields_in(api.post(address, sent | {"max_calls": 39})) == {"max_calls"}
    assert fields_in(api.post(address, sent | {"soft_cost_usd": "3"})) == {"soft_cost"}
    assert fields_in(api.post(address, sent | {"max_cost_usd": "-1"})) == {"max_cost_usd"}


def test_who_may_watch_may_not_steer(researcher, run):
    for part, sent in (("control", {"event": "pause"}), ("caps", {"max_calls": 1, "max_tokens": 1})):
        problem_in(api_of(researcher).post(f"runs/{run.public_id}/{part}/", sent), 403)


def test_runs_of_others_are_not_there(run):
    foreign = MembershipFactory(corpus=CorpusFactory(), role=Role.ADMIN).person
    api, address = api_of(foreign), f"runs/{run.public_id}/"
    assert api.get("runs/").json()["results"] == []
    problem_in(api.get(address), 404)
    problem_in(api.get(f"{address}events/"), 404)
    problem_in(api.post(f"{address}control/", {"event": "pause"}), 404)
    problem_in(api.post(f"{address}caps/", {"max_calls": 99, "max_tokens": 9999}), 404)
    problem_in(api.post(starting(run.corpus), {"preset": "small"}), 404)


def test_who_starts_runs_in_one_corpus_does_not_steer_those_that_they_only_see(run):
    person = MembershipFactory(corpus=CorpusFactory(), role=Role.ADMIN).person
    MembershipFactory(person=person, corpus=run.corpus, role=Role.RESEARCHER)
    api = api_of(person)
    assert api.get(f"runs/{run.public_id}/").status_code == 200
    problem_in(api.post(f"runs/{run.public_id}/control/", {"event": "pause"}), 404)
    assert Run.objects.get(pk=run.pk).state == "running"
