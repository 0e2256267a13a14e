"""Runs carried out step by step: from the plan to the last comment, and what people may do meanwhile."""

import threading

import pytest

from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan
from simulation.domain.run_states import NotPossible, RunEvent
from simulation.models import AuditEntry, CallAttempt, Comment, ModelCall, Run
from simulation.selectors.progress import corpus_digest, progress
from simulation.services import engine, steering
from simulation.services.simulating import Simulation
from tests.factories.simulation import CorpusFactory, ThreadFactory
from tests.fakes.llm import purpose, reply, sensible
from tests.running import balanced, committing, in_thread, start, work_off

pytestmark = pytest.mark.django_db


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


@committing
def test_pause_lets_the_call_in_flight_finish_and_begins_none(gateway):
    run = start()

    def paused_meanwhile(request, attempt):
        steering.control(by=None, run=run, event=RunEvent.PAUSE)
        return sensible(request, attempt)

    gateway.answers = paused_meanwhile
    engine.advance(run_id=run.pk, work=Simulation())
    assert run.steps.get(kind="topic").state == "done"
    assert not engine.advance(run_id=run.pk, work=Simulation())
    gateway.answers = sensible
    steering.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"


@committing
def test_cancelling_ends_the_run_at_once_and_a_late_answer_stays_in_the_ledger(gateway):
    run = start()

    def cancelled_meanwhile(request, attempt):
        steering.control(by=None, run=run, event=RunEvent.CANCEL)
        return sensible(request, attempt)

    gateway.answers = cancelled_meanwhile
    engine.advance(run_id=run.pk, work=Simulation())
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.corpus.comments.count()) == ("cancelled", 0)
    assert ModelCall.objects.get(run=run).state == "done"
    with pytest.raises(NotPossible):
        steering.control(by=None, run=run, event=RunEvent.RESUME)
    assert balanced(run)


def test_a_cancelled_run_leaves_no_thread_running(gateway):
    run = start(threads=2)
    for _ in range(4):
        engine.advance(run_id=run.pk, work=Simulation())
    steering.control(by=None, run=run, event=RunEvent.CANCEL)
    assert set(run.run_threads.values_list("state", flat=True)) <= {"partial", "failed", "done"}
    assert run.run_threads.first().reason == "the run was cancelled"


def test_an_error_of_ours_fails_the_run_after_three_times(gateway, caplog):
    class Broken(Simulation):
        def ends_alone(self, step):
            return False

        def record(self, claim, outcome):
            raise ZeroDivisionError

    run = start()
    run = work_off(run, Broken())
    assert run.state == "failed"
    assert run.steps.get().faults == 3
    assert len(gateway.asked) == 1  # the answer was kept the first time
    assert "step t0/topic broke" in caplog.text


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
    monkeypatch.setattr(engine, "ask_for_hands", lambda *fields: sent.append(fields[3]))
    run = start(parameters=Parameters(rounds=1, actions=2, profiles_asked=4))
    engine.advance(run_id=run.pk, work=Simulation())
    assert sent[-1] == 1  # four are asked, and one hand asks them in one go
    engine.advance(run_id=run.pk, work=Simulation())
    assert sent[-1] == 1
