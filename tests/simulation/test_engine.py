"""Runs carried out step by step: what becomes of every kind of answer, and what is written down."""

import functools
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F, Sum
from django.utils import timezone

from annotation.models import Suggestion
from annotation.services.tagging import Tagging, follow_simulations, start_tagging
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, RoleModel, published_models
from simulation.domain.run_states import NotPossible, RunEvent
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import Finish, Form, Usage
from simulation.models import AuditEntry, CallAttempt, Comment, ModelCall, Run, Step
from simulation.selectors.progress import corpus_digest, progress
from simulation.services import completions, engine, runs
from simulation.services.simulating import Simulation
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory, ThreadFactory
from tests.fakes.llm import FakeGateway, purpose, reply, sensible

pytestmark = pytest.mark.django_db
committing = pytest.mark.django_db(transaction=True)
SMALL = Parameters(rounds=1, actions=2, profiles_asked=3)


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    """Nothing is sent to the broker: the test is the worker."""
    monkeypatch.setattr(engine, "_send", lambda *_: None)


@pytest.fixture
def gateway(monkeypatch):
    fake = FakeGateway()
    monkeypatch.setattr(completions, "_gateway", lambda *_: fake)
    return fake


def start(corpus=None, *, threads=1, parameters=SMALL, seed=5, **options):
    corpus = corpus or CorpusFactory()
    if not corpus.profiles.exists():
        for number in range(5):
            ProfileFactory(
                corpus=corpus,
                external_id=f"pers{number}",
                username=f"Author{number}",
                facts={"age": 20 + number, "occupation": "nurse"},
                style="Writing style: short.",
            )
    fields = {"max_calls": 500, "max_tokens": 1_000_000, "models": published_models("scripted")} | options
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=ProviderFactory(),
        targets={"age": threads},
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=parameters,
        seed=seed,
        **fields,
    )


def work_off(run, work=None, *, most=500):
    """Does steps until none is ready, as one worker would; waits are skipped over."""
    for _ in range(most):
        Step.objects.filter(run=run, state="ready").update(due_at=timezone.now())
        if not engine.advance(run_id=run.pk, work=work or Simulation()):
            break
    return Run.objects.get(pk=run.pk)


def in_thread(run):
    try:
        work_off(run)
    finally:
        connection.close()


def balanced(run):
    """The run's counters are those of the ledger."""
    run = Run.objects.get(pk=run.pk)
    attempts = CallAttempt.objects.filter(call__run=run)
    spent = attempts.aggregate(n=Sum("spent"))["n"] or 0
    held = attempts.filter(state="sent").aggregate(n=Sum("held"))["n"] or 0
    assert (run.calls, run.tokens, run.tokens_held) == (attempts.count(), spent, held)
    lost = attempts.filter(state="lost")
    assert lost.count() == lost.filter(spent=F("held")).count()
    for call in ModelCall.objects.filter(run=run).exclude(reply=None).exclude(tokens_in=0, tokens_out=0):
        counted = call.attempts.filter(state="answered").aggregate(n=Sum("spent"))["n"]
        assert counted == call.tokens_in + call.tokens_out
    return True


def test_a_run_writes_its_threads_and_ends(gateway):
    run = work_off(start(threads=2))
    assert run.state == "done"
    assert run.corpus.threads.count() == 2
    assert [thread.state for thread in run.run_threads.all()] == ["done", "done"]
    comments = run.corpus.comments.order_by("sequence")
    assert comments.first().text.startswith("Question: Who fixes your bike?")
    assert comments.count() > 4
    assert all(comment.parent.thread_id == comment.thread_id for comment in comments if comment.parent)
    assert progress(run).open == 0
    assert balanced(run)


def test_threads_are_named_and_placed_beside_what_is_there(gateway):
    corpus = CorpusFactory()
    one = work_off(start(corpus))
    other = work_off(start(corpus, seed=6))
    names = list(corpus.threads.order_by("id").values_list("external_id", flat=True))
    assert names == ["thread_age_1", "thread_age_2"]
    places = list(corpus.comments.values_list("sequence", flat=True))
    assert len(places) == len(set(places))
    assert one.run_threads.get().last_sequence < other.run_threads.get().first_sequence


@committing
def test_the_same_plan_gives_the_same_corpus_whatever_the_order(gateway):
    digests = []
    for parallel in (1, 8):
        run = start(threads=3, parallel=parallel)
        hands = [threading.Thread(target=in_thread, args=(run,)) for _ in range(parallel)]
        for hand in hands:
            hand.start()
        for hand in hands:
            hand.join()
        assert work_off(run).state == "done"
        digests.append(corpus_digest(run.corpus))
        assert balanced(run)
    assert digests[0] == digests[1]
    assert corpus_digest(work_off(start(threads=3, seed=99)).corpus) != digests[0]


def test_every_call_is_in_the_ledger_with_its_prompt_and_answer(gateway):
    run = work_off(start())
    calls = ModelCall.objects.filter(run=run)
    assert calls.count() == len(gateway.asked) == CallAttempt.objects.filter(call__run=run).count()
    turn = calls.filter(purpose="turn").first()
    assert "Author" in turn.request["messages"][1]["content"]
    assert turn.reply["text"].startswith("Reasoning:")
    assert (turn.prompt.name, turn.prompt.digest) == ("thread/comment", run.plan["prompts"]["thread/comment"])
    assert (turn.model, turn.served_model, turn.state, turn.rung) == ("scripted", "fake-1", "done", "text")


def test_those_who_say_no_do_not_write(gateway):
    gateway.answers = lambda request, attempt: (
        reply('{"interested": "No, he would not be interested"}')
        if purpose(request) == "interest"
        else sensible(request, attempt)
    )
    run = work_off(start())
    assert run.state == "done"
    assert run.corpus.comments.count() == 1
    assert run.run_threads.get().reason == "nobody was interested"


def test_the_hard_cap_on_calls_stops_the_run_and_can_be_raised(gateway):
    run = work_off(start(max_calls=3))
    assert (run.state, run.calls, len(gateway.asked)) == ("halted", 3, 3)
    assert "cap of 3 calls" in run.reason
    runs.raise_caps(by=None, run=run, max_calls=500, max_tokens=10**6)
    runs.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"
    assert balanced(run)


def test_the_cap_on_tokens_counts_what_the_next_call_may_take(gateway):
    gateway.answers = lambda request, attempt: replace(sensible(request, attempt), usage=Usage(300, 300))
    run = work_off(start(max_tokens=2500))
    assert (run.state, run.tokens) == ("halted", 1800)
    assert "tokens" in run.reason
    assert run.tokens + run.tokens_held <= 2500
    assert balanced(run)


def test_a_cap_below_what_is_spent_is_refused(gateway):
    run = work_off(start(max_calls=3))
    with pytest.raises(BadPlan, match="3 calls have been made"):
        runs.raise_caps(by=None, run=run, max_calls=2, max_tokens=10**6)


def test_a_wrong_key_halts_at_once_with_the_provider_s_words(gateway):
    gateway.answers = lambda *_: LLMError(Trouble.PERMANENT, "Incorrect API key provided", status=401)
    run = work_off(start(threads=3))
    assert (run.state, len(gateway.asked)) == ("halted", 1)
    assert "Incorrect API key provided" in run.reason
    gateway.answers = sensible
    runs.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"


def test_no_money_halts_at_once(gateway):
    gateway.answers = lambda *_: LLMError(Trouble.QUOTA, "You exceeded your current quota", status=429)
    assert work_off(start()).state == "halted"


def test_a_rate_limit_waits_and_costs_no_attempt(gateway):
    def limited(request, attempt):
        if attempt < 12:
            return LLMError(Trouble.RATE_LIMIT, "slow down", after=0.0, status=429)
        return sensible(request, attempt)

    gateway.answers = limited
    run = start(parameters=Parameters(rounds=1, actions=1, profiles_asked=1))
    run = work_off(run)
    assert run.state == "done"
    call = ModelCall.objects.filter(run=run).first()
    states = [attempt.state for attempt in call.attempts.order_by("id")]
    assert states == ["rate_limited"] * 12 + ["answered"]
    assert balanced(run)


def test_a_passing_fault_is_tried_again_later(gateway):
    gateway.answers = lambda request, attempt: (
        LLMError(Trouble.TRANSIENT, "bad gateway", status=502) if attempt < 2 else sensible(request, attempt)
    )
    run = start()
    engine.advance(run_id=run.pk, work=Simulation())
    step = run.steps.get(kind="topic")
    assert (step.state, step.due_at > timezone.now()) == ("ready", True)
    assert work_off(run).state == "done"
    assert balanced(run)


def test_an_outage_halts_the_run_instead_of_losing_turns(gateway):
    gateway.answers = lambda *_: LLMError(Trouble.TRANSIENT, "connection refused")
    run = work_off(start())
    assert run.state == "halted"
    assert "connection refused" in run.reason
    assert run.steps.get().state == "ready"
    gateway.answers = sensible
    runs.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"


@pytest.mark.parametrize(
    ("answer", "reason", "state"),
    [
        (reply("", refusal="I cannot help with that"), "refused", "refused"),
        (reply("My comm", finish=Finish.LENGTH), "truncated", "truncated"),
        (reply("   "), "empty", "invalid"),
        (reply("I would say that buses are bad"), "unreadable", "invalid"),
        (reply("filtered", finish=Finish.FILTER), "refused", "refused"),
    ],
)
def test_a_turn_without_a_comment_is_skipped_with_its_reason(gateway, answer, reason, state):
    gateway.answers = lambda request, attempt: (
        answer if purpose(request) == "turn" else sensible(request, attempt)
    )
    run = work_off(start())
    assert run.state == "done"
    turns = run.steps.filter(kind="turn")
    assert turns.count() > 1
    assert set(turns.values_list("state", "reason")) == {("skipped", reason)}
    assert run.run_threads.get().state == "partial"
    assert run.corpus.comments.count() == 1  # nothing of the model's words got into the thread
    assert set(ModelCall.objects.filter(run=run, purpose="turn").values_list("state", flat=True)) == {state}
    assert ModelCall.objects.filter(run=run, purpose="turn").first().reply["text"] == answer.text


def test_an_unreadable_answer_gets_one_correction_turn_that_quotes_the_problem(gateway):
    def once_wrong(request, attempt):
        if purpose(request) == "turn" and len(request.messages) == 2:
            return reply("just words without the label")
        return sensible(request, attempt)

    gateway.answers = once_wrong
    run = work_off(start())
    assert run.steps.filter(kind="turn", state="skipped").count() == 0
    corrected = [request for request, _ in gateway.asked if len(request.messages) > 2]
    assert corrected
    assert corrected[0].messages[2].content == "just words without the label"
    assert "“My comment:” is missing" in corrected[0].messages[3].content


def test_nearly_json_is_repaired_after_the_correction_turn_and_never_a_cut_answer(gateway):
    broken = '{"question": "Who fixes your bike?", "description": "Mine broke'
    gateway.answers = lambda request, attempt: (
        reply(broken) if purpose(request) == "topic" else sensible(request, attempt)
    )
    run = work_off(start())
    assert run.run_threads.get().state == "done"
    assert ModelCall.objects.get(run=run, purpose="topic", sample=1).rung == "repaired"
    gateway.answers = lambda request, attempt: (
        reply(broken, finish=Finish.LENGTH) if purpose(request) == "topic" else sensible(request, attempt)
    )
    run = work_off(start())
    assert run.run_threads.get().state == "failed"
    assert run.steps.get().reason == "truncated"


def test_a_provider_that_knows_no_schema_is_asked_in_the_next_form(gateway):
    def plain(request, attempt):
        if request.form is not Form.TEXT:
            return LLMError(Trouble.PERMANENT, "response_format is not supported", status=400)
        if "Question description:" in request.messages[-1].content:
            return reply("Question: Who?\nQuestion description: Me.")
        if "Interested:" in request.messages[-1].content:
            return reply("Interested: Yes")
        return sensible(request, attempt)

    gateway.answers = plain
    run = work_off(start())
    assert run.state == "done"
    assert set(ModelCall.objects.filter(run=run, state="done").values_list("rung", flat=True)) == {"text"}


def test_a_rejected_question_of_a_known_kind_skips_its_step_alone(gateway):
    def too_long(request, attempt):
        if purpose(request) == "turn" and len([one for one in gateway.purposes() if one == "turn"]) == 2:
            return LLMError(Trouble.PERMANENT, "maximum context length exceeded", status=400)
        return sensible(request, attempt)

    gateway.answers = too_long
    run = work_off(start())
    assert run.state == "done"
    assert run.steps.filter(kind="turn", state="skipped").count() == 1
    assert "maximum context length" in run.steps.get(state="skipped").detail


def test_a_call_with_a_kept_reply_is_not_made_again(gateway, monkeypatch):
    run = start()
    monkeypatch.setattr(engine, "_complete", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # the worker ends between the ledger and the step
        engine.advance(run_id=run.pk, work=Simulation())
    monkeypatch.undo()
    monkeypatch.setattr(engine, "_send", lambda *_: None)
    monkeypatch.setattr(completions, "_gateway", lambda *_: gateway)
    Step.objects.filter(run=run).update(leased_until=timezone.now() - timedelta(seconds=1))
    engine.sweep()
    run = work_off(run)
    assert run.state == "done"
    assert gateway.purposes().count("topic") == 1
    assert balanced(run)


def test_a_call_in_flight_when_its_worker_ended_is_lost_counted_and_made_again(gateway):
    class Killed(BaseException):
        """Nothing of ours catches it, as nothing catches the end of a process."""

    def dies(request, attempt):
        raise Killed

    run = start()
    gateway.answers = dies
    with pytest.raises(Killed):
        engine.advance(run_id=run.pk, work=Simulation())
    gateway.answers = sensible
    Step.objects.filter(run=run).update(leased_until=timezone.now() - timedelta(seconds=1))
    engine.sweep()
    run = work_off(run)
    assert run.state == "done"
    attempts = CallAttempt.objects.filter(call__run=run, call__purpose="topic").order_by("id")
    assert [(one.state, one.number) for one in attempts] == [("lost", 0), ("answered", 0)]
    assert balanced(run)


@committing
def test_a_worker_whose_lease_was_given_away_writes_nothing(gateway):
    run = start()

    def slow(request, attempt):
        Step.objects.filter(run=run).update(leased_until=timezone.now() - timedelta(seconds=1))
        gateway.answers = sensible
        engine.sweep()
        work_off(run)
        return sensible(request, attempt)

    gateway.answers = slow
    engine.advance(run_id=run.pk, work=Simulation())
    run = Run.objects.get(pk=run.pk)
    assert run.state == "done"
    assert run.corpus.threads.count() == 1
    assert CallAttempt.objects.filter(call__run=run, state="lost").count() == 1
    assert balanced(run)


@committing
def test_pause_lets_the_call_in_flight_finish_and_begins_none(gateway):
    run = start()

    def paused_meanwhile(request, attempt):
        runs.control(by=None, run=run, event=RunEvent.PAUSE)
        return sensible(request, attempt)

    gateway.answers = paused_meanwhile
    engine.advance(run_id=run.pk, work=Simulation())
    assert run.steps.get(kind="topic").state == "done"
    assert not engine.advance(run_id=run.pk, work=Simulation())
    gateway.answers = sensible
    runs.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"


@committing
def test_cancelling_ends_the_run_at_once_and_a_late_answer_stays_in_the_ledger(gateway):
    run = start()

    def cancelled_meanwhile(request, attempt):
        runs.control(by=None, run=run, event=RunEvent.CANCEL)
        return sensible(request, attempt)

    gateway.answers = cancelled_meanwhile
    engine.advance(run_id=run.pk, work=Simulation())
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.corpus.comments.count()) == ("cancelled", 0)
    assert ModelCall.objects.get(run=run).state == "done"
    with pytest.raises(NotPossible):
        runs.control(by=None, run=run, event=RunEvent.RESUME)
    assert balanced(run)


def test_an_error_of_ours_fails_the_run_after_three_times(gateway, caplog):
    class Broken(Simulation):
        def record(self, claim, outcome):
            raise ZeroDivisionError

    run = start()
    run = work_off(run, Broken())
    assert run.state == "failed"
    assert run.steps.get().faults == 3
    assert len(gateway.asked) == 1  # the answer was kept the first time
    assert "step t0/topic broke" in caplog.text


def test_signs_that_no_database_holds_are_replaced_and_the_run_goes_on(gateway):
    nasty = "Reasoning: a\0b \ud800.\nMy comment: half \udc00 a sign \0 here"

    def answers(request, attempt):
        if purpose(request) != "turn":
            return sensible(request, attempt)
        odd = {"n": float("nan"), "deep": functools.reduce(lambda inner, _: [inner], range(500), [])}
        return replace(reply(nasty), raw={"text": nasty, **odd}, usage=Usage(-5, 2**40))

    gateway.answers = answers
    run = work_off(start(max_tokens=10**15))
    assert run.state == "done"
    comment = run.corpus.comments.exclude(parent=None).first()
    assert comment.text == "half \ufffd a sign \ufffd here"
    assert balanced(run)


def test_starting_writes_an_audit_entry_without_names(gateway, admin):
    run = start()
    entry = AuditEntry.objects.get(action="run.started")
    assert entry.object_id == run.public_id


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"threads": 0}, "targets"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"seed": -1}, "seed"),
        ({"models": {}}, "models"),
        ({"then_tag": True}, "tagger"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_by_field(change, field):
    with pytest.raises(BadPlan) as refused:
        start(**change)
    assert refused.value.field == field
    assert not Run.objects.exists()


def test_a_tagging_run_makes_suggestions_and_an_unreadable_answer_leaves_the_comment_alone(gateway):
    """D5: an unreadable answer took the comment out of the thread and the agent's turn with it."""
    run = work_off(start())
    before = corpus_digest(run.corpus)
    texts = Comment.objects.filter(corpus=run.corpus).order_by("sequence").values_list("text", flat=True)
    spoilt = texts[1]
    gateway.answers = lambda request, attempt: (
        reply("Nothing that anybody could read.")
        if spoilt in request.messages[1].content
        else sensible(request, attempt)
    )
    tags = start_tagging(
        by=None,
        corpus=run.corpus,
        name="tags",
        provider=run.provider,
        model="scripted",
        max_calls=500,
        max_tokens=10**6,
    )
    tags = work_off(tags, Tagging())
    assert tags.state == "done"
    assert Suggestion.objects.filter(run=tags).count() == run.corpus.comments.count() - 1
    skipped = tags.steps.get(state="skipped")
    assert (skipped.reason, skipped.comment.text) == ("unreadable", spoilt)
    raw = ModelCall.objects.get(public_id=skipped.result["call"])
    assert raw.reply["text"] == "Nothing that anybody could read."
    assert corpus_digest(run.corpus) == before
    suggestion = Suggestion.objects.filter(run=tags).first()
    assert (suggestion.guesses, suggestion.hardness, suggestion.tagger) == (
        ["nurse", "medic", "carer"],
        2,
        "scripted",
    )
    assert suggestion.call.purpose == "tag"


def test_a_simulation_that_asked_for_it_is_tagged_once(gateway):
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    follow_simulations()
    follow_simulations()
    tags = Run.objects.get(follows=run)
    assert tags.steps.count() == run.corpus.comments.count()
    assert work_off(tags, Tagging()).state == "done"
    assert Suggestion.objects.filter(run=tags).exists()


def test_a_simulation_that_did_not_ask_is_not_tagged(gateway):
    work_off(start())
    assert follow_simulations() == []


def test_the_caps_hold_for_a_simulation_and_its_tagging_together(gateway):
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    runs.raise_caps(by=None, run=run, max_calls=run.calls, max_tokens=run.max_tokens)
    follow_simulations()
    tags = work_off(Run.objects.get(follows=run), Tagging())
    assert (tags.state, tags.calls) == ("halted", 0)
    assert "cap of 0 calls" in tags.reason


def test_a_simulation_without_comments_is_not_tagged(gateway):
    gateway.answers = lambda *_: reply("", refusal="no")
    run = work_off(start(then_tag=True, tagger=RoleModel("scripted", 0.0)))
    assert run.run_threads.get().state == "failed"
    assert follow_simulations() == []


def test_a_call_that_a_former_holder_answered_meanwhile_is_not_sent_again(gateway, monkeypatch):
    run = start()
    claim = engine._claim(run.pk)
    opened = completions.ledger.open_call

    def answered_meanwhile(**fields):
        call = opened(**fields)
        kept = sensible(completions.ChatRequest.from_dict(call.request), 0)
        ModelCall.objects.filter(pk=call.pk).update(state="done", reply=kept.as_dict())
        return call

    monkeypatch.setattr(completions.ledger, "open_call", answered_meanwhile)
    engine._do(claim, Simulation())
    assert gateway.asked == []
    assert run.steps.get(kind="topic").state == "done"
    assert balanced(run)


def test_every_call_prolongs_the_lease(gateway):
    run = start()
    claim = engine._claim(run.pk)
    soon = timezone.now() + timedelta(seconds=1)
    Step.objects.filter(pk=claim.step.pk).update(leased_until=soon)
    seen = []

    def look(request, attempt):
        seen.append(attempt)
        return sensible(request, attempt)

    gateway.answers = look
    call = completions.ledger.open_call(
        run=claim.run,
        step=claim.step,
        request=completions.ChatRequest("m", ()),
        prompt=completions.PromptVersion.objects.first(),
        purpose="topic",
        sample=0,
    )
    completions.ledger.begin(run=claim.run, step=claim.step, lease=claim.lease, call=call, estimate=5)
    assert Step.objects.get(pk=claim.step.pk).leased_until > soon


def test_what_was_in_flight_when_a_run_was_cancelled_is_settled_in_time(gateway):
    run = start()
    claim = engine._claim(run.pk)
    call = completions.ledger.open_call(
        run=claim.run,
        step=claim.step,
        request=completions.ChatRequest("m", ()),
        prompt=completions.PromptVersion.objects.first(),
        purpose="topic",
        sample=0,
    )
    completions.ledger.begin(run=claim.run, step=claim.step, lease=claim.lease, call=call, estimate=70)
    runs.control(by=None, run=run, event=RunEvent.CANCEL)
    engine.sweep()
    assert CallAttempt.objects.get().state == "sent"  # its answer may still come
    CallAttempt.objects.update(sent_at=timezone.now() - timedelta(hours=1))
    engine.sweep()
    assert CallAttempt.objects.get().state == "lost"
    run = Run.objects.get(pk=run.pk)
    assert (run.tokens, run.tokens_held) == (70, 0)
    assert balanced(run)


def test_a_cancelled_run_leaves_no_thread_running(gateway):
    run = start(threads=2)
    for _ in range(4):
        engine.advance(run_id=run.pk, work=Simulation())
    runs.control(by=None, run=run, event=RunEvent.CANCEL)
    assert set(run.run_threads.values_list("state", flat=True)) <= {"partial", "failed", "done"}
    assert run.run_threads.first().reason == "the run was cancelled"


def test_a_thread_that_was_imported_meanwhile_under_the_planned_name_does_no_harm(gateway):
    corpus = CorpusFactory()
    run = start(corpus)
    ThreadFactory(corpus=corpus, external_id="thread_age_1")
    assert work_off(run).state == "done"
    assert corpus.threads.filter(external_id="thread_age_1_2", source="simulated").count() == 1


def test_a_withdrawn_comment_is_neither_answered_nor_shown_to_a_model(gateway):
    run = start()
    engine.advance(run_id=run.pk, work=Simulation())
    Comment.objects.filter(corpus=run.corpus).update(state="withdrawn")
    asked = len(gateway.asked)
    run = work_off(run)
    assert run.state == "done"
    assert len(gateway.asked) == asked
    assert set(run.steps.exclude(kind="topic").values_list("reason", flat=True)) == {"withdrawn"}


@committing
def test_messages_are_as_many_as_the_steps_that_were_planned(gateway, monkeypatch):
    sent = []
    monkeypatch.setattr(engine, "_send", lambda *fields: sent.append(fields[3]))
    run = start(parameters=Parameters(rounds=1, actions=2, profiles_asked=4))
    engine.advance(run_id=run.pk, work=Simulation())
    assert sent[-1] == 4  # as many as are asked
    engine.advance(run_id=run.pk, work=Simulation())
    assert sent[-1] == 1


def test_a_comment_of_which_nothing_can_be_inferred_is_not_asked_about_again(gateway):
    run = work_off(start())
    gateway.answers = lambda *_: reply('{"tags": []}')
    fields = {"by": None, "corpus": run.corpus, "provider": run.provider, "model": "scripted"}
    caps = {"max_calls": 500, "max_tokens": 10**6}
    work_off(start_tagging(name="first", **fields, **caps), Tagging())
    assert not Suggestion.objects.exists()
    with pytest.raises(BadPlan, match="no comment to tag"):
        start_tagging(name="second", only_untagged=True, **fields, **caps)
    assert start_tagging(name="all again", **fields, **caps).steps.count() == run.corpus.comments.count()
