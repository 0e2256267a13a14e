"""A release is asked for and made: what is refused, what is there at the end, what a killed worker leaves."""

import json
from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError, connection, connections
from django.utils import timezone

from evaluation import tasks
from evaluation.exchange import release_making, releases
from evaluation.exchange.release_verifying import problems
from evaluation.exchange.releases import Refused
from evaluation.models import Release
from simulation.models import AuditEntry, Delivery, Webhook
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.overview import submit
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ThreadFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(db, labeler):
    """Three comments; one is labelled, one is withdrawn."""
    made = CorpusFactory(name="winter", licence="CC-BY-4.0")
    thread = ThreadFactory(corpus=made)
    author = ProfileFactory(corpus=made, external_id="p1")
    first = CommentFactory(thread=thread, profile=author, author="p1", text="I am thirty, you know.")
    SuggestionFactory(comment=first)
    CommentFactory(thread=thread, profile=author, author="p1", text="Short.")
    CommentFactory(thread=thread, profile=author, author="p1", text="Gone by now.", state="withdrawn")
    queue = queue_over(made)
    submit(labeler, queue.items.get(comment=first), age="confirmed")
    return made


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "releases"


def ask(corpus, name="1.0", by=None, **more):
    return releases.ask(by=by, corpus=corpus, name=name, **more)


def make(one):
    tasks.make_release(one.pk)
    one.refresh_from_db()
    return one


def test_a_release_is_made_with_its_files_manifest_and_digest(corpus, researcher, files):
    one = make(ask(corpus, by=researcher, title="Winter talk"))
    assert (one.state, one.reason, one.attempts) == ("ready", "", 1)
    folder = files / one.public_id
    assert one.folder == f"releases/{one.public_id}"
    assert one.manifest == json.loads((folder / "manifest.json").read_text())
    assert list(problems(folder, digest=one.digest)) == []
    assert one.size == sum(path.stat().st_size for path in folder.iterdir())
    assert one.manifest["counts"]["comments"] == 2
    assert [path.name for path in files.iterdir()] == [one.public_id]
    actions = AuditEntry.objects.filter(object_id=one.public_id).values_list("action", flat=True)
    assert sorted(actions) == ["release.asked", "release.made"]


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("name", {"name": " "}),
        ("name", {"name": "1 0"}),
        ("name", {"name": "../1"}),
        ("name", {"name": "1" * 41}),
        ("title", {"title": "x" * 121}),
        ("title", {"title": "a\nb"}),
        ("licence", {"licence": "x" * 81}),
        ("description", {"description": "x" * 20_001}),
        ("description", {"description": "\x07"}),
        ("policy", {"policy": "loudest"}),
        ("agreeing", {"policy": "agreeing"}),
        ("agreeing", {"policy": "agreeing", "agreeing": 0}),
        ("agreeing", {"policy": "agreeing", "agreeing": 10**9}),
        ("agreeing", {"policy": "single", "agreeing": 2}),
        ("query.colour", {"query": {"colour": "red"}}),
        ("query.attributes", {"query": {"attributes": ["shoe size"]}}),
        ("query.reviewed_only", {"query": {"reviewed_only": "yes"}}),
    ],
)
def test_what_is_refused_is_named_by_its_field(corpus, field, more):
    with pytest.raises(Refused) as refused:
        ask(corpus, **{"name": "1.0", **more})
    assert refused.value.field == field
    assert not Release.objects.exists()


def test_a_name_is_there_once(corpus):
    ask(corpus)
    with pytest.raises(Refused, match=r"There is a release 1\.0"):
        ask(corpus)


def test_an_empty_release_is_refused_and_the_filter_is_named(corpus):
    with pytest.raises(Refused, match="only comments of so many words"):
        ask(corpus, query={"min_words": 50})
    with pytest.raises(Refused, match="There is no comment to release"):
        ask(CorpusFactory())


def test_a_preview_counts_filter_by_filter(corpus):
    found = releases.preview(corpus, query={"reviewed_only": True, "min_words": 50}, policy="single")
    assert [(one.words, one.comments) for one in found.stages] == [
        ("everything", 3),
        ("without withdrawn comments", 2),
        ("only comments that somebody has reviewed", 1),
        ("only comments of so many words", 0),
    ]
    assert found.emptied_by == "only comments of so many words"


def test_a_preview_says_which_filter_took_the_last_label(corpus):
    other = CommentFactory(thread__corpus=corpus, thread__external_id="t9")
    query = {"threads": [other.thread.external_id], "attributes": ["sex"]}
    found = releases.preview(corpus, query=query, policy="single")
    assert (found.counts["comments"], found.counts["labels"]) == (1, 0)
    assert found.unlabelled_by == "only some threads"


def test_an_error_of_ours_ends_the_row_and_leaves_no_file(corpus, monkeypatch, files, caplog):
    monkeypatch.setattr(release_making.release_files, "write", half)
    one = make(ask(corpus))
    assert (one.state, one.folder, one.manifest) == ("failed", "", None)
    assert one.reason.startswith("It stopped on an error of ours; nothing was released.")
    assert "unforeseen" in caplog.text
    assert not list(files.iterdir())


def half(release, folder, *, check):
    folder.mkdir()
    (folder / "comments.jsonl").write_text("{")
    raise RuntimeError("unforeseen")


def test_a_full_disk_is_named(corpus, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_making.release_files, "write", full)
    assert "No space left on device" in make(ask(corpus)).reason


def test_nothing_left_by_the_time_it_is_made_is_said(corpus):
    one = ask(corpus)
    corpus.comments.update(state="withdrawn")
    one = make(one)
    assert one.state == "failed"
    assert "withdrawn" in one.reason


def test_a_corpus_in_the_trash_stops_it(corpus):
    one = ask(corpus)
    corpus.trashed_at = timezone.now()
    corpus.save()
    assert "put into the trash" in make(one).reason


def test_a_failed_one_is_tried_again_or_discarded(corpus, monkeypatch, researcher):
    with monkeypatch.context() as patch:
        patch.setattr(release_making.release_files, "write", half)
        first, second = make(ask(corpus)), make(ask(corpus, "2.0"))
    with pytest.raises(Refused, match="failed: try that one again"):
        ask(corpus)
    assert make(releases.again(first, by=researcher)).state == "ready"
    with pytest.raises(Refused, match="is ready"):
        releases.again(first, by=researcher)
    releases.discard(second, by=researcher)
    assert [one.name for one in Release.objects.all()] == ["1.0"]


def test_one_that_is_over_is_not_made_again(corpus, files):
    one = make(ask(corpus))
    before = (files / one.public_id / "manifest.json").stat().st_mtime_ns
    assert make(one).attempts == 1
    assert (files / one.public_id / "manifest.json").stat().st_mtime_ns == before


def test_a_worker_that_is_lost_too_often_ends_it(corpus):
    one = ask(corpus)
    Release.objects.update(attempts=release_making.ATTEMPTS)
    left = release_making.root() / f".{one.public_id}.x"
    left.mkdir(parents=True)
    assert make(one).reason == "The worker was lost 3 times while making it."
    assert not left.exists()


def test_how_far_it_is_can_be_asked_while_it_is_made(corpus, monkeypatch):
    seen = []

    def looks(release, folder, *, check):
        folder.mkdir()
        (folder / "comments.jsonl").write_text("{}\n")
        seen.append(release_making.so_far(release))
        raise RuntimeError("enough")

    monkeypatch.setattr(release_making.release_files, "write", looks)
    one = make(ask(corpus))
    assert seen == [(1, 3)]
    assert release_making.so_far(one) == (0, 0)


def test_the_sweep_takes_up_what_nobody_was_told_of(corpus, monkeypatch):
    told = []
    monkeypatch.setattr(tasks.make_release, "delay", told.append)
    old = ask(corpus)
    ask(corpus, "2.0")
    Release.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    tasks.sweep_releases()
    assert told == [old.pk]


def test_webhooks_are_told_once_a_try_with_the_release_itself(corpus, admin, monkeypatch):
    hook = Webhook.objects.create(
        corpus=corpus, url="https://example.org/x", events=["release.ready"], created_by=admin
    )
    with monkeypatch.context() as patch:
        patch.setattr(release_making.release_files, "write", half)
        one = make(ask(corpus))
    make(releases.again(one, by=admin))
    states = [one.payload["data"]["state"] for one in Delivery.objects.filter(webhook=hook).order_by("id")]
    assert states == ["failed", "ready"]


# Workers that die, and two at once


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_half_way_leaves_its_row_to_the_sweep(corpus, monkeypatch, files):
    """Its connection is cut by the server, which is what a killed process looks like from there."""

    def dies(release, folder, *, check):
        folder.mkdir()
        (folder / "comments.jsonl").write_text("{")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    one = ask(corpus)
    with monkeypatch.context() as patch:
        patch.setattr(release_making.release_files, "write", dies)
        patch.setattr(release_making, "_remove", lambda folder: None)
        with pytest.raises((OperationalError, InterfaceError)):
            tasks.make_release(one.pk)
    connection.close()
    one.refresh_from_db()
    assert (one.state, one.attempts) == ("running", 1)
    Release.objects.update(started_at=timezone.now() - timedelta(minutes=5))
    assert release_making.stale() == [one.pk]
    assert make(one).state == "ready"
    assert [path.name for path in files.iterdir()] == [one.public_id]
    assert list(problems(files / one.public_id, digest=one.digest)) == []


@pytest.mark.django_db(transaction=True)
def test_one_that_another_worker_makes_is_left_alone(corpus):
    one = ask(corpus)
    Release.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s, %s)", [release_making.LOCK, one.pk])
        assert make(one).state == "queued"
        assert release_making.stale() == []
    finally:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [release_making.LOCK, one.pk])
        other.close()
    assert make(one).state == "ready"


def test_who_was_thought_dead_and_comes_late_changes_nothing(corpus, monkeypatch, files):
    """Another has begun and ended meanwhile: there is one winner."""
    true_write = release_making.release_files.write
    one = ask(corpus)

    def slow(release, folder, *, check):
        true_write(release, folder, check=check)
        monkeypatch.setattr(release_making.release_files, "write", true_write)
        release_making.make(release.pk)

    monkeypatch.setattr(release_making.release_files, "write", slow)
    one = make(one)
    assert (one.state, one.attempts) == ("ready", 2)
    assert [path.name for path in files.iterdir()] == [one.public_id]
    assert list(problems(files / one.public_id, digest=one.digest)) == []


def test_a_folder_that_a_killed_worker_had_put_in_place_is_replaced(corpus, files):
    one = ask(corpus)
    (files / one.public_id).mkdir(parents=True)
    (files / one.public_id / "half.jsonl").write_text("{")
    one = make(one)
    assert list(problems(files / one.public_id, digest=one.digest)) == []
