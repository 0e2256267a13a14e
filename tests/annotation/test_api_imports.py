"""Files into a corpus by script: sent, looked at, cancelled, undone."""

import io

import pytest

from annotation.exchange import undoing, uploads
from annotation.models import DataImport
from simulation.domain.scopes import Scope
from simulation.models import Comment
from tests.annotation.exchange.samples import lines, row
from tests.api import api_of, problem_in
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


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
