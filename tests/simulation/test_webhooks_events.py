"""Where webhooks are told: a run that ends, an item that is adjudicated; each once, and no more than ids."""

import json

import pytest
from django.utils import timezone

from annotation.domain.rulings import Choice
from annotation.selectors import adjudication as waiting
from annotation.selectors.adjudication_sheet import sheet
from annotation.services import adjudication, settling
from simulation.domain.money import dollars
from simulation.domain.run_states import RunEvent
from simulation.llm.messages import Finish
from simulation.models import Delivery, Run
from simulation.services import engine, steering
from simulation.services.simulating import Simulation
from tests.factories.adjudication import answer, answered, labelers, letter_of, value
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory
from tests.factories.webhooks import WebhookFactory
from tests.fakes.llm import purpose, reply, sensible
from tests.running import start, work_off

pytestmark = pytest.mark.django_db


def told(event=None):
    rows = Delivery.objects.order_by("id")
    return [row.payload for row in (rows.filter(event=event) if event else rows)]


def test_a_run_that_is_done_tells_its_state_counts_and_cost_once(corpus, gateway):
    WebhookFactory(corpus=corpus)
    run = start(corpus)
    assert told() == []
    run = work_off(run)
    (payload,) = told("run.ended")
    assert payload["corpus"] == corpus.public_id
    data = payload["data"]
    assert (data["run"], data["kind"], data["state"]) == (run.public_id, "simulate", "done")
    assert sum(data["steps"].values()) == run.steps.count()
    assert set(data["steps"]) <= {"done", "skipped"}
    assert (data["calls"], data["tokens"]) == (run.calls, run.tokens)
    assert data["cost_usd"] == float(dollars(run.cost))
    work_off(run)
    assert len(told()) == 1


def test_a_message_holds_no_text_no_name_and_nothing_true(corpus, gateway):
    WebhookFactory(corpus=corpus)
    run = work_off(start(corpus))
    sent = json.dumps(told())
    for profile in corpus.profiles.all():
        assert profile.username not in sent
        assert profile.external_id not in sent
    assert run.name not in sent
    assert corpus.name not in sent
    assert "nurse" not in sent


@pytest.mark.parametrize(("event", "state"), [(RunEvent.CANCEL, "cancelled"), (RunEvent.FAIL, "failed")])
def test_a_run_that_is_stopped_or_fails_tells_with_its_open_steps_closed(corpus, gateway, event, state):
    WebhookFactory(corpus=corpus)
    run = start(corpus)
    engine.end(Run.objects.get(pk=run.pk), event, "because")
    (payload,) = told("run.ended")
    assert payload["data"]["state"] == state
    assert set(payload["data"]["steps"]) == {"cancelled"}
    assert "because" not in json.dumps(payload)


def test_a_run_that_is_taken_up_again_tells_again_when_it_ends(corpus, gateway):
    WebhookFactory(corpus=corpus)
    gateway.answers = lambda request, attempt: (
        reply("", finish=Finish.FILTER) if purpose(request) == "turn" else sensible(request, attempt)
    )
    run = work_off(start(corpus))
    gateway.answers = sensible
    steering.retry(by=None, run=run)
    run = work_off(run)
    assert run.state == "done"
    first, second = told("run.ended")
    assert first["data"]["steps"]["skipped"] > 0
    assert "skipped" not in second["data"]["steps"]
    assert Delivery.objects.values("about").distinct().count() == 2


def test_pausing_and_halting_are_no_end(corpus, gateway):
    WebhookFactory(corpus=corpus)
    run = start(corpus)
    engine.advance(run_id=run.pk, work=Simulation())
    steering.control(by=None, run=run, event=RunEvent.PAUSE)
    assert told() == []


@pytest.fixture
def queue(corpus):
    WebhookFactory(corpus=corpus)
    WebhookFactory(corpus=CorpusFactory())
    return queue_over(corpus, people=2, comments=3)


def decide(item, by, words):
    seen = sheet(item, by)
    choice = Choice(letter_of(seen, "age", words), reason="slip")
    return adjudication.decide(by=by, item=item, choices={"age": choice}, seen=seen.stamp, now=timezone.now())


def test_an_item_that_is_decided_tells_once_and_again_when_the_decision_changes(queue, adjudicator):
    item = answered(queue.items.first(), {"age": value("30")}, {"age": value("60")})
    assert told() == []
    decide(item, adjudicator, "60")
    decide(item, adjudicator, "60")
    (payload,) = told("item.adjudicated")
    assert payload["data"] == {
        "item": item.public_id,
        "queue": queue.public_id,
        "comment": item.comment.public_id,
        "changes": item.decision_events.count(),
    }
    decide(item, adjudicator, "30")
    assert [one["data"]["changes"] for one in told()] == [8, 9]


def test_settling_in_bulk_tells_of_each_item(queue, adjudicator):
    pair = labelers(2)
    for item in queue.items.all():
        for person in pair:
            answer(person, item, age=value("30"))
    now = waiting.settleable(queue)[1]
    settling.settle(by=adjudicator, queue=queue, items=now.items, labels=now.labels)
    assert sorted(one["data"]["item"] for one in told("item.adjudicated")) == sorted(
        queue.items.values_list("public_id", flat=True)
    )
