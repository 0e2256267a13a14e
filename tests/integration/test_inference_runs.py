"""Inference runs over a real socket, by real workers: killed, short of money, refused; nothing is made up."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from decimal import Decimal
from typing import NamedTuple

import pytest
from django.conf import settings
from django.urls import reverse

from evaluation.models import LabelSet, Prediction, PredictionRun, Scoring, Verdict
from evaluation.services.inferring import Wish, outcomes, start_inference
from evaluation.tasks import follow_inferences
from simulation.domain.plans import RoleModel
from simulation.domain.run_states import RunEvent
from simulation.llm.messages import ChatRequest
from simulation.llm.openai_wire import fields_of
from simulation.llm.serving.faults import Fault, Faults, digest_of
from simulation.models import CallAttempt, Corpus, Provider, Run
from simulation.services import prices, steering
from simulation.services.spending import said
from tests.evaluation.board_scene import words
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory
from tests.integration.conftest import wait_until
from tests.integration.test_kill_workers import check_endpoint, check_lost
from tests.integration.test_run_survives import (
    JOBS,
    attempts,
    await_with_sweeps,
    check_none_repeated,
    finish,
    kill_in_flight,
    progress,
    serving,
)
from tests.running import balanced

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

AUTHORS = 30
TROUBLE = "429=0.03,500=0.03,cut=0.03,refused=0.22,malformed=0.25"
FAULTS = Faults.parse(TROUBLE, seed=3)
"""As `serving` seeds them."""


def labelled(corpus: Corpus) -> LabelSet:
    """Thirty authors who give away age and occupation; every third is labelled with the age alone."""
    labels = LabelSetFactory(corpus=corpus, name="truth")
    for number in range(AUTHORS):
        job = JOBS[number % len(JOBS)]
        author = ProfileFactory(corpus=corpus, username=f"Author{number:02d}")
        text = f"I turned {21 + number} in spring; speaking as a {job}, buses are grim."
        CommentFactory(thread__corpus=corpus, profile=author, text=text)
        ProfileLabelFactory(label_set=labels, profile=author, value=str(21 + number))
        if number % 3:
            ProfileLabelFactory(label_set=labels, profile=author, attribute="occupation", value=job)
    return labels


def ask(labels: LabelSet, provider: Provider, **options: object) -> PredictionRun:
    wish = {"name": "who is it", "model": RoleModel("scripted", 0.1), "labels": labels, "parallel": 4}
    return start_inference(labels.corpus, Wish(provider=provider, **{**wish, **options}), by=None)


def price(provider: Provider) -> None:
    """Dollars for a million tokens."""
    prices.set_price(by=None, provider=provider, model="scripted", input=Decimal(1), output=Decimal(2))


def told_of(into: PredictionRun) -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Author and attribute -> outcome and guesses; the test ends where one is there twice."""
    rows = into.rows.values_list("profile__username", "attribute", "outcome", "guesses")
    found = {(who, attribute): (outcome, tuple(guesses)) for who, attribute, outcome, guesses in rows}
    assert len(found) == len(rows)
    return found


def wanted(labels: LabelSet) -> set[tuple[str, str]]:
    return set(labels.rows.values_list("profile__username", "attribute"))


class Answer(NamedTuple):
    """What the endpoint made of its last answer about an author."""

    fault: Fault | None
    asked: tuple[str, ...]


def answers(run: Run) -> dict[int, Answer]:
    """Author (key) -> the fault by which the endpoint spoilt what was answered, from its own draw."""
    found: dict[int, Answer] = {}
    sent = CallAttempt.objects.filter(call__run=run, state="answered").select_related("call__step")
    for one in sent.order_by("pk"):
        step = one.call.step
        digest = digest_of(fields_of(ChatRequest.from_dict(one.call.request)))
        found[step.asks["author"]] = Answer(FAULTS.of(digest, one.number), tuple(step.asks["attributes"]))
    return found


def check_outcomes(into: PredictionRun) -> Counter[str]:
    """Every row says what the endpoint did to its answer. How many refused and unparsed ones there are."""
    assert into.run is not None
    rows: dict[int, dict[str, Prediction]] = defaultdict(dict)
    for row in into.rows.select_related("profile"):
        rows[row.profile_id][row.attribute] = row
    drawn = answers(into.run)
    assert set(rows) == set(drawn)
    spoilt: Counter[str] = Counter()
    for author, (fault, asked) in drawn.items():
        for attribute, row in rows[author].items():
            outcome = Prediction.ANSWERED
            if fault is Fault.REFUSED:
                outcome = Prediction.REFUSED
            elif fault is Fault.MALFORMED and attribute == asked[-1]:  # the last line is cut off: its guesses
                outcome = Prediction.UNPARSED
            assert row.outcome == outcome, (row.profile.username, attribute, fault, row.detail)
            assert bool(row.guesses) is (outcome == Prediction.ANSWERED)
            spoilt.update([outcome] if outcome != Prediction.ANSWERED else [])
    return spoilt


def scored_by_the_clock(into: PredictionRun) -> Scoring:
    """As the clock does it: a message, which a worker takes."""
    (entry,) = (
        one for one in settings.CELERY_BEAT_SCHEDULE.values() if one["task"] == follow_inferences.name
    )
    assert entry["schedule"] <= 60
    follow_inferences.delay()
    wait_until(lambda: into.scorings.filter(verdicts__gt=0).exists(), what="the scoring")
    return into.scorings.get()


def test_a_run_whose_worker_is_killed_twice_has_one_prediction_of_everything_asked(worker):
    labels = labelled(CorpusFactory())
    with serving(worker, faults=TROUBLE, lease=2, latency=0.2) as served:
        price(served.provider)
        served.start_worker(concurrency=4)
        into = ask(labels, served.provider, repair=True)  # what cannot be read is asked once more
        for after in (4, 14):
            kill_in_flight(served, into.run, after=after)
        run = finish(into.run)
        check_endpoint(run, served.server, Counter())
        check_none_repeated(run, served.answers())
        made = scored_by_the_clock(into)
    into.refresh_from_db()
    found = told_of(into)
    assert set(found) == wanted(labels)
    assert (into.predictions, into.profiles) == (len(found), AUTHORS) == (50, 30)
    assert all(
        guesses[0] == str(21 + int(who[-2:]))
        for (who, attribute), (outcome, guesses) in found.items()
        if (attribute, outcome) == ("age", "answered")
    )
    check_outcomes(into)
    check_lost(run)
    assert attempts(run, "lost") >= 2
    assert run.happenings.filter(text__endswith="gone; taken up again.").exists()
    assert (made.label_set, made.mode, made.verdicts) == (labels, Scoring.DEFAULT, len(found))
    assert made.scored_at >= run.ended_at
    assert run.happenings.filter(text__startswith="Scored against truth: 50 labels").exists()


def test_a_run_halts_before_its_hard_cap_and_goes_on_after_it_is_raised(worker, admin):
    labels = labelled(CorpusFactory())
    with serving(worker, latency=0.05) as served:
        price(served.provider)
        served.start_worker(concurrency=4)
        cap = 9_000_000
        into = ask(labels, served.provider, max_cost=cap)
        run = into.run

        def halted() -> bool:
            run.refresh_from_db()
            assert run.state in ("queued", "running", "halted"), f"{run.state}: {run.reason}"
            assert run.cost + run.cost_held <= cap
            return run.state == "halted" and not attempts(run, "sent")

        await_with_sweeps(halted, what="the halt")
        run.refresh_from_db()
        before = progress(run).ended
        assert 0 < before < AUTHORS
        assert 0 < run.cost <= cap
        assert said(cap) in run.reason
        assert balanced(run)
        assert into.rows.values("profile").distinct().count() == before
        follow_inferences()  # a run that halted is not scored
        assert not into.scorings.exists()
        asked = served.server.requests

        caps = {"max_calls": run.max_calls, "max_tokens": run.max_tokens, "max_cost": 100 * cap}
        steering.raise_caps(by=admin, run=run, **caps)
        steering.control(by=admin, run=run, event=RunEvent.RESUME)
        finish(run)
        check_none_repeated(run, served.answers())
        assert served.server.requests == asked + AUTHORS - before
    assert balanced(run)
    assert run.cost > cap
    assert set(told_of(into)) == wanted(labels)
    assert {outcome for outcome, _ in told_of(into).values()} == {"answered"}


def test_refused_and_malformed_answers_are_shown_as_such_and_never_as_wrong_guesses(
    worker, client_of, researcher
):
    labels = labelled(CorpusFactory())
    with serving(worker, faults=TROUBLE) as served:
        served.start_worker(concurrency=4)
        into = ask(labels, served.provider)
        run = finish(into.run)
        refused = served.server.stats()["replies"]["refused"]
        made = scored_by_the_clock(into)
    spoilt = check_outcomes(into)
    assert spoilt["refused"] > 2
    assert spoilt["unparsed"] > 2
    assert outcomes(into) == {"answered": 50 - spoilt.total(), **spoilt}
    verdicts = Verdict.objects.filter(scoring=made)
    assert verdicts.count() == 50
    for outcome in ("refused", "unparsed"):
        assert verdicts.filter(outcome=outcome).count() == spoilt[outcome]
        assert not verdicts.filter(outcome=outcome).exclude(scores=[]).exists()
    browser = client_of(researcher)
    page = words(browser.get(reverse("run", args=[run.public_id])))
    assert f"Refused {refused} which" in page
    assert "1 unparsed" in page
    address = reverse("prediction_run", args=[into.public_id])
    assert f"{spoilt.total()} without an answer" in words(browser.get(address))
    for outcome, n in spoilt.items():
        shown = browser.get(address, {"outcome": outcome})
        rows = shown.context["page"].rows
        assert [(row.outcome, row.guesses) for row in rows] == [(outcome, [])] * n
        assert (
            len(re.findall(rf">{outcome}</span>", re.sub(r"<svg.*?</svg>", "", shown.content.decode()))) == n
        )
