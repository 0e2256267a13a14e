"""Files into a corpus by script: sent, looked at, cancelled, undone."""

import io
import json
import runpy

import pytest
from django.conf import settings as site
from django.core.files.uploadedfile import SimpleUploadedFile
from kombu.exceptions import OperationalError

from annotation.api import imports
from annotation.exchange import undoing, uploads
from annotation.models import DataImport
from simulation.domain.scopes import Scope
from simulation.models import Comment
from tests.annotation.exchange.samples import lines, node, row
from tests.api import api_of, problem_in
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db
CLIENT = site.BASE_DIR / "static" / "client" / "synthpai_client.py"


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def sent(api, corpus, content=None, name="rows.jsonl", **fields):
    file = io.BytesIO((lines(row(0)) if content is None else content).encode())
    file.name = name
    return api.upload(f"corpora/{corpus.public_id}/imports/", {"file": file, **fields})


def carried_out(answer):
    one = DataImport.objects.get(public_id=answer.json()["id"])
    uploads.run(import_id=one.pk)
    return one


def test_a_file_is_sent_imported_and_undone(researcher, corpus):
    api = api_of(researcher)
    answer = sent(api, corpus)
    assert answer.status_code == 202, answer.content
    one = carried_out(answer)
    found = api.get(answer["Location"]).json()
    assert (found["state"], found["dry_run"]) == ("done", False)
    assert Comment.objects.count() == 1
    assert api.get(f"corpora/{corpus.public_id}/imports/").json()["results"] == [found]
    problem_in(api.post(f"imports/{one.public_id}/undo/", {"confirm": "other"}), 409)
    assert api.post(f"imports/{one.public_id}/undo/", {"confirm": "rows.jsonl"}).status_code == 202
    undoing.run(import_id=one.pk)
    assert api.get(f"imports/{one.public_id}/").json()["state"] == "undone"
    assert Comment.objects.count() == 0


def test_a_look_changes_nothing_and_problems_are_named(researcher, corpus):
    api = api_of(researcher)
    carried_out(sent(api, corpus, dry_run="true"))
    assert Comment.objects.count() == 0
    one = carried_out(sent(api, corpus, content=lines(row(0) | {"id": 5})))
    found = api.get(f"imports/{one.public_id}/").json()
    assert found["state"] == "invalid"
    assert found["problems"][0]["line"] == 1
    table = b"".join(api.get(f"imports/{one.public_id}/problems.csv/").streaming_content).decode()
    assert table.startswith("file,line,field,message")


def test_one_that_waits_is_cancelled_once(researcher, corpus):
    api = api_of(researcher)
    answer = sent(api, corpus)
    address = f"imports/{answer.json()['id']}/cancel/"
    assert api.post(address).json()["state"] == "cancelled"
    problem_in(api.post(address), 409)


def test_the_same_upload_sent_twice_with_a_key_is_one_import(researcher, corpus):
    api = api_of(researcher)
    for _ in range(2):
        file = io.BytesIO(lines(row(0)).encode())
        file.name = "rows.jsonl"
        answer = api.upload(f"corpora/{corpus.public_id}/imports/", {"file": file}, key="once")
        assert answer.status_code == 202
    assert DataImport.objects.count() == 1


def test_scope_right_and_corpus_decide(researcher, labeler, corpus):
    problem_in(sent(api_of(researcher, [Scope.READ]), corpus), 403)
    problem_in(sent(api_of(labeler), corpus), 403)
    foreign = api_of(MembershipFactory(role="researcher", corpus=CorpusFactory()).person)
    problem_in(sent(foreign, corpus), 404)
    answer = sent(api_of(researcher), corpus)
    for path in ("", "cancel/", "undo/"):
        address = f"imports/{answer.json()['id']}/{path}"
        asked = (
            foreign.get(address)
            if not path
            else foreign.post(address, {"confirm": "x"} if path == "undo/" else None)
        )
        problem_in(asked, 404)


def test_a_foreign_table_asks_for_its_columns_and_is_imported_by_them(researcher, corpus):
    api = api_of(researcher)
    answer = sent(api, corpus, content="stuff,who\nHello there,Gull\nAnd you,Tern\n", name="forum.csv")
    assert answer.json()["asks_for_columns"]
    address = f"imports/{answer.json()['id']}/columns/"
    found = api.get(address).json()
    assert (found["columns"], found["rows"][0]) == (["stuff", "who"], ["Hello there", "Gull"])
    refused = problem_in(api.post(address, {"mapping": {"text": "nowhere"}}), 400)
    assert any(one["field"].startswith("mapping") for one in refused["errors"])
    mapping = {"text": "stuff", "username": "who", "thread_id": {"constant": "forum"}}
    begun = api.post(address, {"mapping": mapping, "remember_as": "forum dumps"})
    assert begun.status_code == 202, begun.content
    carried_out(begun)
    assert sorted(Comment.objects.values_list("username", "text")) == [
        ("Gull", "Hello there"),
        ("Tern", "And you"),
    ]
    assert corpus.column_mappings.get().name == "forum dumps"
    problem_in(api.get(f"imports/{sent(api, corpus).json()['id']}/columns/"), 409)


def test_a_look_that_waits_for_its_columns_stays_one(researcher, corpus):
    api = api_of(researcher)
    mapping = {"text": "body", "username": "user", "thread_id": {"constant": "forum"}}
    answer = sent(api, corpus, content="body;user\nwet;Gull\n", name="forum.csv", dry_run="true")
    assert answer.json()["asks_for_columns"] is True
    address = f"imports/{answer.json()['id']}/columns/"
    begun = api.post(address, {"mapping": mapping})
    assert begun.json()["dry_run"] is True
    carried_out(begun)
    assert not Comment.objects.exists()
    begun = api.post(address, {"mapping": mapping})
    assert begun.json()["dry_run"] is False
    carried_out(begun)
    assert Comment.objects.count() == 1


def test_an_undo_that_waits_for_its_worker_is_said_to(researcher, corpus):
    api = api_of(researcher)
    one = carried_out(sent(api, corpus))
    assert api.get(f"imports/{one.public_id}/").json()["is_being_undone"] is False
    said = api.post(f"imports/{one.public_id}/undo/", {"confirm": "rows.jsonl"}).json()
    assert (said["state"], said["is_being_undone"]) == ("done", True)
    undoing.run(import_id=one.pk)
    said = api.get(f"imports/{one.public_id}/").json()
    assert (said["state"], said["is_being_undone"]) == ("undone", False)


@pytest.mark.parametrize("name", ["thread ü, 1 & 2.json", "it's (a) “quay”.json", "50%20.json", "鷗.json"])
def test_the_client_sends_a_file_under_its_own_name(researcher, corpus, tmp_path, name):
    path = tmp_path / name
    path.write_text(json.dumps(node()))
    form = runpy.run_path(str(CLIENT))["_Form"](path, {"dry_run": "false"})
    api = api_of(researcher)
    answer = api.client.post(
        f"/api/v1/corpora/{corpus.public_id}/imports/",
        b"".join(form),
        content_type=form.headers["Content-Type"],
        headers={"Authorization": f"Bearer {api.token}"},
    )
    assert answer.json()["file_name"] == name, answer.content
    carried_out(answer)
    assert Comment.objects.get().thread.external_id == name.removesuffix(".json")


@pytest.mark.django_db(transaction=True)
def test_while_the_broker_is_down_a_file_waits_and_the_answer_is_none_of_trouble(
    researcher, corpus, monkeypatch
):
    """With a key, too: then the worker is told when the transaction of the request ends."""

    def down(*_):
        raise OperationalError

    monkeypatch.setattr(imports.run_import, "delay", down)
    api, address = api_of(researcher), f"corpora/{corpus.public_id}/imports/"
    for key in ("", "k1"):
        answer = api.upload(address, {"file": SimpleUploadedFile("rows.jsonl", b"{}")}, key=key)
        assert answer.status_code == 202, answer.content
    assert DataImport.objects.filter(state=DataImport.QUEUED).count() == 2
