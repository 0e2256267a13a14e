"""The scripted judge over a real socket, with the faults that providers have."""

import pytest

from evaluation.models import Opinion, Question
from evaluation.services.matching import Matching, start_matching
from tests.factories.evaluation import QuestionFactory
from tests.running import balanced, work_off

pytestmark = pytest.mark.django_db


def judged(corpus, provider):
    run = start_matching(
        by=None,
        corpus=corpus,
        name="judge",
        provider=provider,
        model="scripted",
        guesses=2,
        max_calls=500,
        max_tokens=10**6,
    )
    return work_off(run, Matching())


def test_over_the_wire_every_question_gets_its_verdict(served, corpus):
    for guess in ("bus driver", "pilot", "night bus driver"):
        QuestionFactory(corpus=corpus, guess=guess)
    run = judged(corpus, served())
    assert (run.state, run.steps.count()) == ("done", 2)
    scores = dict(Question.objects.values_list("guess", "score"))
    assert (scores["bus driver"], scores["pilot"]) == (1, 0)
    assert balanced(run)


def test_with_faults_every_question_is_answered_or_said_to_be_unanswered(served, corpus):
    for truth in range(12):
        QuestionFactory(corpus=corpus, truth=f"driver {truth}", guess="pilot")
    run = judged(corpus, served("500=0.1,malformed=0.3,refused=0.2,truncated=0.2"))
    assert run.state == "done"
    lost = run.steps.filter(state="skipped")
    assert 0 < lost.count() < 12
    silent = Opinion.objects.filter(run=run, score=None)
    assert {key for step in lost for key in step.asks["questions"]} == set(
        silent.values_list("question", flat=True)
    )
    assert Question.objects.filter(state="open").count() == lost.count()
    assert balanced(run)
