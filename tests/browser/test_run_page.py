"""The page of a run in a browser: it follows the run, and leaves the reader's place alone."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from simulation.domain.run_states import StepState
from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.runs import scene
from tests.factories.simulation import ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(engine, "_send", lambda *_: None)


@pytest.fixture
def watched(corpus):
    made = scene(corpus, calls=7)
    made.write("The tram does.")
    made.skip(number=2)
    made.send(made.turn(StepState.LEASED, number=3))
    return made


def page_of(run):
    return reverse("run", args=[run.public_id])


def test_the_page_follows_the_run_to_its_end(open_as, live_server, admin, watched):
    page = open_as(admin)
    page.goto(live_server.url + page_of(watched.run))
    expect(page.locator("#thread .waiting")).to_have_count(2)

    watched.run.steps.filter(number=3).delete()
    watched.write("Not mine.", parent=watched.written[0])
    expect(page.locator("#thread .fresh")).to_contain_text("Not mine.")
    expect(page.locator("#story")).to_contain_text("comment 2 by Otter")
    expect(page.locator("#thread .waiting")).to_have_count(1)

    Run.objects.update(state="halted", reason="The provider wants money.")
    expect(page.locator("#notices")).to_contain_text("The provider wants money.")
    expect(page.locator("#state")).to_have_text("Halted")
    expect(page).to_have_title(re.compile("^Halted: "))
    Run.objects.update(state="done", ended_at=watched.run.created_at)
    expect(page.locator("#state")).to_have_text("Done")
    expect(page.locator("#pulse[hx-get]")).to_have_count(0)


def test_what_the_reader_opened_and_marked_stays(open_as, live_server, admin, watched):
    page = open_as(admin)
    page.goto(live_server.url + page_of(watched.run))
    page.get_by_text("Raw answer").click()
    page.locator("#thread .c-text").first.select_text()
    marked = page.evaluate("getSelection().toString()")

    watched.write("Not mine.", parent=watched.written[0])
    watched.skip(number=5, raw="Another one.")
    expect(page.locator("#thread")).to_contain_text("Not mine.")
    expect(page.locator("#look")).to_contain_text("2 without a result")

    assert "What keeps you awake?" in marked
    assert page.evaluate("getSelection().toString()") == marked
    expect(page.get_by_text("Sure! Here it is.")).to_be_visible()
    shown = page.locator("#thread ol.tree").first.inner_text()
    page.reload()
    assert page.locator("#thread ol.tree").first.inner_text() == shown


def test_the_forecast_follows_the_form_and_a_typed_cap_stays(open_as, live_server, admin, corpus):
    for number in range(12):
        ProfileFactory(corpus=corpus, facts={"sex": "female" if number % 2 else "male"})
    ProviderFactory()
    page = open_as(admin)
    page.goto(live_server.url + reverse("run_new", args=[corpus.public_id]))
    expect(page.locator("#forecast")).to_contain_text("12 of 12 match")
    proposed = page.get_by_label("Tokens, at most").input_value()
    page.get_by_label("Calls, at most").fill("4321")

    page.locator(".choice", has_text="female").click()
    expect(page.locator("#forecast")).to_contain_text("6 of 12 match")
    expect(page.get_by_label("Tokens, at most")).not_to_have_value(proposed)
    expect(page.get_by_label("Calls, at most")).to_have_value("4321")

    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#state")).to_have_text("Queued")
    assert len(Run.objects.get().plan["profiles"]) == 6


def test_everything_works_without_javascript(open_as, live_server, admin, corpus):
    for _ in range(3):
        ProfileFactory(corpus=corpus)
    ProviderFactory()
    page = open_as(admin, java_script_enabled=False)
    page.goto(live_server.url + reverse("run_new", args=[corpus.public_id]))
    page.locator("[name=threads_sex]").fill("2")
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#forecast")).to_contain_text("4, about")
    page.get_by_role("button", name="Start the run").click()
    run = Run.objects.get()
    Run.objects.update(state="running")
    page.get_by_role("link", name="Refresh").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#state")).to_have_text("Paused")
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator("#state")).to_have_text("Cancelled")
    run.refresh_from_db()
    assert run.state == "cancelled"
