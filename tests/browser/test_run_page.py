"""The page of a run in a browser: it follows the run, and leaves the reader's place alone."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from simulation.domain.run_states import StepState
from simulation.models import Profile, Run
from simulation.selectors import run_health, workers
from simulation.services import engine
from tests.factories.runs import scene
from tests.factories.simulation import ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 30_000
"""Milliseconds until what a later poll brings is there, on a machine that does much else."""


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "ages", lambda: {"w1": 1.0})
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    run_health.forget()
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)


@pytest.fixture
def watched(corpus):
    made = scene(corpus, calls=7)
    made.write("The tram does.")
    made.skip(number=2)
    made.send(made.turn(StepState.LEASED, number=3))
    return made


def page_of(run):
    return reverse("run", args=[run.public_id])


def without_times(text):
    """What stands there, without what counts on: sent 6 s ago."""
    return re.sub(r"\d+ (?:s|min)(?: \d+ s)? ago", "ago", text)


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
    shown = without_times(page.locator("#thread ol.tree").first.inner_text())
    page.reload()
    assert without_times(page.locator("#thread ol.tree").first.inner_text()) == shown


def test_the_prompt_and_the_persona_behind_a_comment_are_one_click_away_and_stay_open(
    open_as, live_server, admin, watched
):
    Profile.objects.filter(external_id="pers1").update(facts={"age": 31}, style="Writing style: terse.")
    page = open_as(admin)
    page.goto(live_server.url + page_of(watched.run))
    comment = page.locator("#turn-1")
    persona = page.locator("#persona-1 > summary")
    comment.locator("summary", has_text="behind it").click()
    expect(comment).to_contain_text("My comment")
    comment.get_by_text("Prompt: thread").click()
    expect(comment).to_contain_text("Write a comment.")
    persona.click()
    expect(comment).to_contain_text("Writing style: terse.")
    persona.focus()
    page.evaluate("scrollTo(0, 40)")
    place = page.evaluate("scrollY")

    watched.write("Not mine.", parent=watched.written[0])  # the first comment is no longer the newest
    expect(page.locator("#thread")).to_contain_text("Not mine.")

    expect(comment.get_by_text("Write a comment.")).to_be_visible()
    expect(comment.get_by_text("Writing style: terse.")).to_be_visible()
    expect(persona).to_be_focused()
    assert page.evaluate("scrollY") == place


def test_the_focus_stays_on_a_part_that_is_replaced(open_as, live_server, admin, watched):
    page = open_as(admin)
    page.goto(live_server.url + page_of(watched.run))
    page.locator("#threads a").nth(1).focus()
    watched.write("Not mine.")
    expect(page.locator("#threads")).to_contain_text("3 comments")
    expect(page.locator("#threads a").nth(1)).to_be_focused()


def test_a_lost_connection_is_said_and_the_page_goes_on_by_itself(open_as, live_server, admin, watched):
    page = open_as(admin, expects=("ERR_INTERNET_DISCONNECTED", "htmx:"))
    page.goto(live_server.url + page_of(watched.run))
    expect(page.locator("#line")).to_contain_text(re.compile(r"last event \d+ (s|min).* ago"))
    page.context.set_offline(True)
    expect(page.locator("#contact")).to_contain_text(
        re.compile(r"No connection since \d\d:\d\d; trying again\."), timeout=PATIENCE
    )
    watched.write("Not mine.", parent=watched.written[0])
    page.context.set_offline(False)
    expect(page.locator("#thread")).to_contain_text("Not mine.", timeout=PATIENCE)
    expect(page.locator("#contact")).to_be_hidden()


def test_a_dead_worker_is_said_without_a_reload(open_as, live_server, admin, watched, monkeypatch):
    page = open_as(admin)
    page.goto(live_server.url + page_of(watched.run))
    expect(page.locator("#worker")).to_be_empty()
    monkeypatch.setattr(workers, "ages", lambda: {"w1": 35.0})
    expect(page.locator("#worker")).to_contain_text(re.compile(r"No worker has been heard from for 3\d s"))
    monkeypatch.setattr(workers, "ages", dict)
    expect(page.locator("#worker")).to_contain_text("No worker is running.")


def test_the_forecast_follows_the_form_and_a_typed_cap_stays(open_as, live_server, admin, corpus):
    for number in range(12):
        ProfileFactory(corpus=corpus, facts={"sex": "female" if number % 2 else "male"})
    ProviderFactory()
    page = open_as(admin)
    page.goto(live_server.url + reverse("run_new", args=[corpus.public_id]))
    expect(page.locator("#forecast")).to_contain_text("12 of 12 match")
    page.locator("summary", has_text="More limits").click()
    page.locator("summary", has_text="Only some of them").click()
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
    page.locator("summary", has_text="Stop").click()
    page.get_by_role("button", name="Stop the run").click()
    expect(page.locator("#state")).to_have_text("Cancelled")
    run.refresh_from_db()
    assert run.state == "cancelled"
