"""Watching runs: what the list, the page of one, its events and its calls say, and to whom."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from simulation.domain.roles import Role
from simulation.domain.run_states import StepState
from simulation.llm.lanes import lane_of
from simulation.models import CastMember, Happening, Profile, Run
from simulation.selectors import run_health, run_numbers, workers
from simulation.services.lanes import lanes
from tests.factories.runs import scene
from tests.factories.simulation import (
    AttemptFactory,
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    ProviderFactory,
    RunFactory,
    RunThreadFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "ages", lambda: {"w1": 1.0})
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    run_health.forget()


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


def test_the_list_says_what_a_run_cost_where_it_comes_from_and_what_was_lost(client_of, researcher, corpus):
    first = RunFactory(corpus=corpus, name="first", cost=3_180_000_000, max_cost=6_000_000_000)
    RunFactory(corpus=corpus, name="again", origin=Run.REPLAY, source=first)
    for number, state in enumerate(["skipped", "failed", "cancelled", "done"]):
        StepFactory(run=first, number=number, state=state)

    said = words(client_of(researcher).get(reverse("runs")))

    assert "$3.18 of $6.00" in said
    assert "again simulation in winter · replay from the ledger" in said
    assert said.count("2 without a result") == 1


@pytest.mark.parametrize("kind", [kind for kind, _ in Run.KINDS])
def test_every_kind_of_run_is_listed_and_has_its_page(client_of, researcher, corpus, kind):
    run = RunFactory(corpus=corpus, kind=kind, state="running", name="of any kind")
    StepFactory(run=run, kind="profile" if kind == Run.PROFILES else "judge", number=1)
    browser = client_of(researcher)
    assert "of any kind" in words(browser.get(reverse("runs")))
    said = words(browser.get(page_of(run)))
    assert "Stages" in said
    assert "1 of 1" in said


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
    assert "Otter new critic turn 2 · round 1" in said
    assert "Otter in flight turn 4 · round 2" in said
    assert re.search(r"Reply to Otter · sent \d\d:\d\d:\d\d · attempt 2", said)
    assert "Turn skipped: unreadable. Nothing was written to the thread." in said


def test_the_numbers_add_up(client_of, researcher, watched):
    watched.write("The tram does.")
    watched.send(watched.turn(StepState.LEASED, number=4), attempts=4)
    watched.skip(number=3)
    watched.ask(yes=2, no=1)

    said = words(client_of(researcher).get(page_of(watched.run)))
    numbers = run_numbers.numbers(watched.run)

    assert (numbers.written, numbers.ended, numbers.known) == (2, 6, 7)
    assert (numbers.in_flight, numbers.unreadable, numbers.skipped) == (1, 1, 1)
    assert numbers.retries == 7 - 3  # attempts sent, less the calls
    assert numbers.waited == 7.5
    assert "4,200 of 1.0 M 900 set aside, 994,900 free" in said
    assert "7 of 1,000" in said
    assert "2 of 3 asked joined" in said
    assert "3 attempts rate limit" in said


def test_a_call_that_was_never_sent_is_no_retry(watched):
    ModelCallFactory(step=watched.turn(StepState.LEASED, number=1), state="queued", reply=None)
    waits = ModelCallFactory(step=watched.turn(StepState.LEASED, number=2), state="queued", reply=None)
    AttemptFactory(call=waits, state="transient", wait=1.0)
    Run.objects.filter(pk=watched.run.pk).update(calls=1)
    assert run_numbers.numbers(Run.objects.get()).retries == 0


def test_what_needs_a_look_has_its_reason_and_for_admins_the_raw_answer_as_text(
    client_of, admin, researcher, watched
):
    step = watched.skip(number=3, raw="<script>alert(1)</script> Sure!")
    for person, reads in ((admin, True), (researcher, False)):
        body = body_of(client_of(person).get(page_of(watched.run)))
        assert "The line is missing." in body
        assert ("&lt;script&gt;alert(1)&lt;/script&gt; Sure!" in body) is reads
        assert "<script>alert" not in body
        assert reverse("run_call", args=[watched.run.public_id, step.result["call"]]) in body


def test_the_words_in_which_a_model_declined_are_its_answer_and_for_admins(
    client_of, admin, researcher, watched
):
    words_of_it = "I cannot speak about that"
    step = watched.skip(number=3)
    step.reason, step.detail = "refused", words_of_it
    step.save()
    call = step.model_calls.get()
    call.state, call.problem, call.reply = "refused", words_of_it, {"refusal": words_of_it}
    call.save()
    ModelCallFactory(step=StepFactory(run=watched.run), state="refused", problem=words_of_it)
    for person, reads in ((admin, True), (researcher, False)):
        browser = client_of(person)
        for address in (
            page_of(watched.run),
            reverse("run_failures", args=[watched.run.public_id]),
            reverse("run_call", args=[watched.run.public_id, call.public_id]),
        ):
            assert (words_of_it in body_of(browser.get(address))) is reads, address
        file = browser.get(reverse("run_failures_csv", args=[watched.run.public_id]))
        assert (words_of_it in b"".join(file.streaming_content).decode()) is reads


def test_a_comment_tells_how_its_target_was_drawn(client_of, researcher, watched):
    watched.write("The tram does.")
    watched.run.steps.filter(number=1).update(
        asks={"place": [0, 0, 1], "profile": "pers1", "score": 1.75, "probability": 0.3801, "fallback": True}
    )
    said = words(client_of(researcher).get(page_of(watched.run)))
    assert "turn 1 · round 1 score 1.75 · p 0.38 · no limits" in said


def test_money_comes_first_with_what_is_set_aside_free_and_warned_at(client_of, researcher, corpus):
    rich = scene(
        corpus,
        cost=3_180_000_000,
        cost_held=420_000_000,
        max_cost=6_000_000_000,
        soft_cost=4_800_000_000,
    )
    body = body_of(client_of(researcher).get(page_of(rich.run)))
    said = " ".join(re.sub(r"<[^>]+>", " ", body).split())
    assert "$3.18 of $6.00 cap spent $3.18 set aside $0.42 free $2.40 warns at $4.80" in said
    assert said.index("Budget") < said.index("Tokens")
    assert '<rect class="done" x="0%" width="53.00%"' in body
    assert '<line class="limit" x1="80.00%"' in body
    assert "The soft cap is passed." not in said
    Run.objects.update(cost=5_000_000_000)
    assert "The soft cap is passed." in words(client_of(researcher).get(page_of(rich.run)))


def test_stages_and_threads_have_bars_of_what_became_of_their_steps(client_of, researcher, watched):
    watched.ask(yes=1, no=2)
    watched.send(watched.turn(StepState.LEASED, number=4))
    watched.skip(number=3)
    body = body_of(client_of(researcher).get(page_of(watched.run)))
    assert 'aria-label="Interest checks: 3 done"' in body
    assert 'aria-label="Turns: 0 done, 1 in work, 1 without a result"' in body
    assert 'aria-label="thread 1: 4 done, 1 in work, 1 without a result"' in body


def test_every_lane_of_the_run_is_named_with_what_changed_it(client_of, researcher, watched, monkeypatch):
    other = ProviderFactory(name="elsewhere", base_url="http://127.0.0.1:9/v1")
    plan = watched.run.plan
    plan["models"]["user"] |= {"model": "quill-2", "provider": other.public_id}
    Run.objects.update(plan=plan)
    lanes().slow_down(lane_of(other.base_url, "quill-2"), 40.0, "429 slow down, please")
    said = words(client_of(researcher).get(page_of(watched.run)))
    assert "quill-2 user · elsewhere" in said
    assert "429 slow down, please" in said
    assert "scripted author, interest, tagger" in said


def test_what_is_behind_a_comment_is_for_admins_and_personas_for_who_may_see_profiles(
    client_of, admin, researcher, watched
):
    comment = watched.write("The tram does.")
    call = comment.steps.get().result["call"]
    behind = reverse("run_call", args=[watched.run.public_id, call]) + "?part=behind"
    card = reverse("run_persona", args=[watched.run.public_id]) + "?who=pers1"
    for person, reads in ((admin, True), (researcher, False)):
        body = body_of(client_of(person).get(page_of(watched.run)))
        assert (behind in body) is reads
        assert card in body
    assert "Write a comment." in words(client_of(admin).get(behind, headers=HTMX))
    assert client_of(researcher).get(behind, headers=HTMX).status_code == 403


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, '{"a":' * 50_000, '{"a": ' + "[" * 900 + "]" * 900 + "}"],
    ids=["list", "object", "closed"],
)
def test_an_answer_that_is_nested_deeply_is_shown_as_it_came(client_of, admin, watched, text):
    step = watched.write("The tram does.").steps.get()
    call = ModelCallFactory(step=step, reply={"text": text})
    address = reverse("run_call", args=[watched.run.public_id, call.public_id])
    for asked in ("", "?part=behind"):
        assert escape(text) in body_of(client_of(admin).get(address + asked))


def test_the_card_of_an_author_is_as_the_run_has_them(client_of, researcher, labeler, watched):
    address = reverse("run_persona", args=[watched.run.public_id])
    browser = client_of(researcher)
    Profile.objects.filter(external_id="pers1").update(facts={"age": 31}, style="Writing style: terse.")
    now = words(browser.get(address, {"who": "pers1"}, headers=HTMX))
    assert "31" in now
    assert "the profile as it is now" in now
    CastMember.objects.create(
        run=watched.run,
        profile=Profile.objects.get(external_id="pers1"),
        external_id="pers1",
        username="Otter",
        facts={"age": 29},
        style="Writing style: long.",
        version=7,
    )
    then = words(browser.get(address, {"who": "pers1"}))
    assert "29" in then
    assert "Writing style: long." in then
    assert "version 7, as the run was planned with; the profile was edited since" in then
    assert browser.get(address, {"who": "pers9"}).status_code == 404
    assert client_of(labeler).get(address, {"who": "pers1"}).status_code == 403
    foreign = MembershipFactory(role=Role.RESEARCHER, corpus=CorpusFactory()).person
    assert client_of(foreign).get(address, {"who": "pers1"}).status_code == 404


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
        assert ("Stop the run" in said) is steers


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


def test_the_page_of_a_call_has_everything_that_was_sent_and_came_back(client_of, admin, watched):
    step = watched.skip(number=3, raw="Sure! <b>Here</b> it is.")
    call = step.model_calls.get()
    AttemptFactory(call=call, number=0, state="transient", status=503, wait=2.0, detail="upstream is away")
    AttemptFactory(call=call, number=1, status=200)
    call.reply |= {"reasoning": "I should be brief."}
    call.save()

    answer = client_of(admin).get(reverse("run_call", args=[watched.run.public_id, call.public_id]))
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


def test_the_thoughts_of_an_answer_stand_apart_from_its_comment(client_of, admin, watched):
    step = watched.skip(number=3, raw="Reasoning: I am shy.\nStyle check: terse.\nMy comment: Not mine.")
    call = step.model_calls.get()
    body = body_of(client_of(admin).get(reverse("run_call", args=[watched.run.public_id, call.public_id])))
    assert re.search(r"<b>Reasoning</b></p><pre[^>]*>I am shy\.</pre>", body)
    assert re.search(r"<b>My comment</b></p><pre[^>]*>Not mine\.</pre>", body)


def test_who_watches_sees_what_a_call_took_and_cost_but_not_what_was_said(client_of, researcher, watched):
    call = watched.skip(number=3, raw="a raw answer").model_calls.get()
    call.request["messages"] = [{"role": "user", "content": "the words of the prompt"}]
    call.reply |= {"reasoning": "a hidden thought", "raw": {"id": "raw-id"}, "refusal": "I must decline"}
    call.tokens_in, call.tokens_out, call.cost = 4321, 765, 12_300_000
    call.prompt.source = "# user\nthe source of the prompt"
    call.prompt.save()
    call.save()
    opened = call.created_at
    for number, (sent, ended) in enumerate(((3, 5), (9, 16))):
        AttemptFactory(
            call=call,
            number=number,
            state="transient" if number == 0 else "answered",
            sent_at=opened + timedelta(seconds=sent),
            ended_at=opened + timedelta(seconds=ended),
        )
    answer = client_of(researcher).get(reverse("run_call", args=[watched.run.public_id, call.public_id]))
    said, body = words(answer), body_of(answer)
    for hidden in ("a raw answer", "the words of the prompt", "a hidden thought", "raw-id", "I must decline"):
        assert hidden not in body
    assert "the source of the prompt" not in body
    assert "what is wrong" in said.lower()
    assert "4,321" in said
    assert "765" in said
    assert "$0.012" in said
    assert "Worked 9 s 7 s waiting before" in said


def test_a_replayed_call_leads_to_the_one_whose_reply_it_took(client_of, researcher, watched, corpus):
    first = ModelCallFactory(step=StepFactory(run=RunFactory(corpus=corpus, name="the first")))
    replayed = ModelCallFactory(step=StepFactory(run=watched.run), replayed_from=first)
    body = body_of(
        client_of(researcher).get(reverse("run_call", args=[watched.run.public_id, replayed.public_id]))
    )
    assert reverse("run_call", args=[first.run.public_id, first.public_id]) in body
    assert "Nothing was sent and nothing was paid" in body


def test_a_call_is_found_under_its_own_run_alone(client_of, researcher, labeler, watched, corpus):
    call = watched.skip(number=3).model_calls.get()
    other = RunFactory(corpus=corpus)
    assert (
        client_of(researcher).get(reverse("run_call", args=[other.public_id, call.public_id])).status_code
        == 404
    )
    mine = reverse("run_call", args=[watched.run.public_id, call.public_id])
    assert client_of(labeler).get(mine).status_code == 403
