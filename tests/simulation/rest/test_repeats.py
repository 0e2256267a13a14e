"""Idempotency-Key: a request that is sent again is answered, not done again."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from simulation.api import corpora
from simulation.models import AuditEntry, Corpus, KeptAnswer
from simulation.services.kept_answers import sweep_answers
from tests.api import api_of, fields_in, problem_in
from tests.factories.simulation import CorpusFactory


@pytest.mark.django_db
def test_the_same_request_again_is_answered_alike_and_done_once(admin):
    api = api_of(admin)
    first = api.post("corpora/", {"name": "winter"}, key="k1")
    again = api.post("corpora/", {"name": "winter"}, key="k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    for header in ("Content-Type", "Location"):
        assert first[header] == again[header]
    assert (first["Idempotency-Replayed"], again["Idempotency-Replayed"]) == ("false", "true")
    assert Corpus.objects.count() == 1


@pytest.mark.django_db
def test_without_a_key_it_is_done_twice(admin):
    api = api_of(admin)
    assert api.post("corpora/", {"name": "winter"}).status_code == 201
    problem_in(api.post("corpora/", {"name": "winter"}), 409)
    assert not KeptAnswer.objects.exists()


@pytest.mark.django_db
def test_the_key_with_another_request_is_refused(admin):
    api = api_of(admin)
    api.post("corpora/", {"name": "winter"}, key="k1")
    assert problem_in(api.post("corpora/", {"name": "summer"}, key="k1"), 422)["type"].endswith("key-used")
    assert not Corpus.objects.filter(name="summer").exists()


@pytest.mark.django_db
def test_a_refusal_is_kept_with_its_status_and_nothing_is_done(admin, corpus):
    api = api_of(admin)
    first = api.post("corpora/", {"name": corpus.name}, key="k1")
    corpus.name = "renamed"
    corpus.save()
    again = api.post("corpora/", {"name": "winter"}, key="k1")
    problem_in(first, 409)
    assert first.content == again.content
    assert again["Content-Type"] == "application/problem+json"
    assert Corpus.objects.count() == 1


@pytest.mark.django_db
def test_a_body_that_is_refused_unread_does_not_use_the_key_up(admin):
    api = api_of(admin)
    fields_in(api.post("corpora/", {"nom": "winter"}, key="k1"))
    assert api.post("corpora/", {"name": "winter"}, key="k1").status_code == 201


@pytest.mark.django_db
def test_keys_are_of_one_person(admin, researcher):
    assert api_of(admin).post("corpora/", {"name": "winter"}, key="k1").status_code == 201
    assert api_of(researcher).post("corpora/", {"name": "summer"}, key="k1").status_code == 201


@pytest.mark.django_db
def test_a_token_of_one_corpus_is_not_answered_as_another_token_was(admin, corpus):
    address, key = f"corpora/{corpus.public_id}/queues/", "nightly"
    assert api_of(admin).post(address, {"name": "round 1"}, key=key).status_code == 201
    bound = api_of(admin, corpus=CorpusFactory())
    problem_in(bound.post(address, {"name": "round 1"}, key=key), 422)


@pytest.mark.django_db
def test_a_key_is_printable_and_not_long(admin):
    for key in ("x" * 101, "a b", "ü"):
        assert fields_in(api_of(admin).post("corpora/", {"name": "winter"}, key=key)) == {"Idempotency-Key"}


@pytest.mark.django_db
def test_answers_are_forgotten_after_a_day(admin):
    api = api_of(admin)
    api.post("corpora/", {"name": "winter"}, key="k1")
    assert sweep_answers(timezone.now() + timedelta(hours=23)) == 0
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    assert api.post("corpora/", {"name": "summer"}, key="k1").status_code == 201
    assert sweep_answers(timezone.now() + timedelta(hours=25)) == 1
    assert not KeptAnswer.objects.exists()


@pytest.mark.django_db
def test_a_fault_of_ours_undoes_the_work_and_keeps_nothing(admin, monkeypatch):
    made = corpora.create_corpus

    def broken(**said):
        made(**said)
        raise RuntimeError("broke behind the work")

    monkeypatch.setattr(corpora, "create_corpus", broken)
    api = api_of(admin)
    api.client.raise_request_exception = False
    before = AuditEntry.objects.count()
    answer = api.post("corpora/", {"name": "winter"}, key="k1")
    assert "Idempotency-Key" in problem_in(answer, 500)["detail"]
    assert (Corpus.objects.count(), KeptAnswer.objects.count(), AuditEntry.objects.count()) == (0, 0, before)
    monkeypatch.undo()
    assert api.post("corpora/", {"name": "winter"}, key="k1").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_second_one_while_the_first_is_in_work_is_told_so_and_the_work_is_done_once(admin, monkeypatch):
    begun, go = threading.Event(), threading.Event()
    made = corpora.create_corpus

    def slowly(**said):
        begun.set()
        assert go.wait(60)
        return made(**said)

    monkeypatch.setattr(corpora, "create_corpus", slowly)
    api, answers = api_of(admin), []

    def send():
        try:
            answers.append(api.post("corpora/", {"name": "winter"}, key="k1"))
        finally:
            connection.close()

    first = threading.Thread(target=send)
    first.start()
    assert begun.wait(60)
    second = api_of(admin).post("corpora/", {"name": "winter"}, key="k1")
    go.set()
    first.join(60)
    assert "in work" in problem_in(second, 409)["detail"]
    assert second["Retry-After"] == "1"
    assert answers[0].status_code == 201
    third = api.post("corpora/", {"name": "winter"}, key="k1")
    assert third.content == answers[0].content
    assert Corpus.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_dies_behind_the_work_leaves_nothing_in_work(admin, monkeypatch):
    made = corpora.create_corpus

    def dying(**said):
        made(**said)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(corpora, "create_corpus", dying)
    api = api_of(admin)
    api.client.raise_request_exception = False
    assert api.post("corpora/", {"name": "winter"}, key="k1").status_code == 500
    connection.close()
    monkeypatch.undo()
    assert (Corpus.objects.count(), KeptAnswer.objects.count()) == (0, 0)
    assert api.post("corpora/", {"name": "winter"}, key="k1").status_code == 201
