"""Tokens at the door of the API: who comes in, and how far."""

from datetime import timedelta

import pytest
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.domain.scopes import Scope
from simulation.models import ApiToken
from simulation.services.api_tokens import revoke_token
from tests.api import Api, api_of, problem_in, token_of
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


def test_a_token_opens_what_its_person_may_see(researcher, corpus):
    answer = api_of(researcher).get("corpora/")
    assert answer.status_code == 200
    assert [one["id"] for one in answer.json()["results"]] == [corpus.public_id]


@pytest.mark.parametrize("given", ["", "Basic abc", "Bearer", "Bearer spai_unknown", "Bearer é"])
def test_without_a_token_of_ours_nobody_comes_in(client, given, corpus):
    answer = client.get("/api/v1/corpora/", headers={"Authorization": given})
    assert problem_in(answer, 401)["type"].endswith("not-signed-in")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_an_expired_one_opens_nothing(researcher, corpus):
    api = api_of(researcher)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "expired" in problem_in(api.get("corpora/"), 401)["detail"]


def test_a_revoked_one_opens_nothing(researcher, corpus):
    api = api_of(researcher)
    revoke_token(by=researcher, token=ApiToken.objects.get())
    assert "revoked" in problem_in(api.get("corpora/"), 401)["detail"]


def test_one_of_a_closed_account_opens_nothing(researcher, corpus):
    api = api_of(researcher)
    researcher.is_active = False
    researcher.save()
    assert "closed" in problem_in(api.get("corpora/"), 401)["detail"]


def test_the_scope_is_asked_for_before_the_right(researcher, corpus):
    api = api_of(researcher, [Scope.TAG])
    assert "scope “read”" in problem_in(api.get("corpora/"), 403)["detail"]


def test_a_scope_gives_no_right(stranger, labeler, corpus):
    assert "right to browse" in problem_in(api_of(stranger).get("corpora/"), 403)["detail"]
    assert "right to import" in problem_in(api_of(labeler).post("corpora/", {"name": "x"}), 403)["detail"]


def test_a_token_for_one_corpus_shows_that_one_alone(researcher, admin, corpus):
    other = CorpusFactory()
    for person in (researcher, admin):
        api = api_of(person, corpus=corpus)
        assert [one["id"] for one in api.get("corpora/").json()["results"]] == [corpus.public_id]
        assert api.get(f"corpora/{corpus.public_id}/").status_code == 200
        problem_in(api.get(f"corpora/{other.public_id}/"), 404)
        problem_in(api.post("corpora/", {"name": "a new one"}), 403)


def test_a_token_for_one_corpus_gives_no_right_held_in_another(stranger, corpus):
    other = CorpusFactory()
    MembershipFactory(person=stranger, corpus=other, role=Role.RESEARCHER)
    MembershipFactory(person=stranger, corpus=corpus, role=Role.LABELER)
    api = api_of(stranger, corpus=corpus)
    assert [one["id"] for one in api.get("corpora/").json()["results"]] == [corpus.public_id]
    problem_in(api.get(f"corpora/{other.public_id}/"), 404)


def test_a_token_for_a_corpus_in_the_trash_shows_nothing(researcher, corpus):
    api = api_of(researcher, corpus=corpus)
    corpus.trashed_at = timezone.now()
    corpus.save()
    assert api.get("corpora/").json()["results"] == []


def test_use_is_written_down_to_the_minute(researcher, corpus):
    api = api_of(researcher)
    api.get("corpora/")
    first = ApiToken.objects.get().last_used_at
    api.get("corpora/")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    api.get("corpora/")
    assert timezone.now() - ApiToken.objects.get().last_used_at < timedelta(seconds=30)


def test_a_browser_that_is_signed_in_may_look_and_needs_the_csrf_token_to_change(client_of, admin, corpus):
    browser = client_of(admin)
    browser.handler.enforce_csrf_checks = True
    assert browser.get("/api/v1/corpora/").status_code == 200
    sent = browser.post("/api/v1/corpora/", {"name": "x"}, content_type="application/json")
    assert "CSRF" in problem_in(sent, 403)["detail"]


def test_an_unknown_address_is_a_problem_and_only_for_those_inside(client, researcher):
    problem_in(client.get("/api/v1/nowhere/"), 401)
    assert "end with" in problem_in(api_of(researcher).get("corpora"), 404)["detail"]
    problem_in(api_of(researcher).send("delete", "nowhere/"), 404)


def test_a_method_that_is_not_there_is_named_so(researcher):
    answer = api_of(researcher).send("delete", "corpora/")
    problem_in(answer, 405)
    assert answer["Allow"] == "GET, HEAD, POST"


def test_a_token_is_the_same_after_blanks_around_it(researcher, corpus):
    assert Api(f"  {token_of(researcher)} ").get("corpora/").status_code == 200
