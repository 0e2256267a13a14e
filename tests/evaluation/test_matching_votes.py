"""A judge votes several times within one run: calls, the verdict kept, missing votes, the share of splits."""

import pytest
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string
from django.urls import reverse

from evaluation.models import Opinion, Question
from evaluation.selectors.matching import judge_health, split_votes
from evaluation.selectors.matching_parts import Part, Size, Which
from evaluation.services.matching import Matching
from evaluation.services.matching_forecast import calls_of, forecast
from evaluation.services.matching_prompts import asked_about
from simulation.domain.plans import BadPlan, RoleModel
from simulation.models import ModelCall, Run, Step
from simulation.services import engine
from simulation.services.asking import drawn_seed
from simulation.services.completions import Asker
from tests.evaluation.judges import ask, judged, saying, scores
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import ProviderFactory
from tests.fakes.llm import reply
from tests.running import balanced, work_off

pytestmark = pytest.mark.django_db


def in_turn(*answers):
    """A judge whose n-th vote on a truth is the n-th answer, whatever their seeds."""
    seen = {}

    def answer(request, attempt):
        seeds = seen.setdefault(request.messages[-1].content, [])
        if request.seed not in seeds:
            seeds.append(request.seed)
        return answers[seeds.index(request.seed) % len(answers)](request, attempt)

    return answer


def unreadable(request, attempt):
    return reply("", refusal="I cannot do that.")


def test_three_votes_are_three_calls_and_one_opinion(gateway, asked):
    gateway.answers = in_turn(
        saying({"bus man": "yes", "coach driver": "yes", "medic": "yes"}),
        saying({"bus man": "yes", "coach driver": "less precise", "medic": "yes"}),
        saying({"bus man": "no", "medic": "yes"}),
    )
    run = judged(asked, votes=3)
    assert (run.state, run.steps.count(), run.calls, run.plan["votes"]) == ("done", 2, 6, 3)
    assert run.plan["part"].endswith("; 3 votes on each")
    assert scores(run) == {"bus man": 1, "coach driver": 0, "pilot": 0, "medic": 1}
    assert Opinion.objects.count() == 4
    assert ModelCall.objects.filter(run=run).values("step", "key").distinct().count() == 6
    share = split_votes(run)
    assert (share.hits, share.n) == (2, 4)
    assert set(run.steps.values_list("result__votes", "result__unreadable_votes")) == {(3, 0)}
    # The vote behind the opinions is the one that says the same most often: the second of three here.
    said = Opinion.objects.filter(question__truth="bus driver").values_list("call", flat=True)
    assert len(set(said)) == 1
    assert balanced(run)
    (health,) = judge_health(asked)
    assert (health.split.hits, health.split.n, health.flips.n) == (2, 4, 0)
    page = " ".join(render_to_string("evaluation/_judge_health.html", {"health": [health]}).split())
    assert '"split"><b>50.0 %</b> <small class="muted">2 of 4' in page


def test_a_missing_vote_is_no_vote_and_two_of_three_still_decide(gateway, asked):
    gateway.answers = in_turn(unreadable, saying({"medic": "yes"}), saying({"medic": "less precise"}))
    run = judged(asked, votes=3)
    assert scores(run) == {"bus man": 0, "coach driver": 0, "pilot": 0, "medic": 0.5}
    assert set(run.steps.values_list("state", "result__unreadable_votes")) == {("done", 1)}
    assert (split_votes(run).hits, split_votes(run).n) == (1, 4)


def test_too_few_votes_leave_the_questions_open(gateway, asked):
    gateway.answers = in_turn(unreadable, saying({"medic": "yes"}), unreadable)
    run = judged(asked, votes=3)
    assert set(run.steps.values_list("state", "reason")) == {("skipped", "refused")}
    assert set(scores(run).values()) == {None}
    assert not Question.objects.exclude(state="open").exists()
    assert split_votes(run).n == 0
    (health,) = judge_health(asked)
    assert (health.unsaid.hits, health.unsaid.n, health.split.percent) == (4, 4, None)


def test_one_vote_asks_what_was_always_asked(asked):
    run = ask(asked)
    old = {key: value for key, value in run.plan.items() if key != "votes"}
    step = run.steps.order_by("pk").first()
    rows = list(Question.objects.filter(pk__in=step.asks["questions"]).order_by("pk"))
    assert asked_about(run, step, rows).seed == drawn_seed(run, step)
    Run.objects.filter(pk=run.pk).update(plan=old)  # as it was frozen before there were votes
    run = work_off(Run.objects.get(pk=run.pk), Matching())
    assert (run.state, run.calls, split_votes(run).n) == ("done", 2, 0)
    assert not {"votes", "split", "unreadable_votes"} & set(run.steps.first().result)


def test_what_was_voted_is_not_asked_again(asked):
    run = ask(asked, votes=5)
    claim = engine._claim(run.pk)
    asker = Asker(claim.run, claim.step, claim.lease, lambda: None)
    Matching().perform(claim, asker)
    asker.flush()
    # The worker died before it ended the step: another one takes it up and ends it.
    Step.objects.filter(pk=claim.step.pk).update(state="ready", lease=None, leased_until=None)
    run = work_off(run, Matching())
    assert (run.state, run.calls, Opinion.objects.count()) == ("done", 10, 4)
    assert balanced(run)


def test_a_judge_with_a_seed_of_its_own_votes_with_others_too(gateway, asked):
    judged(asked, votes=3, model=RoleModel("scripted", 0.0, max_tokens=600, seed=7))
    assert {request.seed for request, _ in gateway.asked} == {7, 9, 11}


@pytest.mark.parametrize("votes", [0, 2, 7])
def test_other_numbers_start_nothing(asked, votes):
    with pytest.raises(BadPlan, match="1, 3 or 5") as error:
        ask(asked, votes=votes)
    assert error.value.field == "votes"
    assert not Run.objects.exists()


def test_the_forecast_grows_with_the_votes():
    size = Size(questions=40, calls=10)
    assert (calls_of(size).low, calls_of(size, 3).low, calls_of(size, 3).high) == (10, 30, 36)
    assert forecast(size, 5).tokens_high == 60 * 420 + 40 * 5 * 18 * 6 // 5
    assert calls_of(Size(0, 0), 5).high == 0


def test_over_the_wire_every_question_is_decided_or_open(served, corpus):
    for truth in range(12):
        QuestionFactory(corpus=corpus, truth=f"driver {truth}", guess="pilot")
    run = judged(corpus, provider=served("refused=0.4"), votes=3)
    lost = run.steps.filter(state="skipped").count()
    assert run.state == "done"
    assert 0 < lost < 12
    assert Question.objects.filter(state="open").count() == lost
    assert split_votes(run).n == 12 - lost
    assert balanced(run)


def test_the_form_offers_votes_and_starts_with_them(client_of, admin, asked, monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    ProviderFactory(name="rules")
    browser, where = client_of(admin), reverse("matching_new", args=[asked.public_id])
    page = browser.get(where)
    form = page.context["form"]
    sent = {name: form[name].value() for name in form.fields} | {"votes": "3"}
    sent = {name: value for name, value in sent.items() if value is not None}
    proposed = browser.post(where, sent)
    assert (proposed.status_code, proposed.context["dry"].calls_low) == (422, 6)
    form = proposed.context["form"]
    sent |= {name: form[name].value() for name in form.fields if form[name].value() is not None}
    assert browser.post(where, sent).status_code == 302
    assert Run.objects.get().plan["votes"] == 3
    assert browser.post(where, sent | {"votes": "2", "form": ""}).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_the_command_takes_votes(corpus, capsys, gateway):
    provider = ProviderFactory(name="rules")
    QuestionFactory(corpus=corpus, guess="bus man")
    gateway.answers = saying({"bus man": "yes"})
    options = ["judge_guesses", "--corpus", corpus.name, "--provider", provider.name, "--model", "scripted"]
    call_command(*options, "--votes", "3", "--dry-run")
    assert "calls_low      3" in capsys.readouterr().out
    call_command(*options, "--votes", "3", "--here", "1")
    assert "votes_split" in capsys.readouterr().out
    assert (Run.objects.get().calls, Run.objects.get().plan["votes"]) == (3, 3)
    with pytest.raises(CommandError, match="invalid choice"):
        call_command(*options, "--votes", "2")
    assert judged(corpus, part=Part(Which.AGAIN)).calls == 1
