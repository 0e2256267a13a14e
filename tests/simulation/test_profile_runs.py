"""Runs that generate profiles: asked, judged, written as proposals, styled; nothing lost on the way."""

import json
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from simulation import tasks
from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.profile_targets import Targets
from simulation.llm.messages import Finish
from simulation.models import CallAttempt, ModelCall, Profile, Step
from simulation.services import engine, profile_runs, sweeping
from simulation.services.profile_runs import Profiling
from tests.factories.simulation import CorpusFactory, ProfileFactory
from tests.fakes.llm import reply
from tests.inventing import PERSON, always, generate, is_profile, made, scripted, start
from tests.running import balanced, committing, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def model(gateway):
    gateway.answers = scripted
    return gateway


def test_profiles_are_proposed_with_a_style_a_version_and_the_call_behind_them(model):
    run = generate()
    assert run.state == "done", run.reason
    assert [one.external_id for one in made(run)] == [f"pers{n}" for n in range(1, 7)]
    for one in made(run):
        assert (one.corpus, one.state, one.source) == (run.corpus, "proposed", "generated")
        assert (one.call.purpose, one.call.run) == ("profile", run)
        assert one.style.startswith("Writing style: ")
        assert [row.style for row in one.versions.order_by("version")] == ["", one.style]
        assert one.version == 2
        assert not [said for said in one.warnings if said["rule"] == "style_missing"]
    assert run.calls == 12
    assert balanced(run)


def test_what_was_wished_is_asked_and_the_sexes_are_even(model):
    run = generate(count=20)
    sexes = [one.facts["sex"] for one in made(run)]
    assert (sexes.count("male"), sexes.count("female")) == (10, 10)
    for step in run.steps.filter(kind="profile"):
        text = step.model_calls.first().request["messages"][1]["content"]
        assert f"age: {step.asks['wishes']['age']}\n" in text.partition("<wishes>")[2]


def test_examples_are_our_own_and_differ_from_question_to_question(model):
    run = generate()
    shown = [tuple(step.asks["examples"]) for step in run.steps.filter(kind="profile")]
    assert {len(one) for one in shown} == {4}
    assert len(set(shown)) > 3
    call = run.model_calls.filter(purpose="profile").first()
    first = run.plan["examples"][call.step.asks["examples"][0]]
    assert f"occupation: {first['occupation']}" in call.request["messages"][1]["content"]


@committing
def test_the_same_seed_gives_the_same_people_whatever_the_order(model):
    found = []
    for hands in (1, 4):
        run = start(count=8, seed=11)
        crew = [threading.Thread(target=_hand, args=(run,)) for _ in range(hands)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()
        assert work_off(run, Profiling()).state == "done"
        rows = run.made_profiles.order_by("external_id")
        found.append(list(rows.values_list("external_id", "username", "facts", "style")))
    assert found[0] == found[1]
    assert made(generate(count=8, seed=12))[0].facts != found[0][0][2]


def _hand(run):
    engine.carry_on(run_id=run.pk, work=Profiling())
    connection.close()


def test_a_near_twin_is_asked_for_again_and_then_given_up(model):
    model.answers = always()
    run = generate(count=3)
    assert run.state == "done"
    (only,) = made(run)
    assert only.facts["occupation"] == "nurse"
    given_up = run.steps.filter(kind="profile", state="skipped")
    assert [step.reason for step in given_up] == ["twin", "twin"]
    assert f"Nearly the same as {only.username}." in given_up[0].detail
    assert [step.model_calls.count() for step in given_up] == [4, 4]
    seeds = [call.request["seed"] for call in given_up[0].model_calls.all()]
    assert len(set(seeds)) == 4
    assert run.happenings.filter(level="warn", text__contains="twin").count() == 2


def test_how_near_a_twin_is_can_be_chosen_and_the_rejected_do_not_count(model):
    corpus = CorpusFactory()
    ProfileFactory(corpus=corpus, facts=PERSON | {"age": 42, "sex": "male"})  # six of eight
    model.answers = always()
    assert made(generate(corpus, count=1)) == []
    assert len(made(generate(corpus, count=1, twin_from=7))) == 1
    Profile.objects.update(state="rejected")
    assert len(made(generate(corpus, count=1, seed=8))) == 1


def test_an_example_that_is_copied_is_a_twin(model):
    run = start(count=1)
    model.answers = always(**run.plan["examples"][0])
    work_off(run, Profiling())
    assert made(run) == []
    assert "example of the prompt" in run.steps.get(kind="profile").detail


@committing
def test_of_two_twins_that_are_asked_for_at_once_one_is_asked_for_again(model):
    together, asked = threading.Barrier(2), []

    def answers(request, attempt):
        if is_profile(request) and len(asked) < 2:
            asked.append(request)
            together.wait(timeout=60)
            return reply(json.dumps(PERSON))
        return scripted(request, attempt)

    model.answers = answers
    run = start(count=2)
    crew = [threading.Thread(target=_hand, args=(run,)) for _ in range(2)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    run = work_off(run, Profiling())
    assert (run.state, len(made(run))) == ("done", 2)
    assert sum(one.facts == PERSON for one in made(run)) == 1
    again = run.steps.get(key__regex=r"^profile/\d/\d$")
    first = run.steps.get(key=again.key.rpartition("/")[0])
    assert (first.state, first.reason) == ("done", "twin")
    assert again.key in first.detail
    assert again.asks["external_id"] == first.asks["external_id"]
    assert balanced(run)


def test_a_value_that_the_rules_refuse_is_asked_for_again(model):
    wrong = []

    def answers(request, attempt):
        if is_profile(request) and len(wrong) < 2:
            wrong.append(request)
            return reply(json.dumps(PERSON | {"age": 17, "city_country": "Bergen"}))
        return scripted(request, attempt)

    model.answers = answers
    run = generate(count=1)
    assert (run.state, len(made(run)), len(wrong)) == ("done", 1, 2)


def test_after_three_more_samples_it_is_skipped_and_says_what_was_wrong(model):
    model.answers = always(age=17, city_country="Bergen")
    run = generate(count=1)
    step = run.steps.get()
    assert (step.state, step.reason, step.model_calls.count()) == ("skipped", "invalid", 4)
    assert "Age: A whole number from 18 to 99." in step.detail
    assert "Residence: Write City, Country" in step.detail
    assert (run.state, made(run)) == ("done", [])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply("", refusal="I do not invent people"), "refused"),
        (reply('{"age": 4', finish=Finish.LENGTH), "truncated"),
        (reply(""), "empty"),
        (reply("Once upon a time"), "unreadable"),
        (reply(json.dumps(PERSON | {"sex": "unsure"})), "unreadable"),
    ],
)
def test_an_answer_that_is_none_is_a_row_with_its_reason(model, answer, reason):
    model.answers = lambda request, attempt: answer
    run = generate(count=2)
    assert {(step.state, step.reason) for step in run.steps.all()} == {("skipped", reason)}
    assert (run.state, made(run)) == ("done", [])
    assert balanced(run)


class Killed(BaseException):
    """The worker is gone in the middle of its work."""


class DiesAfterAsking(Profiling):
    def perform(self, claim, asker):
        super().perform(claim, asker)
        raise Killed


@committing
@pytest.mark.parametrize("kind", ["profile", "style"])
def test_a_worker_killed_between_answer_and_record_loses_nothing(model, kind):
    run = start(count=2)
    if kind == "style":
        for _ in range(2):
            engine.advance(run_id=run.pk, work=Profiling())
    before = list(Profile.objects.values_list("facts", "style"))
    with pytest.raises(Killed):
        engine.advance(run_id=run.pk, work=DiesAfterAsking())
    assert list(Profile.objects.values_list("facts", "style")) == before
    Step.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(seconds=1))
    sweeping.sweep()
    run = work_off(run, Profiling())
    assert (run.state, len(made(run))) == ("done", 2)
    assert all(one.style for one in made(run))
    assert run.steps.filter(state="done").count() == 4
    assert CallAttempt.objects.filter(call__run=run).exclude(state="lost").count() == 4
    assert balanced(run)


def test_a_german_corpus_is_asked_in_german(model):
    run = generate(CorpusFactory(language="de"), count=3)
    assert (run.state, len(made(run))) == ("done", 3)
    assert set(run.model_calls.values_list("prompt__language", flat=True)) == {"de"}
    assert {one.facts["sex"] for one in made(run)} <= {"male", "female"}


def test_a_ninth_attribute_is_asked_for_and_kept(model, monkeypatch):
    pet = Attribute(
        key="pet",
        label="Pet",
        kind=Kind.CHOICE,
        ask="The animal at home.",
        topic="pets",
        values=("cat", "dog", "no pet"),
    )
    monkeypatch.setitem(CATALOGUE, "pet", pet)
    run = generate(count=9, targets=Targets.usual())
    assert len(made(run)) == 9
    pets = [one.facts["pet"] for one in made(run)]
    assert {pets.count(value) for value in pet.values} == {3}
    call = ModelCall.objects.filter(run=run, purpose="profile").first()
    assert call.request["schema"]["properties"]["pet"]["enum"] == ["cat", "dog", "no pet"]
    assert "pet: Pet (one of: cat, dog, no pet)" in call.request["messages"][1]["content"]


def test_the_worker_s_door_carries_a_run_out(model):
    run = start(count=2)
    tasks.advance_profiles(run.pk)
    run.refresh_from_db()
    assert (run.state, len(made(run))) == ("done", 2)


def test_the_forecast_covers_what_is_needed(model):
    likely = profile_runs.forecast_generation(12)
    run = generate(count=12)
    assert likely.calls_low <= run.calls <= likely.calls_high
    assert run.tokens <= likely.tokens_high
    assert profile_runs.forecast_styles(0).tokens_high == 0
