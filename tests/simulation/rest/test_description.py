"""The description of the API says what is there, and fits what is answered."""

import pytest
from drf_spectacular.drainage import GENERATOR_STATS

from synthpai_web.api_pages import described
from tests.api import api_of


@pytest.fixture
def description():
    described.cache_clear()
    return described()


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_it_is_made_without_a_warning(description):
    GENERATOR_STATS.reset()
    described.cache_clear()
    described()
    assert not GENERATOR_STATS, list(GENERATOR_STATS._warn_cache) + list(GENERATOR_STATS._error_cache)


def test_every_operation_has_a_name_of_its_own_and_words(description):
    found = list(operations(description))
    names = [operation["operationId"] for *_, operation in found]
    assert len(names) == len(set(names))
    for path, method, operation in found:
        assert operation["summary"].endswith("."), (path, method)
        assert operation["tags"], (path, method)
        assert operation["security"] == [{"token": []}], (path, method)


def test_every_refusal_is_a_problem_with_an_example(description):
    for path, method, operation in operations(description):
        refusals = {status for status in operation["responses"] if status >= "400"}
        assert {"400", "401", "403", "406", "429"} <= refusals, (path, method)
        assert ("404" in refusals) or "{" not in path, (path, method)
        for status in refusals:
            content = operation["responses"][status]["content"]
            assert list(content) == ["application/problem+json"], (path, method, status)


def test_what_goes_in_and_out_has_an_example(description):
    for path, method, operation in operations(description):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        bodies += [
            one for status, one in operation["responses"].items() if status < "300" and "content" in one
        ]
        for body in bodies:
            for kind, content in body["content"].items():
                if kind != "multipart/form-data":
                    assert content.get("examples"), (path, method, kind)


@pytest.mark.django_db
def test_a_script_may_read_it_with_any_token(stranger, client):
    answer = api_of(stranger).get("schema/")
    assert answer.json()["openapi"].startswith("3.1")
    assert client.get("/api/v1/schema/").status_code == 401
