"""What becomes of every kind of answer, and of every kind of trouble with a provider."""

import functools
from dataclasses import replace

import pytest
from django.utils import timezone

from simulation.domain.parameters import Parameters
from simulation.domain.run_states import RunEvent
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import Finish, Form, Usage
from simulation.models import ModelCall
from simulation.services import engine, steering
from simulation.services.simulating import Simulation
from tests.fakes.llm import purpose, reply, sensible
from tests.running import balanced, start, work_off

pytestmark = pytest.mark.django_db


def test_a_wrong_key_halts_at_once_with_the_provider_s_words(gateway):
    gateway.answers = lambda *_: LLMError(Trouble.PERMANENT, "Incorrect API key provided", status=401)
    run = work_off(start(threads=3))
    assert (run.state, len(gateway.asked)) == ("halted", 1)
    assert "Incorrect API key provided" in run.reason
    gateway.answers = sensible
    steering.control(by=None, run=run, event=RunEvent.RESUME)
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
    steering.control(by=None, run=run, event=RunEvent.RESUME)
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


@pytest.mark.parametrize("first", [Finish.STOP, Finish.LENGTH])
def test_a_question_that_is_too_long_does_not_halt_a_run_whose_other_answers_were_no_good(gateway, first):
    """An answer that cannot be used was an answer: the provider takes this kind of question."""

    def answers(request, attempt):
        if purpose(request) != "turn":
            return sensible(request, attempt)
        if gateway.purposes().count("turn") > 1:
            return LLMError(Trouble.PERMANENT, "exceeds the available context size", status=400)
        return reply("words only", finish=first)

    gateway.answers = answers
    run = work_off(start())
    assert run.state == "done"
    assert run.steps.filter(kind="turn", state="skipped").count() > 1


def test_a_kind_of_question_that_no_provider_takes_halts_the_run(gateway):
    gateway.answers = lambda request, attempt: (
        LLMError(Trouble.PERMANENT, "unknown parameter", status=400)
        if purpose(request) == "turn"
        else sensible(request, attempt)
    )
    run = work_off(start())
    assert run.state == "halted"
    assert "unknown parameter" in run.reason
