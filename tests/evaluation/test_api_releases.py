"""Releases by script: asked for, made by a worker, read, compared, withdrawn."""

import hashlib

import pytest
from kombu.exceptions import OperationalError

from annotation.services import queues
from evaluation.api import releases
from evaluation.exchange import release_differences, release_making
from evaluation.models import Release, ReleaseDifference
from simulation.domain.scopes import Scope
from tests.api import api_of, problem_in
from tests.factories.annotation import SuggestionFactory
from tests.factories.overview import submit
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def labelled(corpus, labeler):
    """A corpus in which one comment has been labelled by one person."""
    profile = ProfileFactory(corpus=corpus, facts={"age": 30})
    comment = CommentFactory(thread__corpus=corpus, profile=profile, username=profile.username)
    SuggestionFactory(comment=comment)
    queue = queues.create(by=None, corpus=corpus, name="q", people_per_item=1)
    submit(labeler, queue.items.get())
    return corpus


def made(api, corpus, name="1.0", **fields):
    answer = api.post(f"corpora/{corpus.public_id}/releases/", {"name": name, "policy": "single", **fields})
    assert answer.status_code == 202, answer.content
    release_making.make(Release.objects.get(public_id=answer.json()["id"]).pk)
    return api.get(answer["Location"]).json()


def test_a_release_is_made_and_its_files_are_what_the_manifest_says(researcher, labelled):
    api = api_of(researcher)
    one = made(api, labelled)
    assert one["state"] == "ready"
    assert api.get(f"corpora/{labelled.public_id}/releases/").json()["results"] == [one]
    files = api.get(f"releases/{one['id']}/files/").json()["files"]
    assert {"labels.jsonl", "comments.parquet", "README.md", "manifest.json"} <= {f["name"] for f in files}
    for file in files:
        answer = api.get(f"releases/{one['id']}/files/{file['name']}/")
        content = b"".join(answer.streaming_content)
        assert hashlib.sha256(content).hexdigest() == file["sha256"], file["name"]
    problem_in(api.get(f"releases/{one['id']}/files/secrets.txt/"), 404)


def test_what_cannot_be_made_is_said_and_nothing_is(researcher, labelled):
    api = api_of(researcher)
    address = f"corpora/{labelled.public_id}/releases/"
    problem_in(api.post(address, {"name": "a b"}), 409)
    problem_in(api.post(address, {"name": "1", "query": {"colour": "red"}}), 409)
    problem_in(api.post(address, {"name": "1", "policy": "agreeing"}), 409)
    problem_in(api.post(address, {"name": "1", "query": {"threads": ["nowhere"]}}), 409)
    assert Release.objects.count() == 0
    made(api, labelled)
    assert problem_in(api.post(address, {"name": "1.0"}), 409)["errors"][0]["field"] == "name"


def test_withdrawing_takes_the_name_and_a_notice(researcher, labelled):
    api = api_of(researcher)
    one = made(api, labelled)
    address = f"releases/{one['id']}/withdraw/"
    problem_in(api.post(address, {"notice": "wrong", "confirm": "2.0"}), 409)
    done = api.post(address, {"notice": "Use 1.1.", "confirm": "1.0"})
    assert (done.status_code, done.json()["notice"]) == (200, "Use 1.1.")
    problem_in(api.post(address, {"notice": "again", "confirm": "1.0"}), 409)


def test_two_releases_are_compared(researcher, labelled, labeler):
    api = api_of(researcher)
    old = made(api, labelled)
    submit(labeler, labelled.queues.get().items.get(), age="corrected")
    new = made(api, labelled, "1.1")
    address = f"releases/{new['id']}/differences/"
    assert api.post(address, {"other": old["id"]}).json()["counts"] is None
    release_differences.make(ReleaseDifference.objects.get().pk)
    assert ReleaseDifference.objects.get().problem == ""
    counts = api.post(address, {"other": old["id"]}).json()["counts"]
    assert counts["labels"]["relabelled"] == 1
    problem_in(api.post(address, {"other": new["id"]}), 409)


def test_scope_right_and_corpus_decide(researcher, labeler, labelled):
    one = made(api_of(researcher), labelled)
    address = f"corpora/{labelled.public_id}/releases/"
    problem_in(api_of(researcher, [Scope.READ]).post(address, {"name": "2"}), 403)
    problem_in(api_of(labeler).get(address), 403)
    foreign = api_of(MembershipFactory(role="researcher", corpus=CorpusFactory()).person)
    for path in (address, f"releases/{one['id']}/", f"releases/{one['id']}/files/"):
        problem_in(foreign.get(path), 404)
    problem_in(foreign.post(f"releases/{one['id']}/withdraw/", {"notice": "x", "confirm": "1.0"}), 404)


@pytest.mark.django_db(transaction=True)
def test_while_the_broker_is_down_a_release_waits_and_the_answer_is_none_of_trouble(
    researcher, labelled, monkeypatch
):
    def down(*_):
        raise OperationalError

    monkeypatch.setattr(releases.make_release, "delay", down)
    address, wanted = f"corpora/{labelled.public_id}/releases/", {"name": "1.0", "policy": "single"}
    assert api_of(researcher).post(address, wanted, key="k1").status_code == 202
    assert Release.objects.get().state == "queued"
