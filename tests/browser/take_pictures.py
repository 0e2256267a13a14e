"""The pictures of the README and docs, taken of the real pages over the starter corpus: `make pictures`.

The runs are real ones, too: the engine carried them out with the scripted model, up to the call in flight.
It costs nothing; for the pictures it has a price, so that money shows. The answers of the two labelers are
drawn, with times as people need them, and a few comments have been spoilt by hand for the artefact review.
"""

import hashlib
import random
import shutil
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.labels import Label, Outcome, Quote, State
from annotation.exchange import dataset
from annotation.models import Annotation, Gold, Item, Queue, Suggestion
from annotation.services import claims, queues, review
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.money import NANO
from simulation.domain.plans import published_models
from simulation.domain.profile_targets import Targets
from simulation.domain.run_states import AttemptState, CallState, StepState
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import ChatReply, ChatRequest
from simulation.llm.scripted.model import ScriptedModel
from simulation.models import Artefact, Comment, Corpus, Provider, Run, Thread, User, Workspace
from simulation.selectors import workers
from simulation.services import artefacts, budget, completions, engine, profile_runs, runs
from simulation.services.prices import set_price
from simulation.services.profile_asking import AUTHOR, STYLER
from simulation.services.profile_runs import Profiling
from simulation.services.simulating import Simulation
from synthpai_web import simulated
from tests.browser.reviewing import open_row, select
from tests.factories.simulation import (
    AttemptFactory,
    MembershipFactory,
    ModelCallFactory,
    ProviderFactory,
)
from tests.fakes.llm import FakeGateway, purpose, reply
from tests.running import work_off

pytestmark = pytest.mark.django_db(transaction=True)
FOLDER = Path(settings.BASE_DIR) / "docs" / "img"
IN_HAND, DISPUTED = "In my own case the customer", "And they have eaten nothing since midnight"
"""How two comments of the starter corpus begin: the one being reviewed, and one that the labelers dispute."""
SPOILT = (
    " Let me know if you would like me to adjust the tone or the length of this comment!",
    " TextFieldgetElement(valueOf nullptr); return kTempNode->next",
    " plorvant sequidel brathen ozmick trullavent quiddenshaw morpelith",
    " Reasoning: the author hints at night shifts. My comment: same here, honestly",
)
"""What generators leave at the end of a comment, made up."""
GUIDELINES = "# What counts\n\n- Judge the text, not the author.\n- The most recent statement wins.\n"


def shoot(page: Page, name: str) -> None:
    """A picture with 128 colours where ImageMagick is installed: a third of the size, and no eye sees it."""
    path = FOLDER / f"{name}.png"
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # colours change in 90 ms
    page.screenshot(path=path)
    if smaller := shutil.which("convert"):
        subprocess.run([smaller, path, "+dither", "-colors", "128", "-strip", path], check=True)


@pytest.fixture
def second(db) -> User:
    return MembershipFactory(person__username="milo", role="labeler").person


@pytest.fixture
def queue(labeler, second, admin) -> Queue:
    """The suggestions of the starter corpus for two people each, some days into the work."""
    dataset.import_paths(
        paths=[Path(settings.BASE_DIR) / "simulation" / "starter_corpus"],
        corpus_name="starter",
        licence="CC0-1.0",
        description="Four hand-written threads and their invented authors, to try everything on.",
    )
    made = queues.create(
        by=admin,
        corpus=Corpus.objects.get(name="starter"),
        name="first round",
        comments=CommentFilter(said="suggested"),
        people_per_item=2,
        guidelines=GUIDELINES,
    )
    items = list(made.items.select_related("queue", "comment"))
    until = next(place for place, item in enumerate(items) if item.comment.text.startswith(IN_HAND))
    known = items[1]
    known_age = {"state": "value", "value": "72", "hardness": None, "certainty": None}
    Gold.objects.create(item=known, labels={"age": known_age}, by=admin)
    Item.objects.filter(pk=known.pk).update(gold=True)
    rng = random.Random(5)
    start = timezone.now() - timedelta(days=4)
    for person, n in ((labeler, until), (second, until - 4)):
        for place, item in enumerate(items[:n]):
            day = timedelta(days=4 * place // until, minutes=place)
            answer(person, item, rng, start + day, careful=person == labeler)
    skipped = claims.claim_next(by=second, queue=made, now=timezone.now())
    assert skipped
    claims.skip(by=second, item=skipped.item, now=timezone.now(), reason="context", note="")
    claims.claim_next(by=second, queue=made, now=timezone.now())
    return made


def answer(person: User, item: Item, rng: random.Random, now: datetime, *, careful: bool) -> Annotation:
    """Most suggestions are confirmed; the careless one of the two looks less closely."""
    said = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}
    there = {one.attribute: one for one in Suggestion.objects.filter(comment=item.comment_id)}
    for key, one in there.items():
        said[key] = judged(one, rng.random(), careful=careful)
    if item.comment.text.startswith(DISPUTED):
        said |= disputed(item, careful=careful)
    seconds = rng.lognormvariate(3.3, 0.5) * (1.2 if careful else 0.8)
    return review.submit(
        by=person,
        item=item,
        submission_id=uuid.uuid4(),
        labels=said,
        suggestions=there,
        active_ms=int(1000 * seconds),
        wall_ms=int(1400 * seconds),
        now=now,
    ).annotation


def judged(one: Suggestion, chance: float, *, careful: bool) -> Label:
    marks = (one.hardness, one.certainty)
    if chance < 0.08 and careful:
        return Label(State.NONE, Outcome.REJECTED)
    if chance < 0.16 and len(one.words) > 1:
        return Label(State.VALUE, Outcome.CORRECTED, one.words[1], *marks)
    if chance < 0.2:
        return Label(State.UNSURE, Outcome.UNSURE)
    return Label(State.VALUE, Outcome.CONFIRMED, one.words[0], *marks)


def disputed(item: Item, *, careful: bool) -> Mapping[str, Label]:
    """One takes the surgeon of the model; the other has read who is seen last before sleep."""
    words = "the last person they lie to before they sleep" if careful else "eaten nothing since midnight"
    start = item.comment.text.index(words)
    quote = Quote(item.comment.public_id, start, start + len(words), words)
    if careful:
        occupation = Label(State.VALUE, Outcome.CORRECTED, "anesthesiologist", 3, 4, (quote,))
        return {"occupation": occupation, "income_level": Label(State.VALUE, Outcome.CONFIRMED, "high", 4, 2)}
    occupation = Label(State.VALUE, Outcome.CONFIRMED, "surgeon", 4, 3, (quote,))
    return {"occupation": occupation, "income_level": Label(State.UNSURE, Outcome.UNSURE)}


@pytest.fixture
def provider(admin) -> Provider:
    made = ProviderFactory(name="scripted model")
    price = {"input": Decimal("0.15"), "output": Decimal("0.60"), "note": "made up, for the pictures"}
    set_price(by=admin, provider=made, model="scripted", **price)
    return made


@pytest.fixture
def corpus(admin, monkeypatch) -> Corpus:
    """The starter profiles, a worker that is there, and lanes as they begin."""
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"worker": 1.0})
    monkeypatch.setattr(workers, "ages", lambda: {"worker": 1.0})
    for lane in workers.broker().scan_iter("synthpai:lane:*"):  # an earlier run's lane would be wider
        workers.broker().delete(lane)
    return simulated.corpus(admin)


@pytest.fixture
def run(corpus, provider, admin) -> Run:
    """The demo's run in the middle of its second thread."""
    started = begin(corpus, provider, admin, "first run")
    second = started.run_threads.get(index=1)
    while second.steps.filter(kind="turn", state=StepState.DONE).count() < 5:
        assert engine.advance(run_id=started.pk, work=Simulation()), "the run ended before its picture"
    _send(second.steps.get(kind="turn", state=StepState.READY))
    started.refresh_from_db()
    return started


def begin(corpus: Corpus, provider: Provider, admin: User, name: str, **fields: int) -> Run:
    return runs.start_simulation(
        by=admin,
        corpus=corpus,
        name=name,
        provider=provider,
        targets=simulated.TARGETS,
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=simulated.PARAMETERS,
        models=published_models("scripted"),
        max_calls=700,
        max_tokens=800_000,
        **{"seed": simulated.SEED, "soft_cost": NANO // 25, "max_cost": NANO // 20, **fields},
    )


def _send(step) -> None:
    """Its call is in flight, as it would be for the seconds that a model takes."""
    now = timezone.now()
    step.state, step.lease, step.leased_until = StepState.LEASED.value, uuid4(), now + timedelta(minutes=5)
    step.save()
    call = ModelCallFactory(step=step, state=CallState.LEASED, reply=None)
    attempt = AttemptFactory(call=call, state=AttemptState.SENT)
    Run.objects.filter(pk=step.run_id).update(
        calls=F("calls") + 1,
        tokens_held=F("tokens_held") + attempt.held,
        cost_held=F("cost_held") + NANO // 2000,
    )


def test_take_pictures_of_a_review(open_as, live_server, labeler, queue):
    page = open_as(labeler)
    address = live_server.url + reverse("review", args=[queue.public_id])
    page.goto(address)
    assert IN_HAND in page.locator("#target").inner_text()
    open_row(page, "income_level")
    page.keyboard.press("a")
    open_row(page, "occupation")
    page.keyboard.press("a")
    open_row(page, "occupation")
    select(page, "8 to 4 I smile through the glass")
    page.keyboard.press("v")
    for name, width, scheme in (
        ("review-light", 1440, "light"),
        ("review-dark", 1440, "dark"),
        ("review-phone", 360, "light"),
    ):
        page.set_viewport_size({"width": width, "height": 900 if width > 500 else 780})
        page.emulate_media(color_scheme=scheme)
        if width < 500:
            page.wait_for_timeout(1500)  # the draft is saved
            page.goto(address)
        shoot(page, name)


def test_take_pictures_of_the_rest(open_as, live_server, adjudicator, admin, queue):
    item = queue.items.get(comment__text__startswith=DISPUTED)
    boss, judge = open_as(admin), open_as(adjudicator)
    corpus = queue.corpus
    for page, name, address, scheme, height in (
        (judge, "adjudication", reverse("adjudicate", args=[queue.public_id, item.public_id]), "light", 900),
        (boss, "overview", reverse("queue_overview", args=[queue.public_id]), "light", 1150),
        (boss, "home", reverse("home"), "light", 800),
        (boss, "corpus", reverse("corpus", args=[corpus.public_id]), "light", 800),
        (boss, "thread", reverse("thread", args=[Thread.objects.order_by("pk")[1].public_id]), "dark", 800),
        (boss, "comment", reverse("comment", args=[item.comment.public_id]), "light", 800),
        (boss, "export", reverse("export", args=[corpus.public_id]), "light", 800),
    ):
        page.set_viewport_size({"width": 1440 if name == "adjudication" else 1280, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(live_server.url + address)
        shoot(page, name)


def test_take_a_picture_of_a_run(open_as, live_server, admin, run):
    page = open_as(admin, viewport={"width": 1280, "height": 1000})
    page.goto(live_server.url + reverse("run_thread", args=[run.public_id, 2]))
    shoot(page, "run")


def test_take_a_picture_of_the_run_form(open_as, live_server, admin, corpus):
    """With a provider whose prices are listed: nothing is sent there."""
    ProviderFactory(name="openai", base_url="https://api.openai.com/v1", default_model="gpt-4o-mini")
    page = open_as(admin, viewport={"width": 1280, "height": 1700})
    page.goto(f"{live_server.url}{reverse('run_new', args=[corpus.public_id])}?preset=published")
    shoot(page, "run-form")


def spoilt(text: str = "", *, refusal: str = "") -> ChatReply:
    return replace(reply(text, refusal=refusal, tokens=220), served_model="scripted")


def on_a_bad_day(request: ChatRequest, attempt: int) -> ChatReply | LLMError:
    """The scripted model, but that some questions are refused, some not answered in form, some too many."""
    asked = "".join(message.content for message in request.messages[:2])  # a correction asks the same again
    chance = hashlib.sha256(asked.encode()).digest()[0]
    if purpose(request) == "turn" and chance < 12:
        return spoilt(refusal="I cannot write as a person with these attributes.")
    if purpose(request) == "turn" and chance < 22:
        return spoilt("Sure! Here is a comment in the style that you asked for:")
    if chance > 235 and not attempt:
        return LLMError(Trouble.RATE_LIMIT, "Rate limit reached for requests", after=0.2, status=429)
    return ScriptedModel().reply(request)


def test_take_pictures_of_what_came_to_nothing(open_as, live_server, admin, corpus, provider, monkeypatch):
    monkeypatch.setattr(completions, "_gateway", lambda *_: FakeGateway(on_a_bad_day))
    done = work_off(begin(corpus, provider, admin, "second run", seed=7), most=2000)
    assert done.state == "done", done.reason
    work_off(begin(corpus, provider, admin, "third run", seed=8), most=60)
    budget.set_caps(by=admin, soft_cap=NANO // 25, hard_cap=NANO // 20)
    Workspace.objects.update(held=NANO // 250)
    page = open_as(admin)
    for name, address, height in (
        ("failures", reverse("run_failures", args=[done.public_id]), 1000),
        ("budget", reverse("budget"), 820),
    ):
        page.set_viewport_size({"width": 1280, "height": height})
        page.goto(live_server.url + address)
        shoot(page, name)
    for number, comment in enumerate(Comment.objects.filter(depth__gt=0).order_by("pk")[: len(SPOILT)]):
        Comment.objects.filter(pk=comment.pk).update(text=comment.text + SPOILT[number])
    Artefact.objects.all().delete()  # found anew, in the order of the corpus
    artefacts.scan_corpus(corpus, by=admin)
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.goto(live_server.url + reverse("artefacts", args=[corpus.public_id]))
    shoot(page, "artefacts")


def test_take_a_picture_of_the_profile_check(open_as, live_server, admin, corpus, provider):
    """A run of profiles that is still at work."""
    models = profile_runs.default_models("scripted")
    made = profile_runs.start_generation(
        by=admin,
        corpus=corpus,
        name="profiles 1",
        provider=provider,
        model=models[AUTHOR],
        styler=models[STYLER],
        count=60,
        targets=Targets.usual(),
        seed=11,
        max_calls=300,
        max_tokens=400_000,
    )
    work_off(made, Profiling(), most=100)
    page = open_as(admin, viewport={"width": 1280, "height": 1100})
    page.goto(f"{live_server.url}{reverse('profile_check', args=[corpus.public_id])}?show=warned")
    shoot(page, "profile-check")
