"""Releases made, withdrawn and compared by commands, from a corpus to its files and back to what changed."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.domain.labels import State
from annotation.models import Decision, DecisionEvent
from evaluation.exchange.release_verifying import problems
from evaluation.models import Release
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.overview import submit
from tests.factories.simulation import CommentFactory, ProfileFactory, ThreadFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def item(corpus, labeler):
    """One comment, tagged and answered once."""
    author = ProfileFactory(corpus=corpus, external_id="p1")
    comment = CommentFactory(thread=ThreadFactory(corpus=corpus), profile=author, author="p1")
    SuggestionFactory(comment=comment)
    found = queue_over(corpus).items.get(comment=comment)
    submit(labeler, found, age="confirmed")
    return found


def run(command, *args, **options):
    out = io.StringIO()
    call_command(command, *args, stdout=out, **options)
    return out.getvalue()


def refused(command, *args, **options):
    with pytest.raises(CommandError) as error:
        run(command, *args, **options)
    return error.value


def test_the_files_are_made_and_copied(item, tmp_path):
    said = run("make_release", corpus="winter", name="1.0", policy="single", to=tmp_path / "out")
    one = Release.objects.get()
    assert (one.state, one.by) == ("ready", None)
    assert f"SHA-256 of manifest.json: {one.digest}" in said
    assert list(problems(tmp_path / "out", digest=one.digest)) == []
    labels = [json.loads(line) for line in (tmp_path / "out" / "labels.jsonl").read_text().splitlines()]
    assert {"age": "30"}.items() <= {row["attribute"]: row["value"] for row in labels}.items()
    assert "all" in run("verify_release", str(tmp_path / "out"))


def test_looking_makes_nothing_and_says_what_each_filter_leaves(item):
    said = run("make_release", corpus="winter", name="1.0", min_words=900, look=True)
    assert "everything: 1 comments" in said
    assert "only comments of so many words: 0 comments" in said
    assert "took the last" in said
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"corpus": "summer"}, "There is no corpus “summer”"),
        ({"name": "a b"}, "--name: A name has at most"),
        ({"agreeing": 2}, "--agreeing: The policy adjudicated asks for no number"),
        ({"attributes": ["shoe"]}, "--attributes: "),
        ({"min_words": 900}, "No comment is left"),
    ],
)
def test_what_is_refused_names_its_option(item, options, says):
    error = refused("make_release", **{"corpus": "winter", "name": "1.0", **options})
    assert error.returncode == 2
    assert says in str(error)
    assert not Release.objects.exists()


def test_a_folder_with_something_in_it_is_refused_before_anything_is_made(item, tmp_path):
    (tmp_path / "x").write_text("")
    assert "not empty" in str(refused("make_release", corpus="winter", name="1.0", to=tmp_path))
    assert not Release.objects.exists()


def test_a_withdrawal_needs_the_name_once_more(item):
    run("make_release", corpus="winter", name="1.0")
    one = Release.objects.get()
    assert "is not the name" in str(refused("withdraw_release", one.public_id, notice="Wrong.", yes="1"))
    assert "is withdrawn" in run("withdraw_release", "1.0", corpus="winter", notice="Wrong.", yes="1.0")
    one.refresh_from_db()
    assert (one.notice, one.withdrawn_by) == ("Wrong.", None)
    assert "Add --corpus" in str(refused("withdraw_release", "1.0", notice="x", yes="1.0"))


def test_the_same_corpus_twice_does_not_differ(item):
    for name in ("1.0", "1.1"):
        run("make_release", corpus="winter", name=name, policy="single")
    said = run("diff_releases", "1.0", "1.1", corpus="winter")
    assert "labels: 0 added, 0 removed, 0 relabelled, 0 changed" in said
    assert "comments: 0 added, 0 removed, 0 relabelled, 0 changed, 1 same" in said


def test_a_decision_between_two_releases_is_the_reason_of_a_new_label(item, adjudicator, tmp_path):
    run("make_release", corpus="winter", name="1.0")
    said = {"state": State.VALUE, "value": "51", "hardness": 1, "certainty": 5}
    Decision.objects.create(item=item, attribute="age", by=adjudicator, reason="slip", **said)
    DecisionEvent.objects.create(
        item=item, person=adjudicator, attribute="age", old=None, new=said | {"reason": "slip"}
    )
    late = CommentFactory(thread=item.comment.thread, text="A later one.")
    run("make_release", corpus="winter", name="1.1")
    found = run("diff_releases", "1.0", "1.1", corpus="winter", out=tmp_path / "d.jsonl")
    assert "1 labels: an adjudicator decided on it" in found
    rows = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert {(row["table"], row["change"]) for row in rows} == {
        ("comments", "added"),
        ("labels", "relabelled"),
    }
    assert [row["comment_id"] for row in rows] == [late.external_id, item.comment.external_id]
    assert (rows[1]["new"]["value"], rows[1]["why"], rows[1]["reason"]) == ("51", ["decision added"], "slip")
