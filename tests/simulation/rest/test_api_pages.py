"""The API in a browser: its reference, and an answer as a page."""

import pytest

from synthpai_web.api_pages import described
from tests.api import api_of

pytestmark = pytest.mark.django_db


def test_the_reference_names_every_operation_with_its_fields(client_of, stranger):
    page = client_of(stranger).get("/api/v1/docs/").content.decode()
    for path, methods in described()["paths"].items():
        assert path in page
        for operation in methods.values():
            assert f'id="{operation["operationId"]}"' in page
    assert "spending.max_cost_usd" in page
    assert "comments[].parent" in page


def test_the_reference_is_for_people_inside(client):
    assert client.get("/api/v1/docs/").status_code == 302


def test_an_answer_is_a_page_for_who_asks_with_a_browser(client_of, researcher, corpus):
    corpus.description = "<script>alert(1)</script>"
    corpus.save()
    answer = client_of(researcher).get("/api/v1/corpora/", headers={"Accept": "text/html,*/*;q=0.8"})
    page = answer.content.decode()
    assert answer["Content-Type"].startswith("text/html")
    assert corpus.public_id in page
    assert "<script>alert" not in page
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_a_refusal_is_a_page_too_with_its_status(client, client_of, researcher):
    browser = {"Accept": "text/html"}
    answer = client.get("/api/v1/corpora/", headers=browser)
    assert answer.status_code == 401
    assert "/login/?next=/api/v1/corpora/" in answer.content.decode()
    gone = client_of(researcher).get("/api/v1/corpora/nothere/", headers=browser)
    assert gone.status_code == 404
    assert "nothing here that you may see" in gone.content.decode()


def test_a_token_gets_pages_as_well(researcher, corpus):
    page = api_of(researcher).get("me/", headers={"Accept": "text/html"}).content.decode()
    assert "rosa" in page


def test_no_page_shows_the_cookie_or_the_token(client_of, researcher):
    browser = client_of(researcher)
    page = browser.get("/api/v1/me/", headers={"Accept": "text/html"}).content.decode()
    assert browser.cookies["sessionid"].value not in page
