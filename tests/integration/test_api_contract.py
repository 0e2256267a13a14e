"""The API keeps to its own description: whatever is sent, no answer is one that is not described.

Requests are made from the description by schemathesis: some that it allows, some that it does not. The WSGI
application answers, with a token of each role.
"""

import re
from pathlib import Path

import pytest
import schemathesis
from django.conf import settings as site
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as examined
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from simulation.domain.roles import Role
from simulation.services import engine
from synthpai_web.api_pages import described
from tests.api import token_of
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    ProviderFactory,
)
from tests.guards.test_api_access import doors, endpoints, things

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
EXAMPLES = {Role.ADMIN: 30, Role.RESEARCHER: 10, Role.ADJUDICATOR: 6, Role.LABELER: 10}
ADDRESSES = {
    "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route.removeprefix("api/v1/")): name
    for name, route, _ in endpoints()
}
SCHEMA = schemathesis.openapi.from_dict(described())
Path(site.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # the middleware warns where it is missing
APPLICATION = get_wsgi_application()
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]


@pytest.fixture(autouse=True)
def one_connection():
    """The application answers within the test's own transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def corpus(db):
    """With a little in it, so that lists are not empty."""
    ProviderFactory()
    corpus = CorpusFactory()
    for _ in range(3):
        CommentFactory(thread__corpus=corpus, profile=ProfileFactory(corpus=corpus))
    return corpus


def test_every_door_is_described():
    found = {(operation.method.upper(), operation.path) for operation in OPERATIONS}
    hidden = {name for name, _, kind in endpoints() if kind.hidden}
    named = {address: name for address, name in ADDRESSES.items() if name not in hidden}
    declared = {(method, name) for name, _, method, _ in doors() if name not in hidden}
    assert {(method, named[path]) for method, path in found} == declared


@pytest.mark.parametrize("operation", [pytest.param(one, id=one.label) for one in OPERATIONS])
def test_no_answer_is_undeclared(operation, corpus, settings, monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    settings.API_RATE = 1_000_000
    kwargs = re.findall(r"{(\w+)}", operation.path)
    real = things(corpus, ADDRESSES[operation.path], kwargs) if kwargs else None
    admin = token_of(MembershipFactory(role=Role.ADMIN).person)
    for example in _examples(operation):
        sent = {"body": example, "media_type": "application/json"} if example else {}
        case = operation.Case(path_parameters=real or {}, **sent)
        case.call_and_validate(headers={"Authorization": f"Bearer {admin}"}, checks=CHECKS, app=APPLICATION)
    for role, examples in EXAMPLES.items():
        token = token_of(MembershipFactory(role=role).person)
        _ask(operation, real, token, examples)


def _examples(operation):
    """The bodies that the description gives as examples; one empty for what has no body in JSON."""
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    found = content.get("application/json", {}).get("examples", {})
    return [one["value"] for one in found.values()] or [None]


def _ask(operation, real, token, examples):
    asked = operation.as_strategy(path_parameters=real)
    asked |= operation.as_strategy(GenerationMode.NEGATIVE, path_parameters=real)
    if real:
        asked |= operation.as_strategy()

    @seed(20261201)
    @examined(
        max_examples=examples,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=asked)
    def ask(case):
        headers = {"Authorization": f"Bearer {token}"}
        case.call_and_validate(headers=headers, checks=CHECKS, app=APPLICATION)

    ask()
