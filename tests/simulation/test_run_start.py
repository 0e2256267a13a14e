"""Starting a simulation by its form: forecast, caps, profiles, parameters, models."""

import re
import threading

import pytest
from django.db import connection
from django.urls import reverse

from simulation.domain.parameters import Parameters
from simulation.domain.roles import Role
from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.simulation import CorpusFactory, MembershipFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def provider(db):
    return ProviderFactory(name="OpenAI", default_model="gpt-4o-mini")


@pytest.fixture
def peopled(corpus, provider):
    """Twelve profiles: half of each sex, ages 20 to 31, four with a master's degree."""
    for number in range(12):
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number}",
            facts={
                "age": 20 + number,
                "sex": "female" if number % 2 else "male",
                "education": "Masters in Law" if number < 4 else "PhD in Physics",
                "relationship_status": "in relationship" if number == 7 else "single",
            },
        )
    return corpus


def address(corpus):
    return reverse("run_new", args=[corpus.public_id])


def fields(browser, corpus, **changes):
    """What the form holds when it is opened, with `changes`."""
    form = browser.get(address(corpus)).context["form"]
    held = {field.html_name: field.value() for field in form}
    return {
        name: value for name, value in (held | changes).items() if value is not None and value is not False
    }


def start(browser, corpus, **changes):
    return browser.post(address(corpus), fields(browser, corpus, **changes))


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_form_as_it_opens_starts_a_small_run(client_of, admin, peopled):
    answer = start(client_of(admin), peopled)

    run = Run.objects.get()
    assert answer.headers["Location"] == reverse("run", args=[run.public_id])
    assert run.plan["targets"] == {"age": 1, "occupation": 1}
    assert run.plan["parameters"] == Parameters().as_dict()
    assert len(run.plan["profiles"]) == 12
    assert run.plan["models"]["user"] == {
        "model": "gpt-4o-mini",
        "temperature": 1.0,
        "frequency_penalty": 2.0,
        "max_tokens": 600,
        "seed": None,
        "provider": "",
    }
    assert run.plan["tagger"]["model"] == "gpt-4o-mini"
    assert (run.created_by, run.name) == (admin, "run 1")


def test_the_page_shows_the_forecast_and_proposes_caps_above_it(client_of, admin, peopled):
    answer = client_of(admin).get(address(peopled))
    seen, form = answer.context["preview"], answer.context["form"]
    assert f"{seen.dry.calls_low} to {seen.dry.calls_high}" in words(answer)
    assert "12 of 12 match" in words(answer)
    calls = max(seen.dry.calls_high, seen.forecast.calls_high)
    tokens = max(seen.dry.tokens_high, seen.forecast.tokens_high)
    assert calls * 1.5 <= int(form["max_calls"].value()) <= calls * 1.7
    assert tokens * 1.5 <= int(form["max_tokens"].value()) <= tokens * 1.7
    assert "wrong" not in re.findall(r'class="(\w+)"', answer.content.decode())


def test_every_draw_of_the_form_has_another_seed_and_another_mark(client_of, admin, peopled):
    browser = client_of(admin)
    first, second = fields(browser, peopled), fields(browser, peopled)
    assert first["form"] != second["form"]
    assert {fields(browser, peopled)["seed"] for _ in range(5)} != {first["seed"]}


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["look again", "htmx"])
def test_a_look_shows_the_new_forecast_and_starts_nothing(client_of, admin, peopled, headers):
    browser = client_of(admin)
    sent = fields(browser, peopled, threads_sex=10)
    answer = browser.post(address(peopled), sent | ({} if headers else {"look": "1"}), headers=headers)
    assert answer.status_code == 200
    assert "12 , about" in words(answer)
    assert int(answer.context["form"]["max_calls"].value()) > int(sent["max_calls"])
    assert ("<html" in answer.content.decode()) is not bool(headers)
    assert not Run.objects.exists()


def test_a_cap_that_somebody_typed_is_left_alone(client_of, admin, peopled):
    browser = client_of(admin)
    sent = fields(browser, peopled, threads_sex=10, max_calls=77)
    form = browser.post(address(peopled), sent, headers=HTMX).context["form"]
    assert form["max_calls"].value() == "77"
    assert int(form["max_tokens"].value()) > int(sent["max_tokens"])


def test_caps_for_another_plan_are_shown_before_anything_is_spent(client_of, admin, peopled):
    """Without JavaScript the form may be sent with caps that were proposed for what it held before."""
    browser = client_of(admin)
    sent = fields(browser, peopled, threads_sex=10)

    asked = browser.post(address(peopled), sent)
    assert asked.status_code == 422
    assert "The forecast has changed" in words(asked)
    assert not Run.objects.exists()

    again = {name: asked.context["form"][name].value() for name in ("max_calls", "max_tokens")}
    again |= {f"suggested_{what}": again[f"max_{what}"] for what in ("calls", "tokens")}
    assert browser.post(address(peopled), sent | again).status_code == 302
    assert Run.objects.get().max_calls == int(again["max_calls"])


def test_a_form_sent_twice_starts_one_run(client_of, admin, peopled):
    browser = client_of(admin)
    sent = fields(browser, peopled)
    first, second = browser.post(address(peopled), sent), browser.post(address(peopled), sent)
    assert first.headers["Location"] == second.headers["Location"]
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_a_form_sent_twice_at_once_starts_one_run(client_of, admin, peopled):
    sent = fields(client_of(admin), peopled)
    browsers, together, answers = [client_of(admin), client_of(admin)], threading.Barrier(2), []

    def press(browser):
        try:
            together.wait(timeout=10)
            answers.append(browser.post(address(peopled), sent).headers["Location"])
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[browser]) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert len(answers) == 2
    assert len(set(answers)) == Run.objects.count() == 1


@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        ({"filter_sex": ["female"]}, 6),
        ({"filter_sex": ["female", "male"]}, 12),
        ({"filter_relationship_status": ["in a relationship", "single"]}, 12),
        ({"filter_education": "law MASTERS"}, 4),
        ({"filter_age_least": 25, "filter_age_most": 28}, 4),
        ({"filter_sex": ["male"], "filter_education": "masters", "filter_age_least": 21}, 1),
        ({"filter_income_level": ["high"]}, 0),
    ],
)
def test_profiles_are_chosen_by_what_they_are(client_of, admin, peopled, chosen, match):
    browser = client_of(admin)
    answer = browser.post(address(peopled), fields(browser, peopled, **chosen), headers=HTMX)
    assert f"{match} of 12 match" in words(answer)


def test_only_those_that_match_take_part(client_of, admin, peopled):
    browser = client_of(admin)
    start(browser, peopled, filter_age_most=24, max_calls=500, max_tokens=500_000)
    assert Run.objects.get().plan["profiles"] == [f"pers{number}" for number in range(5)]


def test_every_parameter_and_every_model_reaches_the_plan(client_of, admin, peopled):
    values = {
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
    }
    models = {
        "model": "big",
        "author_model": "poet",
        "interest_temperature": 0.3,
        "user_penalty": "",
        "user_tokens": 200,
        "tagger_model": "judge",
    }
    spans = {"short_least": 2, "short_most": 5, "long_least": 6, "long_most": 9}
    caps = {"max_calls": 500, "max_tokens": 500_000, "seed": 7}
    start(client_of(admin), peopled, threads_age=0, threads_income=3, **values, **models, **spans, **caps)

    run = Run.objects.get()
    plan = run.plan
    assert plan["targets"] == {"income": 3, "occupation": 1}
    assert plan["parameters"] == values | {"short_words": [2, 5], "long_words": [6, 9]}
    assert {role: model["model"] for role, model in plan["models"].items()} == {
        "author": "poet",
        "user": "big",
        "interest": "big",
    }
    assert plan["models"]["interest"]["temperature"] == 0.3
    assert (plan["models"]["user"]["frequency_penalty"], plan["models"]["user"]["max_tokens"]) == (None, 200)
    assert plan["tagger"]["model"] == "judge"
    assert (run.seed, run.max_calls, run.max_tokens) == (7, 500, 500_000)


def test_without_tagging_there_is_no_tagger(client_of, admin, peopled):
    start(client_of(admin), peopled, then_tag=False, max_calls=500, max_tokens=500_000)
    assert Run.objects.get().plan["tagger"] is None


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"name": ""}, "name", "required"),
        ({"name": "n" * 81}, "name", "at most 80"),
        ({"rounds": 0}, "rounds", "greater than or equal to 1"),
        ({"p_critic": 1.5}, "p_critic", "less than or equal to 1"),
        ({"long_least": 40, "long_most": 30}, "long_most", "not less than the least, 40"),
        ({"filter_age_least": 50, "filter_age_most": 30}, "filter_age_most", "Not less than 50"),
        ({"filter_sex": ["robot"]}, "filter_sex", "not one of the available choices"),
        ({"user_temperature": 3}, "user_temperature", "less than or equal to 2"),
        ({"user_tokens": ""}, "user_tokens", "required"),
        ({"seed": -1}, "seed", "greater than or equal to 0"),
        ({"seed": 2**63}, "seed", "less than or equal to"),
        ({"max_calls": "", "max_tokens": 5}, "max_calls", "required"),
        ({"threads_age": -1}, "threads_age", "greater than or equal to 0"),
        ({"provider": "nobody"}, "provider", "not one of the available choices"),
        (
            {"threads_age": 0, "threads_occupation": 0, "max_calls": 5, "max_tokens": 5},
            "threads_age",
            "Ask for 1",
        ),
        ({"filter_age_least": 31, "max_calls": 5, "max_tokens": 5}, "__all__", "At least two profiles"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_of, admin, peopled, changes, field, said):
    answer = start(client_of(admin), peopled, **changes)
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert said in words(answer)
    assert not Run.objects.exists()


def test_without_a_provider_the_page_leads_to_where_one_is_added(client_of, admin, corpus):
    ProfileFactory(corpus=corpus)
    local = MembershipFactory(role=Role.ADMIN, corpus=corpus).person
    for person, leads in ((admin, True), (local, False)):
        body = client_of(person).get(address(corpus)).content.decode()
        assert "No provider yet." in body
        assert (reverse("provider_new") in body) is leads
        assert "Start the run" not in body


def test_without_profiles_or_a_worker_the_page_says_so(client_of, admin, corpus, provider, monkeypatch):
    browser = client_of(admin)
    assert "This corpus has no profile." in words(browser.get(address(corpus)))
    ProfileFactory(corpus=corpus)
    monkeypatch.setattr(workers, "alive", dict)
    assert "No worker is running." in words(browser.get(address(corpus)))


def test_only_those_who_may_start_runs_there_reach_the_form(client_of, researcher, peopled):
    assert client_of(researcher).get(address(peopled)).status_code == 403
    elsewhere = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory(name="summer")).person
    assert client_of(elsewhere).get(address(peopled)).status_code == 404
    assert client_of(elsewhere).post(address(peopled), {}).status_code == 404


def test_the_choice_of_a_corpus_is_skipped_where_there_is_one(client_of, admin, peopled):
    browser = client_of(admin)
    assert browser.get(reverse("run_choose")).headers["Location"] == address(peopled)
    CorpusFactory(name="summer")
    body = browser.get(reverse("run_choose")).content.decode()
    assert "summer" in body
    assert address(peopled) in body
