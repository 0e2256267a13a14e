"""A real worker is killed in the middle of its calls: another one ends the run, and nothing is said twice."""

import time

import pytest
from django.db.models import Count

from evaluation.models import Opinion, Question
from evaluation.services.matching import start_matching
from simulation.models import Run
from simulation.services import sweeping
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import CorpusFactory
from tests.integration.conftest import wait_until, worker
from tests.integration.test_run_survives import SWEEP_EVERY, serving
from tests.running import balanced

__all__ = ["worker"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def test_a_run_whose_worker_is_killed_asks_and_says_everything_once(worker):
    corpus = CorpusFactory()
    for truth in range(30):
        for guess in range(3):
            QuestionFactory(corpus=corpus, truth=f"driver {truth}", guess=f"pilot {guess}")
    with serving(worker, lease=2, latency=0.3, faults="500=0.05") as served:
        served.start_worker(concurrency=4)
        run = start_matching(
            by=None,
            corpus=corpus,
            name="judge",
            provider=served.provider,
            model="scripted",
            parallel=4,
            max_calls=500,
            max_tokens=10**6,
        )
        wait_until(lambda: Opinion.objects.count() >= 12, what="some verdicts")
        served.kill_worker()
        assert run.steps.filter(state="leased").exists()
        served.start_worker(concurrency=4)
        wait_until(lambda: _swept(run).state == "done", what="the end of the run", seconds=120)
    assert Question.objects.filter(state="settled", rung="judge").count() == 90
    said = Opinion.objects.values("question").annotate(n=Count("pk"))
    assert set(said.values_list("n", flat=True)) == {1}
    assert balanced(run)


def _swept(run: Run) -> Run:
    sweeping.sweep()
    time.sleep(SWEEP_EVERY)
    return Run.objects.get(pk=run.pk)
