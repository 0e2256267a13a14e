"""Starting runs that make profiles or styles by their form: forecast, targets, caps, money."""

import re

import pytest
from django.urls import reverse

from simulation.domain.money import NANO
from simulation.domain.profile_targets import Targets
from simulation.domain.roles import Role
from simulation.models import Price, Profile, Run
from simulation.selectors import workers
from simulation.services import engine
from simulation.services.profiling import Profiling
from tests.factories.profiles import ProposedFactory
from tests.factories.simulation import CorpusFactory, MembershipFactory, ProviderFactory
from tests.running import work_off

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def provider(db):
    return ProviderFactory(name="Rules")


def address(corpus):
    return reverse("profile_generate", args=[corpus.public_id])


def fields(browser, corpus, what="profiles", **changes):
    """What the form holds when it is opened, with `changes`."""
    form = browser.get(address(corpus) + f"?what={what}").context["form"]
    held = {field.html_name: field.value() for field in form} | {"what": what}
    return {name: value for name, value in (held | changes).items() if value is not None}


def start(browser, corpus, what="profiles", **changes):
    return browser.post(address(corpus), fields(browser, corpus, what, **changes))


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_form_as_it_opens_asks_for_three_hundred(client_of, admin, corpus, provider):
    answer = start(client_of(admin), corpus)
    assert answer.headers["Location"].startswith(reverse("profile_check", args=[corpus.public_id]))
    run = Run.objects.get()
    assert (run.kind, run.plan["count"], run.created_by) == ("profiles", 300, admin)
    assert run.plan["targets"] == Targets.usual().as_dict()
    assert run.steps.filter(kind="profile").count() == 300
    assert (run.max_cost, run.soft_cost) == (None, None)


def test_what_was_started_is_worked_off_and_to_be_checked(client_of, admin, corpus, provider):
    browser = client_of(admin)
    start(browser, corpus, count=3, max_calls=100, max_tokens=500_000)
    work_off(Run.objects.get(), Profiling())
    page = browser.get(reverse("profile_check", args=[corpus.public_id]))
    assert len(page.context["page"].cards) == 3
    assert page.context["diversity"].n_pairs == 3


def test_every_field_reaches_the_plan(client_of, admin, corpus, provider):
    sent = {
        "count": 5,
        "name": "people",
        "seed": 9,
        "max_calls": 100,
        "max_tokens": 400_000,
        "soft_cost": "0.5",
        "max_cost": "1.25",
        "profile_name": "scripted",
        "profile_temperature": 0.4,
        "profile_tokens": 333,
        "style_temperature": "",
        "style_tokens": 444,
    }
    browser = client_of(admin)
    held = fields(browser, corpus)
    sexes = [name for name in held if name.startswith("share_sex")]
    start(
        browser,
        corpus,
        **sent,
        **dict(zip(sexes, (30, 70), strict=True)),
        shares_city_country="Ghana: 2\nFiji: 1",
    )
    run = Run.objects.get()
    assert (run.name, run.seed, run.max_calls, run.max_tokens) == ("people", 9, 100, 400_000)
    assert (run.soft_cost, run.max_cost) == (NANO // 2, NANO * 5 // 4)
    assert run.plan["targets"]["sex"] == {"male": 30, "female": 70}
    assert run.plan["targets"]["city_country"] == {"Ghana": 2, "Fiji": 1}
    models = run.plan["models"]
    assert (models["profile"]["temperature"], models["profile"]["max_tokens"]) == (0.4, 333)
    assert (models["style"]["temperature"], models["style"]["max_tokens"]) == (None, 444)


def test_a_look_forecasts_and_starts_nothing(client_of, admin, corpus, provider):
    browser = client_of(admin)
    sent = fields(browser, corpus, count=1000)
    for headers, extra in ((HTMX, {}), ({}, {"look": "1"})):
        answer = browser.post(address(corpus), sent | extra, headers=headers)
        assert answer.status_code == 200
        likely = answer.context["likely"]
        assert f"{likely.calls_low:,} to {likely.calls_high:,}" in words(answer)
        assert int(answer.context["form"]["max_calls"].value()) > int(sent["max_calls"])
        assert ("<html" in answer.content.decode()) is not bool(headers)
    assert not Run.objects.exists()


def test_the_sum_of_the_shares_is_said(client_of, admin, corpus, provider):
    browser = client_of(admin)
    sent = fields(browser, corpus)
    page = words(browser.get(address(corpus)))
    assert re.search(r"Shares: Residence [\d.]+ , Occupation [\d.]+ ; the others 100 %\.", page)
    first = next(name for name in sent if name.startswith("share_sex"))
    answer = browser.post(address(corpus), sent | {first: "75"}, headers=HTMX)
    assert "Shares: Sex 125 , Residence" in words(answer)
    assert words(answer).count("add up to") == 1


def test_caps_for_another_number_are_shown_before_anything_is_spent(client_of, admin, corpus, provider):
    browser = client_of(admin)
    asked = browser.post(address(corpus), fields(browser, corpus, count=1000))
    assert asked.status_code == 422
    assert "The forecast has changed" in words(asked)
    assert not Run.objects.exists()


def test_a_form_sent_twice_starts_one_run(client_of, admin, corpus, provider):
    browser = client_of(admin)
    sent = fields(browser, corpus)
    for _ in range(2):
        assert browser.post(address(corpus), sent).status_code == 302
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"count": 0}, "count", "greater than or equal to 1"),
        ({"count": 5001}, "count", "less than or equal to 5000"),
        ({"name": ""}, "name", "required"),
        ({"seed": -1}, "seed", "greater than or equal to 0"),
        ({"provider": "nobody"}, "provider", "not one of the available choices"),
        ({"profile_temperature": 3}, "profile_temperature", "less than or equal to 2"),
        ({"share_sex_0": -1}, "share_sex_0", "greater than or equal to 0"),
        ({"share_sex_0": 0, "share_sex_1": 0}, "share_sex_0", "at least one share must be above 0"),
        ({"shares_city_country": "Atlantis: 1"}, "shares_city_country", "no such country"),
        ({"shares_city_country": "Ghana: 1\nFiji"}, "shares_city_country", "Line 2, “Fiji”"),
        ({"max_cost": "1", "soft_cost": "2"}, "soft_cost", "not more than the most"),
        ({"max_cost": "-1"}, "max_cost", "greater than or equal to 0"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_of, admin, corpus, provider, changes, field, said):
    answer = start(client_of(admin), corpus, **changes)
    assert answer.status_code == 422
    assert said.casefold() in " ".join(answer.context["form"].errors[field]).casefold()
    assert not Run.objects.exists()


def test_a_model_without_a_price_is_named_and_not_started(client_of, admin, corpus):
    paid = ProviderFactory(name="Paid", base_url="https://models.example.org/v1", default_model="house-7")
    browser = client_of(admin)
    assert "No price is known for “house-7”" in words(browser.get(address(corpus)))
    answer = start(browser, corpus)
    assert answer.status_code == 422
    assert "No price is known" in str(answer.context["form"].errors["provider"])
    Price.objects.create(
        provider=paid,
        model="house-7",
        input=1,
        output=2,
        valid_from="2020-01-01T00:00Z",
        source=Price.PERSON,
    )
    page = browser.get(address(corpus))
    assert page.context["cost"].most == page.context["likely"].tokens_high * 2 * NANO // 1_000_000


def test_styles_are_written_for_those_without_one(client_of, admin, corpus, provider):
    bare = ProposedFactory(corpus=corpus, style="")
    ProposedFactory(corpus=corpus)
    ProposedFactory(corpus=corpus, style="", state="rejected")
    browser = client_of(admin)
    start(browser, corpus, "styles", max_calls=50, max_tokens=500_000)
    run = Run.objects.get()
    assert run.plan["profiles"] == [bare.external_id]
    work_off(run, Profiling())
    assert Profile.objects.get(pk=bare.pk).style
    assert "Every profile has a style" in words(browser.get(address(corpus) + "?what=styles"))


def test_without_a_provider_the_page_leads_to_where_one_is_added(client_of, admin, corpus):
    body = client_of(admin).get(address(corpus)).content.decode()
    assert "No provider yet." in body
    assert "Start the run" not in body


def test_only_those_who_may_start_runs_there_reach_the_form(client_of, researcher, labeler, corpus):
    for person in (researcher, labeler):
        assert client_of(person).get(address(corpus)).status_code == 403
    elsewhere = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory(name="summer")).person
    for method in ("get", "post"):
        assert getattr(client_of(elsewhere), method)(address(corpus)).status_code == 404
