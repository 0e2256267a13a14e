"""Checking profiles in a browser: one key each, and the panel that follows a run."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from simulation.models import Profile
from simulation.selectors import workers
from simulation.services import engine, profile_runs
from simulation.services.profiling import Profiling
from tests.factories.profiles import FACTS, ProposedFactory, warning
from tests.factories.simulation import ProviderFactory
from tests.running import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)


@pytest.fixture
def four(corpus):
    return [ProposedFactory(corpus=corpus, username=name) for name in ("Auk", "Bee", "Cat", "Dog")]


def opened(open_as, live_server, person, corpus, **options):
    page = open_as(person, **options)
    page.goto(live_server.url + reverse("profile_check", args=[corpus.public_id]))
    return page


def card(page, profile):
    return page.locator(f"#p-{profile.public_id}")


def states(profiles):
    return [Profile.objects.get(pk=one.pk).state for one in profiles]


def at_hand(page, profile):
    expect(card(page, profile)).to_have_class(re.compile(r"\bnow\b"))


def test_one_key_a_profile(open_as, live_server, admin, corpus, four, idle):
    page = opened(open_as, live_server, admin, corpus)
    at_hand(page, four[0])
    # As fast as somebody types: nobody waits for the answers.
    page.keyboard.type("ara")
    at_hand(page, four[3])
    for profile, word in zip(four, ("Approved", "Rejected", "Approved"), strict=False):
        expect(card(page, profile)).to_contain_text(word)
    assert states(four) == ["approved", "rejected", "approved", "proposed"]
    expect(page.locator("#tally [aria-current]")).to_have_text(re.compile(r"Proposed\s+1"))

    page.keyboard.press("k")
    at_hand(page, four[2])
    page.keyboard.press("u")
    expect(card(page, four[2])).to_contain_text("notary")
    assert states(four)[2] == "proposed"
    at_hand(page, four[2])
    page.keyboard.press("j")
    at_hand(page, four[3])
    page.keyboard.type("a")
    at_hand(page, four[2])
    page.keyboard.type("a")
    expect(page.locator("#left")).to_have_text("All on this page are judged.")
    idle()
    assert states(four) == ["approved", "rejected", "approved", "approved"]


def test_counts_are_right_though_answers_come_in_another_order(open_as, live_server, admin, corpus, four):
    page = opened(open_as, live_server, admin, corpus)
    at_hand(page, four[0])
    held = []

    def second_first(route):
        held.append((route, route.fetch()))
        if len(held) == 2:
            for kept, answer in reversed(held):
                kept.fulfill(response=answer)

    page.route(re.compile("/act/"), second_first)
    page.keyboard.type("ar")
    expect(page.locator("#tally [aria-current]")).to_have_text(re.compile(r"Proposed\s+2"))
    assert states(four) == ["approved", "rejected", "proposed", "proposed"]


def test_a_reason_is_typed_and_its_letters_are_no_keys(open_as, live_server, admin, corpus, four):
    page = opened(open_as, live_server, admin, corpus)
    page.keyboard.press("Shift+R")
    page.keyboard.type("a regular bear, just jeering")
    page.keyboard.press("Enter")
    expect(card(page, four[0])).to_contain_text("Rejected")
    at_hand(page, four[1])
    assert states(four) == ["rejected", "proposed", "proposed", "proposed"]
    assert Profile.objects.get(pk=four[0].pk).warnings[0]["text"] == "a regular bear, just jeering"


def test_editing_by_key_comes_back_to_where_it_began(open_as, live_server, admin, corpus, four):
    page = opened(open_as, live_server, admin, corpus)
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.get_by_label("Age").fill("55")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Bee: saved as version 2.")).to_be_visible()
    at_hand(page, four[1])
    expect(card(page, four[1])).to_contain_text("55")

    page.keyboard.press("e")
    place = page.get_by_label("Residence")
    place.fill("Lisb")
    expect(page.locator("#known-city_country option").first).to_have_attribute("value", re.compile("Lisbo"))
    place.fill("Lisbon")
    page.get_by_role("button", name="Save and approve").click()
    expect(page.get_by_role("alert")).to_contain_text("City, Country")
    place.fill("Lisbon, Portugal")
    page.get_by_role("button", name="Save and approve").click()
    at_hand(page, four[2])
    assert states(four) == ["proposed", "approved", "proposed", "proposed"]


def test_what_somebody_else_changed_is_said_in_its_row(open_as, live_server, admin, corpus, four):
    page = opened(open_as, live_server, admin, corpus)
    Profile.objects.filter(pk=four[0].pk).update(version=2, facts=FACTS | {"age": 77})
    page.keyboard.press("a")
    expect(card(page, four[0]).get_by_role("alert")).to_contain_text("was changed meanwhile")
    expect(card(page, four[0])).to_contain_text("77")
    assert states(four)[0] == "proposed"


def test_all_without_warnings_at_once(open_as, live_server, admin, corpus, four):
    odd = ProposedFactory(corpus=corpus, warnings=[warning("age")])
    page = opened(open_as, live_server, admin, corpus)
    page.get_by_text("Approve all without warnings…").click()
    page.get_by_role("button", name="Approve 4").click()
    expect(page.get_by_text("Approved 4 profiles.")).to_be_visible()
    assert states([*four, odd]) == ["approved"] * 4 + ["proposed"]


def test_the_page_works_without_a_script(open_as, live_server, admin, corpus, four):
    page = opened(open_as, live_server, admin, corpus, java_script_enabled=False)
    card(page, four[0]).get_by_role("button", name="Approve").click()
    card(page, four[1]).get_by_role("button", name="Reject", exact=True).click()
    expect(card(page, four[2])).to_be_visible()
    expect(card(page, four[0])).to_have_count(0)
    assert states(four) == ["approved", "rejected", "proposed", "proposed"]


def test_the_histogram_grows_while_a_run_is_worked_and_rests_after_it(open_as, live_server, admin, corpus):
    models = profile_runs.default_models("scripted")
    run = profile_runs.start_generation(
        by=admin,
        corpus=corpus,
        name="people",
        provider=ProviderFactory(),
        model=models["profile"],
        styler=models["style"],
        count=6,
        targets=profile_runs.Targets.usual(),
        seed=3,
        max_calls=200,
        max_tokens=1_000_000,
    )
    page = opened(open_as, live_server, admin, corpus)
    expect(page.locator("#diversity")).to_contain_text("Nothing to compare yet")

    def pairs():
        return sum(int(one) for one in page.locator("#overlaps [data-pairs]").all_inner_texts())

    while corpus.profiles.count() < 3:
        work_off(run, Profiling(), most=1)
    expect(page.locator("#diversity")).to_contain_text("3 pairs in all")
    assert pairs() == 3
    expect(page.locator("#diversity")).to_contain_text("3 more have come")
    page.get_by_text("Education", exact=True).last.click()

    assert work_off(run, Profiling()).state == "done"
    expect(page.locator("#diversity")).to_contain_text("15 pairs in all")
    assert pairs() == 15
    expect(page.locator("#spread-education")).to_have_attribute("open", "")
    expect(page.locator("#diversity[hx-trigger*='every']")).to_have_count(0)
    page.get_by_role("link", name="Show all that are proposed").click()
    expect(page.locator(".pcard")).to_have_count(6)
