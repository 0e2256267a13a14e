"""The pictures of the README and docs, taken of the real pages over the starter corpus: `make pictures`.

The run is a real one, too: the engine carried it out with the scripted model, up to the call in flight.
"""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.exchange import dataset
from annotation.models import Queue
from simulation.domain.plans import published_models
from simulation.domain.run_states import AttemptState, CallState, StepState
from simulation.models import Comment, Corpus, Run, Thread
from simulation.selectors import workers
from simulation.services import engine, runs
from simulation.services.simulating import Simulation
from synthpai_web import simulated
from tests.factories.annotation import queue_over
from tests.factories.simulation import AttemptFactory, ModelCallFactory, ProviderFactory

pytestmark = pytest.mark.django_db(transaction=True)
FOLDER = Path(settings.BASE_DIR) / "docs" / "img"


@pytest.fixture
def queue(db) -> Queue:
    dataset.import_paths(
        paths=[Path(settings.BASE_DIR) / "simulation" / "starter_corpus"],
        corpus_name="starter",
        licence="CC0-1.0",
        description="Four hand-written threads and their invented authors, to try everything on.",
    )
    return queue_over(Corpus.objects.get(name="starter"), people=2)


@pytest.fixture
def run(admin, monkeypatch) -> Run:
    """The demo's run in the middle of its second thread."""
    monkeypatch.setattr(engine, "_send", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"worker": 1.0})
    for lane in workers.broker().scan_iter("synthpai:lane:*"):  # an earlier run's lane would be wider
        workers.broker().delete(lane)
    corpus = simulated.corpus(admin)
    models = published_models("scripted")
    started = runs.start_simulation(
        by=admin,
        corpus=corpus,
        name="first run",
        provider=ProviderFactory(name="scripted model"),
        targets=simulated.TARGETS,
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=simulated.PARAMETERS,
        models=models,
        seed=simulated.SEED,
        max_calls=700,
        max_tokens=800_000,
    )
    second = started.run_threads.get(index=1)
    while second.steps.filter(kind="turn", state=StepState.DONE).count() < 5:
        assert engine.advance(run_id=started.pk, work=Simulation()), "the run ended before its picture"
    _send(second.steps.get(kind="turn", state=StepState.READY))
    started.refresh_from_db()
    return started


def _send(step) -> None:
    """Its call is in flight, as it would be for the seconds that a model takes."""
    now = timezone.now()
    step.state, step.lease, step.leased_until = StepState.LEASED.value, uuid4(), now + timedelta(minutes=5)
    step.save()
    call = ModelCallFactory(step=step, state=CallState.LEASED, reply=None)
    attempt = AttemptFactory(call=call, state=AttemptState.SENT)
    Run.objects.filter(pk=step.run_id).update(
        calls=F("calls") + 1, tokens_held=F("tokens_held") + attempt.held
    )


def reply_with_suggestions() -> Comment:
    """A reply some way down a thread on which several attributes were suggested."""
    return max(
        Comment.objects.filter(depth__gte=2).prefetch_related("suggestions"),
        key=lambda comment: (comment.suggestions.count(), len(comment.text)),
    )


def test_take_pictures(open_as, live_server, labeler, admin, queue):
    base = live_server.url
    comment = reply_with_suggestions()
    before = queue.items.filter(position__lt=queue.items.get(comment=comment).position).count()
    page = open_as(labeler)
    page.goto(base + reverse("review", args=[queue.public_id]))
    for number in range(before):
        if number % 9 == 8:
            with page.expect_navigation():
                page.get_by_role("button", name="Skip").click()
            continue
        for _ in range(page.locator(".attr[data-state=untouched]").count()):
            page.locator(".attr[data-state=untouched]").first.click(position={"x": 6, "y": 6})
            page.keyboard.press("a")
        page.keyboard.press("n")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
    page.keyboard.press("a")
    page.locator(".attr[data-state=untouched]").first.click(position={"x": 6, "y": 6})
    page.keyboard.press("q")
    page.mouse.move(720, 600)
    for name, width, scheme in (
        ("review-light", 1440, "light"),
        ("review-dark", 1440, "dark"),
        ("review-phone", 360, "light"),
    ):
        page.set_viewport_size({"width": width, "height": 900 if width > 500 else 780})
        page.emulate_media(color_scheme=scheme)
        if width < 500:
            page.mouse.move(0, 0)
            page.goto(base + reverse("review", args=[queue.public_id]))
        page.wait_for_timeout(300)  # colours change in 90 ms
        page.screenshot(path=FOLDER / f"{name}.png")
    boss = open_as(admin)
    corpus = queue.corpus
    for name, address, scheme in (
        ("home", reverse("home"), "light"),
        ("corpus", reverse("corpus", args=[corpus.public_id]), "light"),
        ("thread", reverse("thread", args=[Thread.objects.order_by("pk")[1].public_id]), "dark"),
        ("comment", reverse("comment", args=[queue.items.get(position=2).comment.public_id]), "light"),
        ("export", reverse("export", args=[corpus.public_id]), "light"),
    ):
        boss.set_viewport_size({"width": 1280, "height": 800})
        boss.emulate_media(color_scheme=scheme)
        boss.goto(base + address)
        boss.screenshot(path=FOLDER / f"{name}.png")


def test_take_a_picture_of_a_run(open_as, live_server, admin, run):
    page = open_as(admin, viewport={"width": 1280, "height": 1000})
    page.goto(live_server.url + reverse("run_thread", args=[run.public_id, 2]))
    page.screenshot(path=FOLDER / "run.png")
