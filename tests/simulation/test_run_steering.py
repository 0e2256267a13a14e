"""Going one turn, trying again, and runs that come from runs: replay, another sample, fork."""

import json
import uuid
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.services import following
from annotation.services.tagging import Tagging, start_tagging
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, RoleModel, published_models
from simulation.domain.run_states import NotPossible, RunEvent
from simulation.llm.messages import Finish
from simulation.models import CallAttempt, Comment, CommentEdit, Corpus, ModelCall, Run, Step
from simulation.selectors.progress import run_digest
from simulation.services import descending, engine, steering, sweeping
from simulation.services.simulating import Simulation
from tests.factories.simulation import CommentFactory, CorpusFactory, ProviderFactory, ThreadFactory
from tests.fakes.llm import purpose, reply, sensible
from tests.running import balanced, committing, start, work_off

pytestmark = pytest.mark.django_db

CAPS = {"max_calls": 500, "max_tokens": 10**7, "soft_cost": None, "max_cost": None}


def refuses_turns(request, attempt):
    """Every reply is refused; posts and interest are as ever."""
    if purpose(request) == "turn":
        return reply("", finish=Finish.FILTER)
    return sensible(request, attempt)


def test_one_turn_at_a_time(gateway):
    run = start(threads=2)
    Run.objects.filter(pk=run.pk).update(state="paused")
    for expected in (1, 2, 3):
        steering.control(by=None, run=Run.objects.get(pk=run.pk), event=RunEvent.STEP)
        run = work_off(run)
        assert run.state == "paused"
        assert Comment.objects.filter(thread__run_thread__run=run).count() == expected
    assert run.run_threads.filter(thread__isnull=False).count() == 1  # the second thread waits its turn
    steering.control(by=None, run=run, event=RunEvent.RESUME)
    assert work_off(run).state == "done"


def test_failed_steps_are_tried_again_with_another_draw_and_keep_their_place(gateway):
    gateway.answers = refuses_turns
    run = work_off(start())
    assert run.state == "done"
    skipped = run.steps.filter(kind="turn", state="skipped")
    assert skipped.count() >= 1
    numbers = set(skipped.values_list("number", flat=True))
    seeds = {call.request["seed"] for call in ModelCall.objects.filter(run=run, purpose="turn")}
    gateway.answers = sensible
    assert steering.retry(by=None, run=run, reason="refused") == len(numbers)
    run = work_off(run)
    assert (run.state, run.steps.filter(state="skipped").count()) == ("done", 0)
    assert run.run_threads.get().state == "done"
    again = ModelCall.objects.filter(run=run, purpose="turn", state="done")
    assert not seeds & {call.request["seed"] for call in again}
    assert ModelCall.objects.filter(run=run, purpose="turn", state="refused").count() == len(seeds)
    assert balanced(run)


def test_what_cannot_be_tried_again_is_said(gateway):
    run = work_off(start())
    with pytest.raises(NotPossible, match="no step"):
        steering.retry(by=None, run=run)
    other = start()
    steering.control(by=None, run=other, event=RunEvent.CANCEL)
    with pytest.raises(NotPossible, match="stopped"):
        steering.retry(by=None, run=other)


def test_a_replay_makes_no_call_and_has_the_same_digest(gateway):
    run = work_off(start(threads=3))
    asked = len(gateway.asked)
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert (made.state, made.calls, made.cost, len(gateway.asked)) == ("done", 0, 0, asked)
    assert run_digest(made) == run_digest(run)
    assert made.corpus.name == "once more"
    kept = ModelCall.objects.filter(run=made)
    assert kept.count() == ModelCall.objects.filter(run=run).count()
    assert all(call.replayed_from_id for call in kept)


def test_a_replay_of_a_run_whose_steps_were_tried_again_has_the_same_digest(gateway):
    gateway.answers = refuses_turns
    run = work_off(start(threads=2))
    gateway.answers = sensible
    steering.retry(by=None, run=run)
    run = work_off(run)
    assert run.steps.filter(tries=1).exists()
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert (made.state, made.calls) == ("done", 0)
    assert run_digest(made) == run_digest(run)


def test_a_replay_stops_where_the_ledger_has_no_answer(gateway):
    run = work_off(start())
    ModelCall.objects.filter(run=run, purpose="turn").update(key="0" * 64)
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert (made.state, made.calls) == ("halted", 0)
    assert "no answer for step t0/turn" in made.reason


def test_a_profile_edited_later_changes_neither_the_run_nor_its_replay(gateway):
    run = start()
    run.corpus.profiles.update(facts={"age": 99, "occupation": "astronaut"})
    run = work_off(run)
    assert "astronaut" not in json.dumps([call.request for call in run.model_calls.all()])
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert run_digest(made) == run_digest(run)


def test_a_replay_needs_a_free_name_and_a_run_that_is_over(gateway):
    run = start()
    with pytest.raises(BadPlan, match="done"):
        descending.replay(by=None, run=run, corpus_name="x")
    run = work_off(run)
    with pytest.raises(BadPlan, match="already"):
        descending.replay(by=None, run=run, corpus_name=run.corpus.name)
    assert Corpus.objects.count() == 1


def test_another_sample_has_the_same_plan_and_other_words(gateway):
    run = work_off(start(threads=2))
    made = work_off(descending.rerun(by=None, run=run, **CAPS))
    assert (made.state, made.sample, made.source) == ("done", 1, run)
    plan = [[one.target, one.author_id, one.asked] for one in run.run_threads.all()]
    assert [[one.target, one.author_id, one.asked] for one in made.run_threads.all()] == plan
    texts = set(
        Comment.objects.filter(thread__run_thread__run=run, depth__gt=0).values_list("text", flat=True)
    )
    others = set(
        Comment.objects.filter(thread__run_thread__run=made, depth__gt=0).values_list("text", flat=True)
    )
    assert texts
    assert not texts & others
    third = descending.rerun(by=None, run=made, **CAPS)
    assert (third.sample, third.source) == (2, run)
    assert balanced(made)


def test_a_fork_copies_up_to_a_turn_and_goes_on_from_there(gateway):
    run = work_off(start(threads=1))
    thread = run.run_threads.get()
    turns = thread.steps.filter(kind="turn").count()
    assert turns >= 3
    before = len(gateway.asked)
    made = descending.fork(by=None, run=run, thread=0, turn=2, name="what if", **CAPS)
    made = work_off(made)
    assert made.state == "done"
    own, old = made.run_threads.get(), thread
    copied = own.thread.comments.order_by("sequence")[:3]
    assert [one.text for one in copied] == [one.text for one in old.thread.comments.order_by("sequence")[:3]]
    assert [one.parent.text if one.parent else "" for one in copied] == [
        one.parent.text if one.parent else "" for one in old.thread.comments.order_by("sequence")[:3]
    ]
    assert made.calls == len(gateway.asked) - before
    assert not ModelCall.objects.filter(run=made, purpose__in=["topic", "interest"]).exists()
    assert own.thread.comments.count() == old.thread.comments.count()  # the same plan goes on
    later = {one.text for one in own.thread.comments.all()} - {one.text for one in copied}
    assert later
    assert not later & {one.text for one in old.thread.comments.all()}
    assert balanced(made)


def test_a_fork_at_the_end_and_one_of_the_post_alone(gateway):
    run = work_off(start(threads=1))
    turns = run.steps.filter(kind="turn").count()
    whole = work_off(descending.fork(by=None, run=run, thread=0, turn=turns, name="all of it", **CAPS))
    assert (whole.state, whole.calls) == ("done", 0)
    post = work_off(descending.fork(by=None, run=run, thread=0, turn=0, seed=99, name="the post", **CAPS))
    assert post.state == "done"
    assert post.calls > 0
    for wrong in (-1, turns + 1):
        with pytest.raises(BadPlan, match="turn"):
            descending.fork(by=None, run=run, thread=0, turn=wrong, name="no", **CAPS)
    with pytest.raises(BadPlan, match="thread"):
        descending.fork(by=None, run=run, thread=7, turn=0, name="no", **CAPS)


def test_the_pages_start_them(gateway, client_of, admin, researcher):
    run = work_off(start())
    client = client_of(admin)
    caps = {"max_cost": "1", "max_calls": "500", "max_tokens": "1000000"}
    for name, args, fields in (
        ("run_replay", [], {"corpus": "once more"}),
        ("run_rerun", [], caps),
        ("run_fork", ["1"], caps | {"name": "what if", "turn": "1"}),
    ):
        address = reverse(name, args=[run.public_id, *args])
        assert client.get(address).status_code == 200
        assert client_of(researcher).post(address, fields).status_code == 403
        answer = client.post(address, fields | {"form": str(uuid.uuid4())})
        assert answer.status_code == 302, answer.content.decode()
    origins = Run.objects.exclude(pk=run.pk).order_by("id").values_list("origin", flat=True)
    assert list(origins) == ["replay", "rerun", "fork"]
    late = caps | {"name": "x", "turn": "999", "form": str(uuid.uuid4())}
    wrong = client.post(reverse("run_fork", args=[run.public_id, "1"]), late)
    assert wrong.status_code == 422
    assert "A turn from 0 to" in wrong.content.decode()


@committing
def test_the_commands_do_the_same(gateway, capsys):
    run = work_off(start())
    call_command("repeat_run", "replay", run.public_id, "--here", "1", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["state"], said["calls"], said["origin"]) == ("done", 0, "replay")
    assert said["run_digest"] == said["source_digest"]
    other = start(threads=1)
    work_off(other, most=1)
    call_command("control_run", other.public_id, "pause", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "paused"
    call_command("control_run", other.public_id, "caps", "--max-cost", "2.50", "--soft-cost", "1")
    assert Run.objects.get(pk=other.pk).max_cost == 2_500_000_000
    call_command("control_run", other.public_id, "stop")
    assert Run.objects.get(pk=other.pk).state == "cancelled"


ROUNDS = Parameters(rounds=2, actions=3, profiles_asked=3)


@pytest.mark.parametrize("seed", range(5))
def test_a_replay_takes_up_what_was_tried_again_as_it_was_then(gateway, seed):
    """Some replies are refused, in long threads: after a retry new turns follow, which know of it."""
    asked = []

    def some_refused(request, attempt):
        if purpose(request) == "turn":
            asked.append(request)
            if len(asked) % 2:
                return reply("", finish=Finish.FILTER)
        return sensible(request, attempt)

    gateway.answers = some_refused
    run = work_off(start(seed=seed, parameters=ROUNDS, threads=2))
    while steering.retryable(run).exists():
        steering.retry(by=None, run=run)
        run = work_off(run)
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert (made.state, made.calls) == ("done", 0), made.reason
    assert run_digest(made) == run_digest(run)


def test_interest_checks_that_are_tried_again_are_replayed_together(gateway):
    gateway.answers = lambda request, attempt: (
        reply("", finish=Finish.FILTER) if purpose(request) == "interest" else sensible(request, attempt)
    )
    run = work_off(start())
    gateway.answers = sensible
    assert steering.retry(by=None, run=run) == 3
    run = work_off(run)
    assert run.steps.filter(kind="turn").exists()
    made = work_off(descending.replay(by=None, run=run, corpus_name="once more"))
    assert run_digest(made) == run_digest(run)


def test_turns_of_one_thread_that_are_tried_again_wait_for_each_other(gateway):
    gateway.answers = refuses_turns
    run = work_off(start(parameters=ROUNDS))
    gateway.answers = sensible
    assert steering.retry(by=None, run=run) > 1
    assert engine._claim(run.pk) is not None
    assert engine._claim(run.pk) is None


def test_what_a_replay_cannot_repeat_is_refused(gateway):
    stopped = start()
    engine.advance(run_id=stopped.pk, work=Simulation())
    steering.control(by=None, run=stopped, event=RunEvent.CANCEL)
    with pytest.raises(BadPlan, match="done"):
        descending.replay(by=None, run=Run.objects.get(pk=stopped.pk), corpus_name="x")
    edited = start()
    engine.advance(run_id=edited.pk, work=Simulation())
    CommentEdit.objects.create(
        comment=Comment.objects.get(thread__run_thread__run=edited), before="a", after="b"
    )
    edited = work_off(edited)
    with pytest.raises(BadPlan, match="edited or withdrawn"):
        descending.replay(by=None, run=edited, corpus_name="x")
    done = work_off(start())
    replayed = work_off(descending.replay(by=None, run=done, corpus_name="y"))
    with pytest.raises(NotPossible, match="repeats"):
        steering.retry(by=None, run=replayed)


def test_a_fork_of_a_fork_and_one_of_a_thread_that_is_still_asking(gateway):
    run = work_off(start())
    first = work_off(descending.fork(by=None, run=run, thread=0, turn=1, name="one", **CAPS))
    second = work_off(descending.fork(by=None, run=first, thread=0, turn=1, name="two", **CAPS))
    assert (second.state, second.steps.filter(kind="fork").count()) == ("done", 1)
    asking = start()
    engine.advance(run_id=asking.pk, work=Simulation())
    claim = engine._claim(asking.pk)
    assert claim is not None
    assert claim.step.kind == "interest"
    forked = work_off(descending.fork(by=None, run=asking, thread=0, turn=0, name="three", **CAPS))
    assert forked.state == "done"
    assert forked.steps.filter(kind="interest", state="done").count() == 3


def test_only_approved_profiles_enter_a_run_that_comes_from_another(gateway):
    run = work_off(start())
    run.corpus.profiles.filter(external_id="pers1").update(state="rejected")
    with pytest.raises(BadPlan, match="not approved: Author1"):
        descending.rerun(by=None, run=run, **CAPS)
    with pytest.raises(BadPlan, match="not approved: Author1"):
        descending.fork(by=None, run=run, thread=0, turn=0, name="x", **CAPS)


def test_a_model_of_a_fork_needs_a_price(gateway):
    run = work_off(start())
    run.provider.prices.create(
        model="scripted", input=1, output=1, valid_from="2020-01-01T00:00Z", source="person"
    )
    type(run.provider).objects.update(base_url="https://models.example.org/v1")
    with pytest.raises(BadPlan, match="No price is known"):
        descending.fork(
            by=None,
            run=Run.objects.get(pk=run.pk),
            thread=0,
            turn=1,
            name="x",
            models={"user": RoleModel("unheard-of")},
            **CAPS,
        )


def test_a_comment_id_that_an_import_has_taken_leads_to_another(gateway):
    run = start()
    planned = run.run_threads.get().external_id
    CommentFactory(thread=ThreadFactory(corpus=run.corpus), external_id=f"{planned}-001")
    run = work_off(run)
    assert run.state == "done"
    assert run.run_threads.get().external_id == f"{planned}_2"


def test_what_a_dead_worker_holds_in_a_paused_run_comes_back(gateway):
    class Dies(BaseException):
        """The end of a process."""

    def dies(request, attempt):
        raise Dies

    run = start()
    gateway.answers = dies
    with pytest.raises(Dies):
        engine.advance(run_id=run.pk, work=Simulation())
    steering.control(by=None, run=run, event=RunEvent.PAUSE)
    later = timezone.now() - timedelta(hours=1)
    Step.objects.filter(run=run, state="leased").update(leased_until=later)
    CallAttempt.objects.filter(call__run=run).update(sent_at=later)
    sweeping.sweep()
    sweeping.sweep()
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.tokens_held) == ("paused", 0)
    assert CallAttempt.objects.get(call__run=run).state == "lost"
    assert balanced(run)


def test_one_turn_in_a_run_without_threads_is_one_step(gateway):
    corpus = CorpusFactory()
    for number in range(4):
        CommentFactory(thread=ThreadFactory(corpus=corpus), text=f"I turned {20 + number}.")
    run = start_tagging(
        by=None,
        corpus=corpus,
        name="tags",
        provider=ProviderFactory(),
        model="scripted",
        max_calls=50,
        max_tokens=10**6,
    )
    Run.objects.filter(pk=run.pk).update(state="paused")
    steering.control(by=None, run=run, event=RunEvent.STEP)
    assert engine._claim(run.pk) is not None
    assert engine._claim(run.pk) is None


def test_the_caps_of_a_simulation_hold_for_it_and_its_tags_when_it_is_tried_again(gateway):
    gateway.answers = refuses_turns
    run = work_off(start(then_tag=True, tagger=published_models("scripted")["tagger"], max_calls=40))
    gateway.answers = sensible
    (tags,) = following.follow_simulations()
    assert tags.max_calls == 40 - run.calls
    steering.retry(by=None, run=run)
    run.refresh_from_db()
    assert run.max_calls + tags.max_calls <= 40
    tags = work_off(tags, work=Tagging())
    run = work_off(run)
    assert run.calls + Run.objects.get(pk=tags.pk).calls <= 40
