"""The leaderboard and its figures in a browser: counted while one looks, out of date, chosen, drawn."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from evaluation.models import LabelSet, Question, Report, Scoring
from evaluation.services import reports, scoring
from evaluation.tasks import make_reports
from simulation.models import Corpus, User
from simulation.selectors import workers
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 30_000
"""Milliseconds until what a later poll brings is there, on a machine that does much else."""
TRUTH, CLOSE = "lighthouse keeper", "tender of beacons"


@pytest.fixture(autouse=True)
def told(monkeypatch) -> list[str]:
    """A worker lives, and the test is the worker; the messages to it."""
    sent: list[str] = []
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    monkeypatch.setattr(make_reports, "delay_on_commit", lambda: sent.append("reports"))
    return sent


@pytest.fixture
def labels(corpus: Corpus) -> LabelSet:
    return scored(corpus, "truth")


def scored(corpus: Corpus, name: str) -> LabelSet:
    """Eight authors with age and occupation: gull is right of every age, finch of half of them; both guess
    the same occupation, about which no rule can tell."""
    labels = LabelSetFactory(corpus=corpus, name=name)
    runs = [
        PredictionRunFactory(corpus=corpus, name=f"{one} {name}", model=one, family="birds")
        for one in ("finch", "gull")
    ]
    for number, author in enumerate(ProfileFactory.create_batch(8, corpus=corpus)):
        ProfileLabelFactory(label_set=labels, profile=author, value="30", certainty=3 + number % 3)
        ProfileLabelFactory(label_set=labels, profile=author, attribute="occupation", value=TRUTH)
        for run in runs:
            age = "30" if run.model == "gull" or number % 2 else "71"
            guesses = {"age": [age, "30", "12"], "occupation": [CLOSE]}
            for attribute, said in guesses.items():
                PredictionFactory(prediction_run=run, profile=author, attribute=attribute, guesses=said)
    for run in runs:
        scoring.score(run, labels, Scoring.DEFAULT)
    return labels


@pytest.fixture
def at(open_as: Callable[..., Page], live_server, corpus: Corpus) -> Callable[..., Page]:
    """`at(person, query)` is the leaderboard as the person sees it."""

    def opened(person: User, query: str = "", **options: object) -> Page:
        page = open_as(person, **options)
        page.goto(f"{live_server.url}{reverse('leaderboard', args=[corpus.public_id])}?{query}")
        return page

    return opened


def ranked(page: Page) -> list[list[str]]:
    """Rank, name and accuracy of every line."""
    rows = page.locator("table.ranks tbody tr").all()
    return [row.locator(":scope > *").all_inner_texts()[:3] for row in rows]


def test_a_board_that_was_never_counted_comes_up_by_itself(at, researcher, labels, told):
    page = at(researcher)
    expect(page.locator("#state")).to_contain_text("Being counted for the first time.")
    expect(page.locator(".empty h2")).to_have_text("Being counted")
    expect(page.locator("table.ranks")).to_have_count(0)
    assert Report.objects.get().asked_at is not None
    assert told == ["reports"]

    page.evaluate("window.mine = 1")
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true") as polled:
        pass
    assert "hx-refresh" not in polled.value.headers
    expect(page.locator(".empty h2")).to_have_text("Being counted")
    assert page.evaluate("window.mine") == 1  # it is not read anew for nothing
    assert told == ["reports"]  # nor counted once a poll

    assert reports.make_asked() == 1
    expect(page.locator("table.ranks tbody tr")).to_have_count(2, timeout=PATIENCE)
    expect(page.locator(".page-head")).to_contain_text("Current")
    expect(page.locator("#state")).to_be_empty()
    expect(page.locator("[hx-get]")).to_have_count(0)
    assert page.evaluate("window.mine") is None
    assert [line[1].split("\n")[0] for line in ranked(page)] == ["gull truth", "finch truth"]


def test_without_a_worker_the_page_says_what_it_waits_for(at, researcher, labels, monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)
    page = at(researcher)
    expect(page.locator("#state")).to_contain_text(
        "No worker is running: it is counted as soon as one starts."
    )


def test_an_answer_marks_the_board_as_out_of_date_until_it_is_counted_anew(
    at, open_as, live_server, researcher, corpus, labels
):
    page = at(researcher)
    reports.make_asked()
    expect(page.locator("table.ranks tbody tr")).to_have_count(2, timeout=PATIENCE)
    before = ranked(page)
    expect(page.locator("table.ranks thead")).to_contain_text("Open")
    assert Question.objects.get(guess=CLOSE).waiting == 16

    other = page.context.new_page()
    other.goto(live_server.url + reverse("settle", args=[corpus.public_id]))
    expect(other.locator(".asked-pair dd").last).to_have_text(CLOSE)
    other.keyboard.press("1")
    expect(other.locator(".last-said")).to_contain_text("You said right")
    page.reload()
    expect(page.locator("#state")).to_contain_text(re.compile(r"\d+ answers? since: being counted anew\."))
    expect(page.locator("#state")).to_contain_text("These are the numbers of")
    expect(page.locator(".page-head")).not_to_contain_text("Current")
    assert ranked(page) == before

    assert reports.make_asked() == 1
    expect(page.locator(".page-head")).to_contain_text("Current", timeout=PATIENCE)
    expect(page.locator("#state")).to_be_empty()
    after = ranked(page)
    assert [line[0] for line in after] == ["1", "2"]
    assert [line[2].split("\n")[:2] for line in before] == [["100.0", "8 of 8 few"], ["50.0", "4 of 8 few"]]
    assert [line[2].split("\n")[:2] for line in after] == [
        ["100.0", "16 of 16 few"],
        ["75.0", "12 of 16 few"],
    ]


def test_the_choice_stays_in_the_form_and_in_the_address(at, researcher, corpus, labels):
    second = scored(corpus, "second")
    page = at(researcher)
    form = page.get_by_role("form", name="Which leaderboard")
    form.get_by_label("Labels").select_option(second.public_id)
    form.get_by_label("Certainty").select_option("4")
    form.get_by_label("Measure").select_option("top3")
    form.get_by_role("button", name="Show").click()
    chosen = {"labels": second.public_id, "mode": "default", "certainty": "4", "measure": "top3"}

    def kept() -> None:
        asked = parse_qs(urlsplit(page.url).query)
        assert {key: asked[key] for key in chosen} == {key: [one] for key, one in chosen.items()}
        for key, one in chosen.items():
            expect(form.locator(f"[name={key}]")).to_have_value(one)

    kept()
    assert reports.make_asked() == 2  # the first one that was looked at, and this
    expect(page.locator("table.ranks tbody tr")).to_have_count(2, timeout=PATIENCE)
    kept()  # through the poll that brought the numbers
    # Finch's first guess is wrong of half of the ages, its second one right of all.
    assert [line[2].split("\n")[0] for line in ranked(page)] == ["100.0", "100.0"]
    expect(page.locator(".page-head")).to_contain_text("certainty ≥ 4")
    page.get_by_role("link", name="Figure of the ranking").click()
    figure = page.get_by_role("form", name="What the figure shows")
    for key, one in chosen.items():
        expect(figure.locator(f"[name={key}]")).to_have_value(one)
    page.go_back()
    kept()


DRAWN = """async () => {
    const picture = document.querySelector(".figure img");
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = picture.naturalWidth; canvas.height = picture.naturalHeight;
    const pen = canvas.getContext("2d");
    pen.drawImage(picture, 0, 0);
    const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = {};
    for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] > 200) {
            const key = data.slice(at, at + 3).join();
            colours[key] = (colours[key] ?? 0) + 1;
        }
    const often = Object.entries(colours).sort((a, b) => b[1] - a[1]);
    return {
        width: picture.naturalWidth,
        source: picture.currentSrc,
        colours: often.length,
        ground: often[0][0].split(",").map(Number).reduce((a, b) => a + b) / 3,
    };
}"""


def drawn(page: Page, width: str) -> dict[str, Any]:
    """The picture as it is shown, once it is that of so wide a window."""
    end = time.monotonic() + 20
    while f"width={width}" not in (found := page.evaluate(DRAWN))["source"]:
        assert time.monotonic() < end, found
        page.wait_for_timeout(50)
    return found


@pytest.mark.parametrize("chosen", ["by the system", "by the person"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_is_a_picture_that_loads_in_light_and_dark(
    open_as, live_server, researcher, corpus, labels, theme, chosen
):
    if chosen == "by the person":
        User.objects.filter(pk=researcher.pk).update(theme=theme)
        researcher.refresh_from_db()
    scheme = theme if chosen == "by the system" else {"light": "dark", "dark": "light"}[theme]
    page = open_as(researcher, color_scheme=scheme, viewport={"width": 1440, "height": 900})
    address = live_server.url + reverse("figure", args=[corpus.public_id, "ranking"])
    page.goto(address)
    expect(page.locator("#counting")).to_contain_text("is being counted")
    expect(page.locator(".figure img")).to_have_count(0)
    assert reports.make_asked() == 1
    page.goto(address)
    wide = drawn(page, "wide")
    assert wide["width"] > 0
    assert wide["colours"] > 3
    assert f"theme={theme}" in wide["source"]
    assert wide["ground"] > 200 if theme == "light" else wide["ground"] < 100
    assert "gull" in (page.locator(".figure img").get_attribute("alt") or "")

    page.set_viewport_size({"width": 360, "height": 780})
    narrow = drawn(page, "narrow")
    assert 0 < narrow["width"] < wide["width"]
    assert f"theme={theme}" in narrow["source"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
