"""Many people watch one run: what a poll costs, what they share, and what each may see."""

import re

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from redis import Redis

from simulation.domain.roles import Role
from simulation.domain.run_states import StepState
from simulation.models import Run
from simulation.selectors import run_health, run_shared, workers
from simulation.selectors.run_shared import Sheet
from tests.factories.runs import scene
from tests.factories.simulation import CorpusFactory, MembershipFactory, RunThreadFactory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
UNCHANGED = 4
"""Queries of a poll that is told nothing new: session, account, roles, and the run with its rights."""
DRAWN = 24
"""Queries, at most, to draw the page of a run of any size."""


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "ages", lambda: {"w1": 1.0})
    run_health.forget()
    yield
    run_health.forget()


@pytest.fixture
def at_once(monkeypatch):
    """A sheet may be drawn again at once, not only a second later."""
    monkeypatch.setattr(run_shared, "EVERY_MS", 1)


@pytest.fixture
def watched(corpus):
    return scene(corpus, calls=7, tokens=4200, tokens_held=900)


def body_of(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def page_of(run, thread=None):
    if thread is None:
        return reverse("run", args=[run.public_id])
    return reverse("run_thread", args=[run.public_id, thread])


def poll(browser, answer):
    """What a page asks for two seconds after `answer`."""
    address = re.search(r'id="pulse"[^>]* hx-get="([^"]+)"', body_of(answer))[1]
    return browser.get(address.replace("&amp;", "&"), headers=HTMX)


def parts(answer):
    return set(re.findall(r'id="(\w+)"[^>]*hx-swap-oob', body_of(answer)))


def queries(ask):
    with CaptureQueriesContext(connection) as made:
        answer = ask()
    return len(made), answer


# --- what it costs --------------------------------------------------------------------------------------


def test_a_poll_of_an_unchanged_run_asks_for_the_person_and_the_run_and_is_told_nothing(
    client_of, researcher, watched
):
    browser = client_of(researcher)
    watched.write("The tram does.")
    page = browser.get(page_of(watched.run))
    cost, answer = queries(lambda: poll(browser, page))
    assert answer.status_code == 204
    assert answer.content == b""
    assert cost == UNCHANGED


def test_what_has_changed_is_drawn_once_and_shared_by_all_who_watch(client_of, researcher, watched):
    first, second = client_of(researcher), client_of(MembershipFactory(role=Role.RESEARCHER).person)
    pages = [browser.get(page_of(watched.run)) for browser in (first, second)]
    watched.write("The tram does.")

    drawn, one = queries(lambda: poll(first, pages[0]))
    shared, other = queries(lambda: poll(second, pages[1]))

    assert UNCHANGED < drawn <= UNCHANGED + DRAWN
    assert shared == UNCHANGED
    for answer in (one, other):
        assert "The tram does." in body_of(answer)
    quiet, answer = queries(lambda: poll(second, other))
    assert (quiet, answer.status_code) == (UNCHANGED, 204)


def test_a_poll_costs_the_same_however_large_the_run(client_of, researcher, watched, at_once):
    browser = client_of(researcher)
    watched.write("The tram does.")
    watched.skip(number=2)
    watched.send(watched.turn(StepState.LEASED, number=3), attempts=2)
    page = browser.get(page_of(watched.run))
    watched.tick()
    small, _ = queries(lambda: poll(browser, page))
    for number in range(30):
        watched.write(f"Reply {number}.")
        watched.skip(number=100 + number)
        watched.send(watched.turn(StepState.LEASED, number=200 + number), attempts=3)
        RunThreadFactory(run=watched.run, index=2 + number, author=watched.thread.author)
    large, answer = queries(lambda: poll(browser, page))
    assert "Reply 29." in body_of(answer)
    assert large == small <= UNCHANGED + DRAWN


def test_of_all_who_ask_in_one_second_one_draws_and_nobody_goes_back_in_time(
    client_of, researcher, watched, monkeypatch
):
    monkeypatch.setattr(run_shared, "EVERY_MS", 60_000)
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    watched.write("The tram does.")
    now = poll(browser, page)
    watched.write("Not mine.")
    cost, answer = queries(lambda: poll(browser, now))
    assert (cost, answer.status_code) == (UNCHANGED, 204)  # drawn a moment ago: ask again

    fresh = browser.get(page_of(watched.run))  # who comes now has more than the shared sheet
    watched.tick()
    assert poll(browser, fresh).status_code == 204
    late = poll(browser, page)  # who has less is given what is there
    assert "The tram does." in body_of(late)
    assert "Not mine." not in body_of(late)


def test_a_sheet_that_was_drawn_is_asked_for_again_until_it_is_the_last(client_of, researcher, watched):
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    watched.write("The tram does.")
    poll(browser, page)
    Run.objects.update(state="done", ended_at=timezone.now(), tick=F("tick") + 1)
    assert "hx-trigger" in body_of(poll(browser, page))


def test_without_the_broker_everybody_draws_for_themselves(client_of, researcher, watched, monkeypatch):
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    nowhere = Redis.from_url("redis://127.0.0.1:1", socket_connect_timeout=1)
    monkeypatch.setattr(run_shared, "broker", lambda: nowhere)
    watched.write("The tram does.")
    assert "The tram does." in body_of(poll(browser, page))


def test_what_is_kept_for_all_is_small_and_goes_by_itself(watched):
    key = run_shared.variant(watched.run.public_id, "f", "00")
    sheet = Sheet("1-a", 1, {"thread": ("m", "<p>The tram does.</p>" * 2000)})
    run_shared.keep(key, sheet)
    assert run_shared.latest(key, token="1-a", seen_tick=0, draw=lambda: pytest.fail("drawn again")) == sheet
    assert workers.broker().strlen(key) < 2000
    assert 0 < workers.broker().ttl(key) <= run_shared.KEEP_SECONDS


# --- what it says ---------------------------------------------------------------------------------------


def test_a_poll_is_sent_the_parts_that_changed(client_of, admin, watched, at_once):
    browser = client_of(admin)
    page = browser.get(page_of(watched.run))
    watched.write("The tram does.")
    answer = poll(browser, page)
    assert parts(answer) == {"line", "facts", "thread", "stages", "threads", "story"}
    assert "<html" not in body_of(answer)
    watched.skip(number=2)
    assert "look" in parts(poll(browser, answer))
    Run.objects.update(state="halted", reason="No money.", tick=F("tick") + 1)
    halted = poll(browser, answer)
    assert {"state", "controls", "notices"} <= parts(halted)
    assert "<title>Halted: " in body_of(halted)


def test_controls_are_each_person_s_own_and_in_nothing_that_is_shared(
    client_of, admin, researcher, watched, at_once
):
    browsers = {person: client_of(person) for person in (admin, researcher)}
    pages = {person: browser.get(page_of(watched.run)) for person, browser in browsers.items()}
    Run.objects.update(state="paused", tick=F("tick") + 1)
    for person, steers in ((admin, True), (researcher, False)):
        answer = poll(browsers[person], pages[person])
        assert ('value="resume"' in body_of(answer)) is steers
        assert ("csrfmiddlewaretoken" in body_of(answer)) is steers
    every = f"{run_shared.PREFIX}:{watched.run.public_id}:*"
    kept = [key for key in workers.broker().scan_iter(every) if not key.endswith(":turn")]
    assert len(kept) == 2  # one for each set of rights
    for key in kept:
        sheet = run_shared._read(workers.broker().get(key))
        assert not any("csrf" in html for _, html in sheet.parts.values())


def test_who_may_see_more_and_who_may_see_less_share_no_sheet(client_of, admin, researcher, watched):
    browsers = [client_of(admin), client_of(researcher)]
    pages = [browser.get(page_of(watched.run)) for browser in browsers]
    watched.skip(number=3, raw="a raw answer")
    told = [body_of(poll(*pair)) for pair in zip(browsers, pages, strict=True)]
    assert "a raw answer" in told[0]
    assert "a raw answer" not in told[1]


def test_polling_ends_with_the_run(client_of, researcher, watched):
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    Run.objects.update(state="done", ended_at=timezone.now(), tick=F("tick") + 1)
    answer = poll(browser, page)
    assert "hx-trigger" not in body_of(answer)
    assert {"state", "controls", "notices"} <= parts(answer)
    assert "hx-trigger" not in body_of(browser.get(page_of(watched.run)))


def test_the_thread_that_was_chosen_is_the_one_that_is_sent(client_of, researcher, watched):
    browser = client_of(researcher)
    pinned, followed = browser.get(page_of(watched.run, 2)), browser.get(page_of(watched.run))
    watched.tick()
    watched.run.run_threads.filter(index=1).update(reason="a reason")
    assert "Thread 2 of 2" in body_of(poll(browser, pinned))
    watched.write("The tram does.")
    assert "Thread 1 of 2" in body_of(poll(browser, followed))
    live = reverse("run_live", args=[watched.run.public_id])
    assert browser.get(live, {"place": "3"}, headers=HTMX).status_code == 404


def test_a_poll_is_for_who_may_see_the_run(client_of, labeler, watched):
    live = reverse("run_live", args=[watched.run.public_id])
    assert client_of(labeler).get(live).status_code == 403
    foreign = MembershipFactory(role=Role.RESEARCHER, corpus=CorpusFactory()).person
    assert client_of(foreign).get(live).status_code == 404


@pytest.mark.parametrize("marks", ["", "v=x-y&head=z", f"v={'9' * 40}-0", "v=1-&facts=%00x"[:8]])
def test_marks_that_nobody_of_ours_wrote_are_told_everything(client_of, researcher, watched, marks):
    live = reverse("run_live", args=[watched.run.public_id])
    assert {"facts", "thread", "state"} <= parts(client_of(researcher).get(f"{live}?{marks}", headers=HTMX))


# --- a dead worker, a dead broker -----------------------------------------------------------------------


def look_again(monkeypatch, ages):
    monkeypatch.setattr(workers, "ages", ages)
    run_health.forget()


def test_a_worker_that_falls_silent_is_told_of_though_the_run_stands_still(
    client_of, researcher, watched, monkeypatch
):
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    look_again(monkeypatch, lambda: {"w1": 29.0})
    assert poll(browser, page).status_code == 204

    look_again(monkeypatch, lambda: {"w1": 35.0, "w2": 500.0})
    cost, quiet = queries(lambda: poll(browser, page))
    assert cost == UNCHANGED
    assert parts(quiet) == {"worker"}
    assert "No worker has been heard from for" in body_of(quiet)
    assert poll(browser, quiet).status_code == 204

    look_again(monkeypatch, lambda: {"w1": 61.0})
    gone = poll(browser, quiet)
    assert "No worker is running." in body_of(gone)
    look_again(monkeypatch, lambda: {"w1": 2.0})
    assert "worker" not in re.sub(r'id="worker"|worker=well', "", body_of(poll(browser, gone)))


def test_a_worker_that_was_stopped_is_told_of(client_of, researcher, watched, monkeypatch):
    entry = workers.broker()
    monkeypatch.undo()
    entry.delete(workers.KEY)
    entry.hset(workers.KEY, "w1", f"{timezone.now().timestamp() - 40:.1f}")
    run_health.forget()
    assert "No worker has been heard from for" in body_of(client_of(researcher).get(page_of(watched.run)))
    entry.hdel(workers.KEY, "w1")
    run_health.forget()
    assert "No worker is running." in body_of(client_of(researcher).get(page_of(watched.run)))


def test_a_broker_that_does_not_answer_is_told_of_and_the_page_goes_on(
    client_of, researcher, watched, monkeypatch
):
    browser = client_of(researcher)
    page = browser.get(page_of(watched.run))
    monkeypatch.undo()
    nowhere = Redis.from_url("redis://127.0.0.1:1", socket_connect_timeout=1)
    monkeypatch.setattr(workers, "broker", lambda: nowhere)
    monkeypatch.setattr(run_shared, "broker", lambda: nowhere)
    run_health.forget()
    answer = poll(browser, page)
    assert "The broker does not answer." in body_of(answer)
    assert poll(browser, answer).status_code == 204
    assert "The broker does not answer." in body_of(browser.get(page_of(watched.run)))


def test_a_run_that_waits_for_a_person_waits_for_no_worker(client_of, researcher, watched, monkeypatch):
    look_again(monkeypatch, dict)
    browser = client_of(researcher)
    assert "No worker is running." in body_of(browser.get(page_of(watched.run)))
    Run.objects.update(state="paused")
    assert "No worker is running." not in body_of(browser.get(page_of(watched.run)))


def test_one_process_asks_the_broker_once_a_second_for_all_who_watch(monkeypatch):
    asked = []
    look_again(monkeypatch, lambda: asked.append(1) or {"w1": 1.0})
    for _ in range(50):
        run_health.health()
    assert len(asked) < 10
