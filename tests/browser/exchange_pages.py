"""The pages of releases, webhooks, lineage and operations, over rows with the longest words there are."""

from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from evaluation.exchange import release_differences, release_making, releases
from evaluation.models import Release
from evaluation.services import releases as later
from simulation.models import Corpus, User
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, ProfileFactory
from tests.factories.webhooks import DeliveryFactory, WebhookFactory


def exchange_pages(corpus: Corpus, admin: User) -> list[str]:
    """Their addresses; releases are made, and two of them compared."""
    profile = ProfileFactory(corpus=corpus, username="R" * 100, facts={"age": 31, "occupation": "o" * 200})
    comment = CommentFactory(
        thread__corpus=corpus, profile=profile, username="R" * 100, external_id="j" * 190, text="z" * 900
    )
    SuggestionFactory(comment=comment, attribute="occupation", guesses=["g" * 300], tagger="T" * 100)
    old, new = (_released(corpus, admin, name) for name in ("1" * 40, "2" * 40))
    failed = Release.objects.create(
        corpus=corpus, name="3" * 40, state=Release.FAILED, reason="w" * 300, by=admin
    )
    release_differences.make(release_differences.ask(by=admin, old=old, new=new).pk)
    later.withdraw(old, by=admin, notice="n" * 300, typed=old.name)
    hook = WebhookFactory(corpus=corpus, url="https://example.org/" + "u" * 400, note="n" * 190)
    DeliveryFactory(webhook=hook, state="failed", status=503, detail="d" * 290, attempts=8)
    DeliveryFactory(webhook=hook, due_at=timezone.now() + timedelta(minutes=5))
    ask = f"?comment={comment.external_id}&attribute=occupation"
    return [
        reverse("releases", args=[corpus.public_id]),
        reverse("release_new", args=[corpus.public_id]),
        *(reverse("release", args=[one.public_id]) for one in (old, new, failed)),
        reverse("release_difference", args=[new.public_id, old.public_id]),
        reverse("lineage", args=[new.public_id]) + ask,
        reverse("comment_lineage", args=[comment.public_id, "occupation"]),
        reverse("webhooks", args=[corpus.public_id]),
        reverse("webhook_new", args=[corpus.public_id]),
        reverse("webhook", args=[hook.public_id]),
        reverse("operations"),
        reverse("audit") + "?action=release.asked&since=2026-01-01",
    ]


def _released(corpus: Corpus, admin: User, name: str) -> Release:
    made = releases.ask(
        by=admin,
        corpus=corpus,
        name=name,
        title="t" * 120,
        description="d" * 900,
        licence="l" * 80,
        policy=Release.INHERITED,
    )
    release_making.make(made.pk)
    made.refresh_from_db()
    assert made.state == Release.READY, made.reason
    return made
