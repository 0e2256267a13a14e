"""The form of a new simulation in a browser: rows are added, the dry run follows, presets are kept."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from simulation.models import Run, RunPreset
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.simulation import ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)


@pytest.fixture
def peopled(corpus):
    ProviderFactory()
    for number in range(12):
        ProfileFactory(corpus=corpus, facts={"age": 20 + number})
    return corpus


def fill_row(page, number, attribute, question, story):
    page.locator(f"#id_typed_{number}_target").select_option(attribute)
    page.locator(f"#id_typed_{number}_question").fill(question)
    page.locator(f"#id_typed_{number}_story").fill(story)


def test_a_post_of_ones_own_a_preset_and_the_start(open_as, live_server, admin, peopled):
    page = open_as(admin)
    page.goto(live_server.url + reverse("run_new", args=[peopled.public_id]))
    expect(page.locator("#forecast")).to_contain_text("2, about")

    page.locator("summary", has_text="Posts of your own").click()
    expect(page.locator("#topics .topic-row")).to_have_count(3)
    fill_row(page, 1, "age", "When did you last feel old?", "A boy on the bus got up for me.")
    page.get_by_role("button", name="Another row").click()
    expect(page.locator("#topics .topic-row")).to_have_count(4)
    expect(page.locator("#id_typed_1_question")).to_have_value("When did you last feel old?")
    fill_row(page, 4, "sex", "Who cooks?", "I do.")
    page.keyboard.press("Tab")
    expect(page.locator("#forecast")).to_contain_text("4, about")
    expect(page.locator("#used-typed")).to_have_text("1 filled in")

    before = page.locator("#dry").inner_text()
    page.get_by_label("Rounds").fill("5")
    page.keyboard.press("Tab")
    expect(page.locator("#mark-rounds")).to_have_text("Changed; published: 2")
    assert page.locator("#dry").inner_text() != before
    page.locator("summary", has_text="Models by role").click()
    page.locator("#id_judge_temperature").fill("0.3")
    page.keyboard.press("Tab")
    expect(page.locator("#used-roles")).to_have_text("1 changed")

    page.locator("summary", has_text="Save as a preset").click()
    page.get_by_label("Name of the preset").fill("nightly")
    page.get_by_role("button", name="Save the preset").click()
    expect(page.get_by_text("Saved as the preset nightly.")).to_be_visible()
    expect(page.locator("#id_typed_2_question")).to_have_value("")
    expect(page.get_by_label("Rounds")).to_have_value("5")
    assert RunPreset.objects.get().values["typed_question"] == ["When did you last feel old?", "Who cooks?"]

    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#state")).to_have_text("Queued")
    run = Run.objects.get()
    assert run.run_threads.exclude(typed={}).count() == 2
    assert run.plan["parameters"]["rounds"] == 5

    page.goto(live_server.url + reverse("presets"))
    page.get_by_role("listitem").filter(has_text="nightly").get_by_role("link", name="Begin from it").click()
    expect(page.get_by_text("Filled in from the preset nightly.")).to_be_visible()
    expect(page.locator("#id_typed_2_question")).to_have_value("Who cooks?")


def test_enter_in_a_field_looks_and_starts_nothing(open_as, live_server, admin, peopled):
    page = open_as(admin, java_script_enabled=False)
    page.goto(live_server.url + reverse("run_new", args=[peopled.public_id]))
    page.locator("[name=threads_sex]").fill("3")
    page.keyboard.press("Enter")
    expect(page.locator("#forecast")).to_contain_text("5, about")
    assert not Run.objects.exists()


def test_rows_and_presets_without_javascript(open_as, live_server, admin, peopled):
    page = open_as(admin, java_script_enabled=False)
    page.goto(live_server.url + reverse("run_new", args=[peopled.public_id]))
    page.locator("summary", has_text="Posts of your own").click()
    fill_row(page, 1, "age", "When?", "")
    page.get_by_role("button", name="Another row").click()
    expect(page.locator("#topics .topic-row")).to_have_count(4)
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#errors")).to_contain_text("Row 1: The story behind the question is missing.")
    page.locator("#id_typed_1_story").fill("Then.")
    page.get_by_role("button", name="Look again").click()
    page.get_by_role("button", name="Start the run").click()
    assert Run.objects.get().run_threads.exclude(typed={}).count() == 1
