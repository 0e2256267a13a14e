"""Default deny in the API: each endpoint says for each method which scope and right it takes."""

import io
import re
from collections.abc import Mapping

import pytest
from django.urls import reverse
from rest_framework import serializers

from annotation.models import DataImport
from evaluation.models import Release
from simulation.domain.roles import RIGHTS, Role
from simulation.domain.scopes import Scope
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from tests.api import Api, problem_in, token_of
from tests.factories.annotation import queue_over
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    RunFactory,
    ThreadFactory,
    UserFactory,
)
from tests.guards.test_url_access import is_api, views

COUNTS_ONLY = {"api_difference": "a worker counts what differs; nothing is changed by it"}
"""What is sent with a body and yet only read."""


def _item(corpus):
    queue = queue_over(CorpusFactory(), comments=1)
    queue.corpus = corpus
    queue.save()
    return queue.items.get()


THINGS = {
    "corpus_id": lambda corpus: corpus.public_id,
    "thread_id": lambda corpus: ThreadFactory(corpus=corpus).public_id,
    "comment_id": lambda corpus: CommentFactory(thread__corpus=corpus).public_id,
    "profile_id": lambda corpus: ProfileFactory(corpus=corpus).public_id,
    "run_id": lambda corpus: RunFactory(corpus=corpus).public_id,
    "queue_id": lambda corpus: queue_over(corpus).public_id,
    "queue_id item_id": lambda corpus: (item := _item(corpus)) and (item.queue.public_id, item.public_id),
    "import_id": lambda corpus: DataImport.objects.create(corpus=corpus, by=UserFactory()).public_id,
    "label_set_id": lambda corpus: LabelSetFactory(corpus=corpus).public_id,
    "prediction-runs run_id": lambda corpus: PredictionRunFactory(corpus=corpus).public_id,
    "release_id": lambda corpus: Release.objects.create(corpus=corpus, name="1.0").public_id,
    "release_id name": lambda corpus: (
        Release.objects.create(corpus=corpus, name="1.0").public_id,
        "manifest.json",
    ),
}
"""Names in an address -> what of a corpus they mean, made for the test. New ones must be added here."""

HANDLERS = ("get", "post", "put", "patch", "delete")
UNKNOWN = "api_unknown"
"""Answers to every other address, whatever is sent."""


def endpoints():
    return [(name, route, view.cls) for route, name, view in views() if is_api(view)]


def doors():
    """(name of the address, names in it, method, what is declared)."""
    for name, route, kind in endpoints():
        for method, declared in kind.access.items():
            if name != UNKNOWN:
                yield name, re.findall(r"<\w+:(\w+)>", route), method, declared


DOORS = [pytest.param(*door, id=f"{door[2]} {door[0]}") for door in doors()]
every_door = pytest.mark.parametrize(("name", "kwargs", "method", "declared"), DOORS)


def sent_to(declared):
    """A body that is taken: the example of its form, with a small file where one is asked for."""
    if declared.body is None:
        return None
    body = dict(getattr(declared.body, "example", {}))
    for field, kind in declared.body().fields.items():
        if isinstance(kind, serializers.FileField):
            body[field] = io.BytesIO(b"{}\n")
            body[field].name = "rows.jsonl"
    return body


def ask(api, name, kwargs, method, declared):
    address = reverse(name, kwargs=kwargs)
    if method == "GET":
        return api.get(address)
    if declared.upload:
        return api.upload(address, sent_to(declared))
    return api.send(method.lower(), address, sent_to(declared))


def things(corpus, name, kwargs):
    """Name in the address -> public id of something in `corpus`."""
    root = reverse(name, args=["x"] * len(kwargs)).split("/")[3]
    make = THINGS.get(f"{root} {' '.join(kwargs)}") or THINGS[" ".join(kwargs)]
    made = make(corpus)
    return dict(zip(kwargs, (made,) if isinstance(made, str) else made, strict=True))


def nowhere(kwargs):
    """Public ids, and numbers, of nothing."""
    return dict.fromkeys(kwargs, "222222222222")


def test_every_endpoint_declares_each_of_its_methods_and_no_other():
    assert len(endpoints()) > 10
    for name, _, kind in endpoints():
        assert issubclass(kind, Endpoint), name
        assert isinstance(kind.access, Mapping), name
        handled = {one.upper() for one in HANDLERS if hasattr(kind, one)}
        assert handled == set(kind.access), name
        for declared in kind.access.values():
            assert isinstance(declared, Access), name
            assert declared.does.endswith("."), name


def test_what_changes_something_takes_a_scope_of_its_own():
    for name, _, method, declared in doors():
        if method != "GET":
            assert name in COUNTS_ONLY or declared.scope not in (None, Scope.READ), f"{method} {name}"
            assert declared.rights, f"{method} {name}"


def test_examples_of_bodies_are_taken():
    for name, _, method, declared in doors():
        if declared.body and not declared.upload:
            assert declared.body(data=sent_to(declared)).is_valid(), f"{method} {name}"


@every_door
def test_without_a_token_it_opens_nothing(db, name, kwargs, method, declared):
    problem_in(ask(Api("spai_nothing"), name, nowhere(kwargs), method, declared), 401)


@every_door
def test_it_opens_for_those_roles_that_have_the_right_and_no_others(db, name, kwargs, method, declared):
    for role in (None, *Role):
        person = MembershipFactory(role=role).person if role else UserFactory()
        held = RIGHTS[role] if role else frozenset()
        answer = ask(Api(token_of(person)), name, nowhere(kwargs), method, declared)
        if declared.rights and held.isdisjoint(declared.rights):
            assert "right to" in problem_in(answer, 403)["detail"], role
        elif kwargs:
            problem_in(answer, 404)
        else:
            assert answer.status_code not in (401, 404, 405), (role, answer.content)


@every_door
def test_a_token_without_the_scope_opens_it_for_nobody(db, name, kwargs, method, declared):
    admin = MembershipFactory(role=Role.ADMIN).person
    for scope in Scope:
        answer = ask(Api(token_of(admin, [scope])), name, nowhere(kwargs), method, declared)
        if declared.scope in (None, scope):
            assert answer.status_code not in (401, 403)
        else:
            assert "lacks the scope" in problem_in(answer, 403)["detail"]


@every_door
def test_what_others_have_is_not_there(db, name, kwargs, method, declared):
    """For an admin of another corpus, and for a token of an admin of all that is bound to another corpus."""
    if not kwargs:
        return
    corpus, other = CorpusFactory(), CorpusFactory()
    objects = things(corpus, name, kwargs)
    stranger = MembershipFactory(role=Role.ADMIN, corpus=other).person
    problem_in(ask(Api(token_of(stranger)), name, objects, method, declared), 404)
    admin = MembershipFactory(role=Role.ADMIN).person
    problem_in(ask(Api(token_of(admin, corpus=other)), name, objects, method, declared), 404)


def test_lists_that_are_of_no_corpus_keep_to_that_of_the_token(db):
    corpus, other = CorpusFactory(), CorpusFactory()
    hidden = {corpus.public_id, RunFactory(corpus=corpus).public_id, queue_over(corpus).public_id}
    admin = MembershipFactory(role=Role.ADMIN).person
    everywhere, bound = Api(token_of(admin)), Api(token_of(admin, corpus=other))
    seen = ""
    for name, kwargs, method, _ in doors():
        if method == "GET" and not kwargs:
            seen += everywhere.get(reverse(name)).content.decode()
            listed = bound.get(reverse(name)).content.decode()
            assert not any(one in listed for one in hidden), name
    assert all(one in seen for one in hidden)
