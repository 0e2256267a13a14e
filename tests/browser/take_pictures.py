"""The pictures of the README and docs, taken of the real pages over the starter corpus: `make pictures`."""

from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from annotation.exchange import dataset
from annotation.models import Queue
from simulation.models import Comment, Corpus, Thread
from tests.factories.annotation import queue_over

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
