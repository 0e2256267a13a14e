"""ETags: what has not changed is not sent again."""

import pytest

from tests.api import api_of

pytestmark = pytest.mark.django_db


def test_what_one_has_is_not_sent_again_until_it_changes(researcher, corpus):
    api, address = api_of(researcher), f"corpora/{corpus.public_id}/"
    tag = api.get(address)["ETag"]
    assert tag.startswith('"')
    for given in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = api.get(address, headers={"If-None-Match": given})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == tag
    corpus.description = "now with words"
    corpus.save()
    changed = api.get(address, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed["ETag"] != tag


def test_head_tells_the_etag_without_a_body(researcher, corpus):
    api, address = api_of(researcher), f"corpora/{corpus.public_id}/"
    head = api.ask("head", address, {}, headers={})
    assert (head.status_code, head.content) == (200, b"")
    assert head["ETag"] == api.get(address)["ETag"]


def test_an_error_has_none(researcher):
    assert "ETag" not in api_of(researcher).get("corpora/nothere/")


def test_answers_are_kept_by_nobody_between(researcher, corpus):
    answer = api_of(researcher).get("corpora/")
    assert answer["Cache-Control"] == "private, no-cache"
    assert {"Authorization", "Cookie", "Accept"} <= {one.strip() for one in answer["Vary"].split(",")}
