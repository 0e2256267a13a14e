"""Watching runs: what the list, the page of one, its polls, its events and its calls say, and to whom."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.domain.run_states import StepState
from simulation.models import Happening, Run
from simulation.selectors import workers
from tests.factories.runs import scene
from tests.factories.simulation import (
    AttemptFactory,
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    RunFactory,
    RunThreadFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def watched(corpus):
    return scene(corpus, calls=7, tokens=4200, tokens_held=900)


def page_of(run, thread=None):
    if thread is None:
        return reverse("run", args=[run.public_id])
    return reverse("run_thread", args=[run.public_id, thread])


def body_of(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def words(answer):
    """The text of a page without its tags, blanks squeezed."""
    return " ".join(re.sub(r"<[^>]+>", " ", body_of(answer)).split())


# --- the list -------------------------------------------------------------------------------------------


def test_the_list_names_every_run_with_state_progress_calls_and_who(client_of, researcher, admin, corpus):
    run = RunFactory(corpus=corpus, name="residence", state="halted", reason="The cap is reached.", calls=12)
    Run.objects.filter(pk=run.pk).update(created_by=admin)
    for index, state in enumerate(["done", "partial", "running", "waiting"]):
        RunThreadFactory(run=run, index=index, state=state)

    said = words(client_of(researcher).get(reverse("runs")))

    assert "residence simulation in winter Halted The cap is reached." in said
    assert "2 of 4 threads" in said
    assert "12 of 1,000" in said
    assert "by ada" in said
    assert "New simulation" not in said


def test_runs_are_paged_newest_first_and_none_is_missed(client_of, researcher, corpus):
    for number in range(60):
        RunFactory(corpus=corpus, name=f"run number {number}")
    browser, seen, before = client_of(researcher), [], ""
    while True:
        page = browser.get(reverse("runs"), {"before": before}).context["page"]
        seen += [row.run.name for row in page.rows]
        before = page.before
        if not before:
            break
    assert seen == [f"run number {number}" for number in reversed(range(60))]


def test_the_list_takes_the_same_number_of_queries_for_more_runs(client_of, researcher, corpus):
    browser = client_of(researcher)
    RunThreadFactory(run=RunFactory(corpus=corpus))
    StepFactory(run=RunFactory(corpus=corpus, kind="tag"), kind="tag")
    with CaptureQueriesContext(connection) as few:
        browser.get(reverse("runs"))
    for index in range(20):
        RunThreadFactory(run=RunFactory(corpus=corpus), index=index)
        StepFactory(run=RunFactory(corpus=corpus, kind="tag"), kind="tag")
    with CaptureQueriesContext(connection) as many:
        browser.get(reverse("runs"))
    assert len(many) == len(few)


def test_runs_of_corpora_one_may_not_see_are_not_there(client_of, watched):
    person = MembershipFactory(role=Role.RESEARCHER, corpus=CorpusFactory(name="summer")).person
    browser = client_of(person)

    assert watched.run.name not in words(browser.get(reverse("runs")))
    assert browser.get(page_of(watched.run)).status_code == 404
    assert browser.get(reverse("run_events", args=[watched.run.public_id])).status_code == 404


@pytest.mark.parametrize("role", [Role.LABELER, Role.ADJUDICATOR])
def test_who_may_not_see_runs_is_refused_and_not_led_there(client_of, watched, role):
    browser = client_of(MembershipFactory(role=role).person)
    assert browser.get(reverse("runs")).status_code == 403
    assert browser.get(page_of(watched.run)).status_code == 403
    assert reverse("runs") not in body_of(browser.get(reverse("home")))


def test_the_page_of_a_corpus_shows_its_runs_and_leads_admins_to_new_ones(
    client_of, admin, researcher, labeler, watched
):
    address = reverse("corpus", args=[watched.run.corpus.public_id])
    new = reverse("run_new", args=[watched.run.corpus.public_id])
    for person, sees, starts in ((admin, True, True), (researcher, True, False), (labeler, False, False)):
        body = body_of(client_of(person).get(address))
        assert (watched.run.name in body) is sees, person.username
        assert (new in body) is starts, person.username


# --- the page of a run ----------------------------------------------------------------------------------


def test_the_page_shows_the_tree_with_what_is_under_way_and_what_was_skipped(client_of, researcher, watched):
    first = watched.write("The tram does.")
    watched.write("Not mine.", parent=first, critic=True)
    watched.send(watched.turn(StepState.LEASED, number=4), attempts=2)
    watched.skip(number=3)

    said = words(client_of(researcher).get(page_of(watched.run)))

    assert "Thread 1 of 2" in said
    assert "What keeps you awake?" in said
    assert "Otter critic turn 2 · round 1" in said
    assert "Otter in flight turn 4 · round 2" in said
    assert re.search(r"Reply to Otter · sent \d\d:\d\d:\d\d · attempt 2", said)
    assert "Turn skipped: unreadable. Nothing was written to the thread." in said


def test_the_numbers_add_up(client_of, researcher, watched):
    watched.write("The tram does.")
    watched.send(watched.turn(StepState.LEASED, number=4), attempts=4)
    watched.skip(number=3)
    watched.ask(yes=2, no=1)

    answer = client_of(researcher).get(page_of(watched.run))
    numbers, said = answer.context["numbers"], words(answer)

    assert (numbers.written, numbers.ended, numbers.known) == (2, 6, 7)
    assert (numbers.in_flight, numbers.unreadable, numbers.skipped) == (1, 1, 1)
    assert numbers.retries == 7 - 3  # attempts sent, less the calls
    assert numbers.waited == 7.5
    assert "spent 4,200 set aside 900 free 994,900" in said
    assert "7 of 1,000" in said
    assert "2 of 3 asked joined" in said
    assert "3 attempts rate limit" in said


def test_a_call_that_was_never_sent_is_no_retry(client_of, researcher, watched):
    ModelCallFactory(step=watched.turn(StepState.LEASED, number=1), state="queued", reply=None)
    waits = ModelCallFactory(step=watched.turn(StepState.LEASED, number=2), state="queued", reply=None)
    AttemptFactory(call=waits, state="transient", wait=1.0)
    Run.objects.filter(pk=watched.run.pk).update(calls=1)
    assert client_of(researcher).get(page_of(watched.run)).context["numbers"].retries == 0


def test_what_needs_a_look_has_its_reason_and_the_raw_answer_as_text(client_of, researcher, watched):
    step = watched.skip(number=3, raw="<script>alert(1)</script> Sure!")
    body = body_of(client_of(researcher).get(page_of(watched.run)))
    assert "The line is missing." in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt; Sure!" in body
    assert reverse("run_call", args=[watched.run.public_id, step.result["call"]]) in body


def test_an_answer_that_was_asked_again_is_counted_and_not_called_lost(client_of, researcher, watched):
    step = StepFactory(run=watched.run, kind="interest", result={"interested": True})
    ModelCallFactory(step=step, state="invalid", problem="neither Yes nor No")
    said = words(client_of(researcher).get(page_of(watched.run)))
    assert "all overcome" in said
    assert "1 answer unreadable asked again" in said


def test_the_page_follows_the_first_thread_that_is_being_written(client_of, researcher, watched):
    browser = client_of(researcher)
    watched.run.run_threads.filter(index=0).update(state="done")
    watched.run.run_threads.filter(index=1).update(state="running")
    followed, pinned = browser.get(page_of(watched.run)), browser.get(page_of(watched.run, 1))
    assert "Thread 2 of 2" in words(followed)
    assert "Following" in words(followed)
    assert "Thread 1 of 2" in words(pinned)
    assert "Follow the run" in words(pinned)


@pytest.mark.parametrize("thread", ["0", "3", "99999999", "999999999999", "one", "-1"])
def test_a_thread_that_the_run_does_not_have_is_not_found(client_of, researcher, watched, thread):
    assert client_of(researcher).get(page_of(watched.run, thread)).status_code == 404


def test_many_threads_are_listed_a_window_at_a_time(client_of, researcher, watched):
    author = watched.thread.author
    for index in range(2, 40):
        RunThreadFactory(run=watched.run, index=index, author=author)
    said = words(client_of(researcher).get(page_of(watched.run, 20)))
    assert "Thread 20 of 40" in said
    assert "0 of 40 over" in said
    assert [text for text in ("12 · Age", "13 · Age", "24 · Age", "25 · Age") if text in said] == [
        "13 · Age",
        "24 · Age",
    ]


def test_a_halted_run_says_why_and_offers_admins_of_its_corpus_to_raise_the_caps(
    client_of, admin, researcher, corpus
):
    halted = scene(corpus, state="halted", reason="The cap of 1,000 calls is reached. Raise it.", calls=1000)
    for person, steers in ((admin, True), (researcher, False)):
        said = words(client_of(person).get(page_of(halted.run)))
        assert "The cap of 1,000 calls is reached." in said
        assert ("Raise the caps and resume" in said) is steers
        assert ("Cancel the run" in said) is steers


def test_a_run_without_a_worker_says_so_while_it_waits_for_one(client_of, researcher, watched, monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)
    browser = client_of(researcher)
    assert "No worker is running." in words(browser.get(page_of(watched.run)))
    Run.objects.update(state="paused")
    assert "No worker is running." not in words(browser.get(page_of(watched.run)))


def test_a_finished_run_leads_on(client_of, researcher, corpus):
    done = scene(corpus, state="done", ended_at=timezone.now())
    follower = RunFactory(corpus=corpus, kind="tag", follows=done.run)
    body = body_of(client_of(researcher).get(page_of(done.run)))
    for name in ("corpus", "queue_create", "export"):
        assert reverse(name, args=[corpus.public_id]) in body
    assert page_of(follower) in body


def test_a_tagging_run_shows_the_latest_tags(client_of, researcher, corpus):
    run = RunFactory(corpus=corpus, kind="tag", state="running")
    comment = CommentFactory(thread__corpus=corpus, text="I teach spreadsheets.")
    tags = [{"attribute": "occupation", "guesses": ["teacher", "trainer"], "certainty": 4}]
    StepFactory(run=run, kind="tag", comment=comment, result={"tags": tags, "call": "abc"})
    StepFactory(run=run, kind="tag", state="ready", comment=comment)
    said = words(client_of(researcher).get(page_of(run)))
    assert "I teach spreadsheets." in said
    assert "Occupation: teacher" in said
    assert "Comments tagged 1 of 2" in said


# --- polls ----------------------------------------------------------------------------------------------


def poll(browser, answer, run, thread=None):
    """What the page asks for two seconds later."""
    return browser.get(f"{page_of(run, thread)}?{answer.context['marks']}", headers=HTMX)


def parts(answer):
    return set(re.findall(r'id="(\w+)"[^>]*hx-swap-oob', body_of(answer)))


def test_a_poll_is_sent_the_numbers_and_nothing_that_it_has(client_of, researcher, watched):
    browser = client_of(researcher)
    watched.write("The tram does.")
    answer = poll(browser, browser.get(page_of(watched.run)), watched.run)
    assert parts(answer) == {"facts"}
    assert 'id="pulse" hx-get' in body_of(answer)
    assert "<html" not in body_of(answer)


def test_a_poll_is_sent_the_parts_that_changed(client_of, researcher, watched):
    browser = client_of(researcher)
    before = browser.get(page_of(watched.run))
    watched.write("The tram does.")
    answer = poll(browser, before, watched.run)
    assert parts(answer) == {"facts", "thread", "threads", "story"}
    assert "The tram does." in body_of(answer)
    watched.skip(number=2)
    assert "look" in parts(poll(browser, answer, watched.run))
    Run.objects.update(state="halted", reason="No money.")
    assert {"state", "controls", "notices"} <= parts(poll(browser, answer, watched.run))


def test_polling_ends_with_the_run(client_of, researcher, watched):
    browser = client_of(researcher)
    before = browser.get(page_of(watched.run))
    Run.objects.update(state="done", ended_at=timezone.now())
    answer = poll(browser, before, watched.run)
    assert "hx-trigger" not in body_of(answer)
    assert {"state", "controls", "notices"} <= parts(answer)
    assert "<script" not in body_of(browser.get(page_of(watched.run)))


def test_a_poll_takes_a_fixed_number_of_queries_however_large_the_run(client_of, researcher, watched):
    browser = client_of(researcher)
    watched.write("The tram does.")
    watched.skip(number=2)
    watched.send(watched.turn(StepState.LEASED, number=3), attempts=2)
    first = browser.get(page_of(watched.run))
    with CaptureQueriesContext(connection) as idle:
        poll(browser, first, watched.run)
    with CaptureQueriesContext(connection) as all_new:
        browser.get(page_of(watched.run), headers=HTMX)
    for number in range(30):
        watched.write(f"Reply {number}.")
        watched.skip(number=100 + number)
        watched.send(watched.turn(StepState.LEASED, number=200 + number), attempts=3)
        RunThreadFactory(run=watched.run, index=2 + number, author=watched.thread.author)
    later = browser.get(page_of(watched.run))
    with CaptureQueriesContext(connection) as idle_large:
        poll(browser, later, watched.run)
    with CaptureQueriesContext(connection) as all_new_large:
        browser.get(page_of(watched.run), headers=HTMX)
    assert len(idle_large) == len(idle) <= 14
    assert len(all_new_large) == len(all_new) <= 27


# --- events and calls -----------------------------------------------------------------------------------


def test_events_are_paged_and_none_is_missed_or_shown_twice(client_of, researcher, watched):
    Happening.objects.all().delete()
    for number in range(250):
        watched.tell(f"line {number}", "warn" if number % 50 == 0 else "info")
    same = timezone.now()
    Happening.objects.filter(text__in=[f"line {number}" for number in range(130, 160)]).update(at=same)
    browser, seen, before = client_of(researcher), [], ""
    address = reverse("run_events", args=[watched.run.public_id])
    while True:
        page = browser.get(address, {"before": before}).context["page"]
        seen += [line.text for line in page.rows]
        before = page.before
        if not before:
            break
    assert sorted(seen) == sorted(f"line {number}" for number in range(250))
    loud = browser.get(address, {"only": "trouble"}).context["page"]
    assert len(loud.rows) == 5
    assert browser.get(address, {"before": "nonsense-x"}).status_code == 200


def test_the_page_of_a_call_has_everything_that_was_sent_and_came_back(client_of, researcher, watched):
    step = watched.skip(number=3, raw="Sure! <b>Here</b> it is.")
    call = step.model_calls.get()
    AttemptFactory(call=call, number=0, state="transient", status=503, wait=2.0, detail="upstream is away")
    AttemptFactory(call=call, number=1, status=200)
    call.reply |= {"reasoning": "I should be brief."}
    call.save()

    answer = client_of(researcher).get(reverse("run_call", args=[watched.run.public_id, call.public_id]))
    said, body = words(answer), body_of(answer)

    for text in (
        "Write a comment.",
        "I should be brief.",
        "upstream is away",
        "scripted-1",
        "the line is missing",
    ):
        assert text in said
    assert "Sure! &lt;b&gt;Here&lt;/b&gt; it is." in body
    assert call.prompt.digest in body


def test_a_call_is_found_under_its_own_run_alone(client_of, researcher, labeler, watched, corpus):
    call = watched.skip(number=3).model_calls.get()
    other = RunFactory(corpus=corpus)
    assert (
        client_of(researcher).get(reverse("run_call", args=[other.public_id, call.public_id])).status_code
        == 404
    )
    mine = reverse("run_call", args=[watched.run.public_id, call.public_id])
    assert client_of(labeler).get(mine).status_code == 403
