"""The ledger of a run: its caps, its leases, and what of a call is never done twice."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from simulation.domain.plans import BadPlan
from simulation.domain.run_states import RunEvent
from simulation.llm.messages import ChatRequest, Usage
from simulation.models import CallAttempt, ModelCall, PromptVersion, Run, Step
from simulation.services import engine, ledger, steering, sweeping
from simulation.services.simulating import Simulation
from tests.fakes.llm import sensible
from tests.running import balanced, committing, start, work_off

pytestmark = pytest.mark.django_db


def asked(claim, *, tokens):
    """A question that may take so many tokens."""
    return ledger.Asked(
        request=ChatRequest("m", ()),
        key="0" * 64,
        sample=0,
        purpose="topic",
        prompt=PromptVersion.objects.first(),
        provider=claim.run.provider,
        price=None,
        tokens_in=tokens,
        tokens_out=0,
    )


def test_the_hard_cap_on_calls_stops_the_run_and_can_be_raised(gateway):
    run = work_off(start(max_calls=3))
    assert (run.state, run.calls, len(gateway.asked)) == ("halted", 3, 3)
    assert "cap of 3 calls" in run.reason
    steering.raise_caps(by=None, run=run, max_calls=500, max_tokens=10**6)
    steering.control(by=None, run=run, event=RunEvent.RESUME)
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
        steering.raise_caps(by=None, run=run, max_calls=2, max_tokens=10**6)


def test_a_call_with_a_kept_reply_is_not_made_again(gateway):
    class Dies(Simulation):
        """Its worker ends between the ledger and the step, as where a second question follows the first."""

        def perform(self, claim, asker):
            super().perform(claim, asker)
            asker.flush()
            raise KeyboardInterrupt

    run = start()
    with pytest.raises(KeyboardInterrupt):
        engine.advance(run_id=run.pk, work=Dies())
    Step.objects.filter(run=run).update(leased_until=timezone.now() - timedelta(seconds=1))
    sweeping.sweep()
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
    sweeping.sweep()
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
        sweeping.sweep()
        work_off(run)
        return sensible(request, attempt)

    gateway.answers = slow
    engine.advance(run_id=run.pk, work=Simulation())
    run = Run.objects.get(pk=run.pk)
    assert run.state == "done"
    assert run.corpus.threads.count() == 1
    assert CallAttempt.objects.filter(call__run=run, state="lost").count() == 1
    assert balanced(run)


def test_a_call_that_a_former_holder_answered_meanwhile_is_not_sent_again(gateway, monkeypatch):
    run = start()
    claim = engine._claim(run.pk)
    begin = ledger.begin

    def answered_meanwhile(**fields):
        asked = fields["asked"]
        ModelCall.objects.create(
            run=run,
            step=claim.step,
            key=asked.key,
            prompt=asked.prompt,
            provider=asked.provider,
            model="scripted",
            request=asked.request.as_dict(),
            state="done",
            reply=sensible(asked.request, 0).as_dict(),
        )
        return begin(**fields)

    monkeypatch.setattr(ledger, "begin", answered_meanwhile)
    engine._do(claim, Simulation(), go_on=False)
    assert gateway.asked == []
    assert run.steps.get(kind="topic").state == "done"
    assert balanced(run)


def test_every_call_prolongs_the_lease(gateway):
    run = start()
    claim = engine._claim(run.pk)
    soon = timezone.now() + timedelta(seconds=1)
    Step.objects.filter(pk=claim.step.pk).update(leased_until=soon)
    ledger.begin(run=claim.run, step=claim.step, lease=claim.lease, asked=asked(claim, tokens=5))
    assert Step.objects.get(pk=claim.step.pk).leased_until > soon


def test_what_was_in_flight_when_a_run_was_cancelled_is_settled_in_time(gateway):
    run = start()
    claim = engine._claim(run.pk)
    ledger.begin(run=claim.run, step=claim.step, lease=claim.lease, asked=asked(claim, tokens=70))
    steering.control(by=None, run=run, event=RunEvent.CANCEL)
    sweeping.sweep()
    assert CallAttempt.objects.get().state == "sent"  # its answer may still come
    CallAttempt.objects.update(sent_at=timezone.now() - timedelta(hours=1))
    sweeping.sweep()
    assert CallAttempt.objects.get().state == "lost"
    run = Run.objects.get(pk=run.pk)
    assert (run.tokens, run.tokens_held) == (70, 0)
    assert balanced(run)


@committing
def test_a_run_whose_row_somebody_holds_does_not_keep_the_sweep_from_others(gateway):
    held, other = start(), start()
    for run in (held, other):
        engine._claim(run.pk)
    Step.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    taken, swept = threading.Event(), threading.Event()

    def hang():
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=held.pk)
            taken.set()
            swept.wait(30)
        connection.close()

    hand = threading.Thread(target=hang)
    hand.start()
    taken.wait(30)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '5s'")  # a sweep that waits for the row fails instead of hanging
    try:
        sweeping.sweep()
    finally:
        swept.set()
        hand.join()
        connection.close()
    assert set(other.steps.values_list("state", flat=True)) == {"ready"}
    assert set(held.steps.values_list("state", flat=True)) == {"leased"}
    sweeping.sweep()
    assert set(held.steps.values_list("state", flat=True)) == {"ready"}


def test_what_is_set_aside_for_calls_in_flight_makes_others_wait_and_does_not_halt(gateway):
    run = start(threads=2, max_tokens=2000)
    first, second = engine._claim(run.pk), engine._claim(run.pk)
    Run.objects.filter(pk=run.pk).update(tokens_held=1500)  # for the first, whose answer is on its way
    engine._do(second, Simulation(), go_on=False)
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.calls) == ("running", 0)
    assert run.steps.get(pk=second.step.pk).due_at > timezone.now()
    Run.objects.filter(pk=run.pk).update(tokens_held=0, tokens=1500)  # it came, and cost all of it
    engine._do(first, Simulation(), go_on=False)
    assert Run.objects.get(pk=run.pk).state == "halted"
