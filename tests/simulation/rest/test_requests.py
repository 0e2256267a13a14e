"""What comes in: queries and bodies are taken as declared; what else comes is refused by name."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from simulation.models import Corpus
from tests.api import api_of, fields_in, problem_in

pytestmark = pytest.mark.django_db


def test_an_unknown_query_parameter_is_named(researcher):
    assert fields_in(api_of(researcher).get("corpora/", page=2)) == {"page"}


@pytest.mark.parametrize("limit", ["0", "201", "many", "", "-1", "9" * 30])
def test_a_limit_is_a_number_from_1_to_200(researcher, limit):
    assert fields_in(api_of(researcher).get("corpora/", limit=limit)) == {"limit"}


def test_a_parameter_that_is_given_twice_is_refused(researcher):
    assert fields_in(api_of(researcher).get("corpora/?limit=5&limit=6")) == {"limit"}


def test_a_nul_is_refused_where_it_stands(researcher):
    assert fields_in(api_of(researcher).get("corpora/?cursor=%00")) == {"cursor"}
    assert fields_in(api_of(researcher).post("corpora/", {"name": "a\0b"})) == {"name"}


def test_an_unknown_field_of_a_body_is_named_and_nothing_is_made(admin):
    assert fields_in(api_of(admin).post("corpora/", {"name": "x", "colour": "red"})) == {"colour"}
    assert not Corpus.objects.exists()


def test_half_a_character_is_refused(admin):
    assert fields_in(api_of(admin).post("corpora/", {"name": "a\ud800"})) == {"name"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"name": ', "line 1, column 10"),
        (b'{"name": NaN}', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"name": ' + b"9" * 5000 + b"}", "no JSON"),
        (b'{"name": "\xff"}', "not UTF-8"),
    ],
)
def test_what_is_no_json_is_said_to_be_none(admin, body, says):
    answer = api_of(admin).ask("post", "corpora/", body, headers={}, content_type="application/json")
    assert says in problem_in(answer, 400)["detail"]


@pytest.mark.parametrize("body", [[], "text", 5, None])
def test_a_body_is_an_object(admin, body):
    answer = api_of(admin).ask(
        "post", "corpora/", str(body).encode(), headers={}, content_type="application/json"
    )
    problem_in(answer, 400)


def test_a_byte_order_mark_is_no_error(admin):
    body = b'\xef\xbb\xbf{"name": "winter"}'
    answer = api_of(admin).ask("post", "corpora/", body, headers={}, content_type="application/json")
    assert answer.status_code == 201


def test_a_body_that_is_too_large_is_refused_unread(admin):
    problem_in(api_of(admin).post("corpora/", {"name": "x" * 2_500_001}), 413)


def test_a_form_is_no_json(admin):
    answer = api_of(admin).ask("post", "corpora/", {"name": "x"}, headers={})
    problem_in(answer, 415)
    answer = api_of(admin).ask("post", "corpora/", b"name: x", headers={}, content_type="text/yaml")
    problem_in(answer, 415)


def test_an_answer_in_another_form_than_there_is_is_refused(researcher):
    problem_in(api_of(researcher).get("corpora/", headers={"Accept": "text/csv"}), 406)


def test_what_is_nested_without_end_is_refused_with_a_key_too(admin, corpus):
    deep = 5
    for _ in range(400):
        deep = [deep]
    answer = api_of(admin).post(f"corpora/{corpus.public_id}/runs/", {"plan": {"name": deep}}, key="k1")
    assert fields_in(answer) == {"plan"}


def test_a_form_whose_fields_are_too_large_is_refused(admin, corpus):
    fields = {"file": SimpleUploadedFile("rows.jsonl", b"{}"), "dry_run": "x" * 2_600_000}
    problem_in(api_of(admin).upload(f"corpora/{corpus.public_id}/imports/", fields), 413)


def test_of_many_unknown_fields_a_hundred_are_named(admin):
    assert len(fields_in(api_of(admin).post("corpora/", {f"field{n}": 1 for n in range(5000)}))) == 100


def test_of_many_wrong_fields_a_hundred_are_named(admin):
    assert len(fields_in(api_of(admin).post("corpora/", {f"f{n}": n for n in range(500)}))) == 100


def test_a_body_of_another_kind_is_told_which_is_taken(admin):
    answer = api_of(admin).ask("post", "corpora/", b'{"name": "x"}', headers={}, content_type="text/plain")
    assert "application/json" in problem_in(answer, 415)["detail"]


def test_a_body_in_pieces_is_not_taken_for_none(admin, corpus):
    """A plan that is not seen would start another run than was meant."""
    pieces = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    answer = api_of(admin).post(f"corpora/{corpus.public_id}/dry-runs/", headers=pieces)
    assert "Content-Length" in problem_in(answer, 411)["detail"]


def test_without_encryption_it_refuses_where_the_site_has_it_and_leads_nowhere(admin, settings):
    settings.SECURE_SSL_REDIRECT = True
    api = api_of(admin)
    assert "https" in problem_in(api.post("corpora/", {"name": "winter"}), 403)["detail"]
    problem_in(api.get("corpora/"), 403)
    assert not Corpus.objects.exists()
    assert api.client.get("/api/v1/corpora/", headers={"Authorization": f"Bearer {api.token}"}, secure=True)
    assert api.client.get("/api/v1/docs/").status_code == 301
