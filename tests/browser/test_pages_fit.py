"""Every main page, at every width, light and dark: no sideways scroll, no complaint in the console."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import DataImport
from simulation.domain.run_states import StepState
from simulation.models import Corpus
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.runs import scene
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    ModelCallFactory,
    ProfileFactory,
    ProviderFactory,
    RunFactory,
    StepFactory,
    ThreadFactory,
)

pytestmark = pytest.mark.django_db(transaction=True)
WIDTHS = (320, 360, 768, 1024, 1440, 1920)


@pytest.fixture
def addresses(corpus, admin):
    profile = ProfileFactory(
        corpus=corpus,
        facts={
            "age": 31,
            "city_country": "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, Wales",
        },
        style="Writing style: terse.",
    )
    root = CommentFactory(thread__corpus=corpus, profile=profile, text="What keeps you awake? " * 20)
    reply = root
    for depth in range(5):
        reply = CommentFactory(thread=root.thread, parent=reply, text=f"Reply {depth} " + "w" * 90)
    endless = CommentFactory(
        thread=root.thread, parent=root, text="x" * 3000, username="U" * 100, external_id="i" * 190
    )
    SuggestionFactory(comment=endless, attribute="occupation", guesses=["g" * 900, "b", "c"])
    SuggestionFactory(
        comment=root, attribute="occupation", guesses=["an extraordinarily long occupation " * 3, "b", "c"]
    )
    queue = queue_over(corpus)
    ThreadFactory(corpus=corpus, external_id="t" * 100)
    one = DataImport.objects.create(
        corpus=corpus,
        by=admin,
        file_name="n" * 200,
        path="",
        state="invalid",
        counts={"rows": [], "problems": 1},
        problems=[{"line": 3, "field": "f" * 120, "message": "m" * 200}],
    )
    home = [reverse("home"), reverse("help"), reverse("account"), reverse("corpora"), reverse("queues")]
    inside = [
        reverse(name, args=[corpus.public_id])
        for name in ("corpus", "comments", "profiles", "imports", "export")
    ]
    single = [
        reverse("thread", args=[root.thread.public_id]),
        reverse("comment", args=[reply.public_id]),
        reverse("comment", args=[endless.public_id]),
        reverse("profile", args=[profile.public_id]),
        reverse("queue_create", args=[corpus.public_id]),
        reverse("review", args=[queue.public_id]),
        reverse("review_history", args=[queue.public_id]),
        reverse("import_status", args=[one.public_id]),
        reverse("people"),
        reverse("invite"),
        reverse("audit"),
    ]
    return home + inside + single + run_pages(corpus)


def run_pages(corpus: Corpus) -> list[str]:
    """The pages of runs, with words of any length in them."""
    ProviderFactory(
        name="P" * 60,
        base_url="https://" + "h" * 200,
        key_variable="K" * 60 + "_API_KEY",
        default_model="m" * 100,
    )
    halted = scene(
        corpus,
        state="halted",
        name="N" * 80,
        reason="The cap of 5 calls is reached. " + "r" * 300,
        calls=1000,
    )
    halted.run.run_threads.update(external_id="t" * 100, reason="w" * 300)
    halted.write("w" * 400)
    halted.turn(StepState.READY, number=9)
    step = halted.skip(number=3, raw="x" * 3000)
    step.detail = "d" * 600
    step.save()
    halted.tell("e" * 400, "danger")
    tags = [{"attribute": "occupation", "guesses": ["g" * 300], "certainty": 4}]
    tagging = RunFactory(corpus=corpus, kind="tag", state="running")
    StepFactory(run=tagging, kind="tag", comment=halted.written[0], result={"tags": tags})
    CorpusFactory(name="C" * 80)
    call = ModelCallFactory(
        step=step, served_model="s" * 200, reply={"text": "y" * 2000, "raw": {"k": "z" * 900}}
    )
    return [
        reverse("runs"),
        reverse("run_choose"),
        reverse("run_new", args=[corpus.public_id]),
        reverse("tagging_new", args=[corpus.public_id]),
        reverse("run", args=[halted.run.public_id]),
        reverse("run_thread", args=[halted.run.public_id, "2"]),
        reverse("run", args=[tagging.public_id]),
        reverse("run_events", args=[halted.run.public_id]),
        reverse("run_call", args=[halted.run.public_id, call.public_id]),
        reverse("providers"),
        reverse("provider_new"),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways_at_any_width(open_as, live_server, admin, addresses, scheme):
    page = open_as(admin, color_scheme=scheme)
    too_wide = []
    for address in addresses:
        answer = page.goto(live_server.url + address)
        assert answer.status == 200, address
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                too_wide.append((page.title(), width))
    assert too_wide == []


def test_the_page_weighs_little_and_asks_for_little(open_as, live_server, admin, addresses):
    page = open_as(admin)
    requests = []
    page.on("response", lambda answer: requests.append(answer))
    page.goto(
        live_server.url + next(one for one in addresses if one.startswith("/review/") and one.count("/") == 3)
    )
    assert len(requests) <= 12
    assert sum(len(answer.body()) for answer in requests) <= 150 * 1024


def test_the_theme_of_the_person_wins_over_the_system_s(open_as, live_server, admin):
    admin.theme = "dark"
    admin.save()
    page = open_as(admin, color_scheme="light")
    page.goto(live_server.url + reverse("home"))
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_the_page_of_an_import_follows_it_without_a_reload(open_as, live_server, researcher, corpus):
    one = DataImport.objects.create(corpus=corpus, by=researcher, file_name="thread_age_1.json", path="")
    page = open_as(researcher)
    page.goto(live_server.url + reverse("import_status", args=[one.public_id]))
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    DataImport.objects.update(state="done", counts={"rows": [], "problems": 0})
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
