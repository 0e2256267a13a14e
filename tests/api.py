"""Asking the API as a person: with a token of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.test import Client

from simulation.domain.scopes import Scope
from simulation.models import Corpus, User
from simulation.services.api_tokens import make_token

ROOT = "/api/v1/"


def token_of(person: User, scopes: Iterable[Scope] = tuple(Scope), corpus: Corpus | None = None) -> str:
    """The text of a new token of `person`, with every scope unless told otherwise."""
    name = f"token {person.api_tokens.count() + 1}"
    _, text = make_token(by=person, person=person, name=name, scopes=list(scopes), days=1, corpus=corpus)
    return text


class Api:
    """A script with a token. Addresses are given without /api/v1/; answers are Django's test responses."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.client = Client(raise_request_exception=True)

    def get(self, address: str, headers: dict[str, str] | None = None, **query: Any) -> Any:
        return self.ask("get", address, query, headers=headers or {})

    def post(
        self, address: str, body: Any = None, key: str = "", headers: dict[str, str] | None = None
    ) -> Any:
        return self.send("post", address, body, key=key, headers=headers)

    def send(
        self,
        method: str,
        address: str,
        body: Any = None,
        key: str = "",
        headers: dict[str, str] | None = None,
    ) -> Any:
        """A request with a JSON body (`body` None: without one)."""
        given = dict(headers or {}) | ({"Idempotency-Key": key} if key else {})
        data = "" if body is None else json.dumps(body)
        return self.ask(method, address, data, headers=given, content_type="application/json")

    def upload(self, address: str, fields: dict[str, Any], key: str = "") -> Any:
        """A form with files: values that are open files are sent as such."""
        return self.ask("post", address, fields, headers={"Idempotency-Key": key} if key else {})

    def ask(self, method: str, address: str, data: Any, *, headers: dict[str, str], **more: Any) -> Any:
        path = address if address.startswith("/") else ROOT + address
        given = {"Authorization": f"Bearer {self.token}"} | headers
        return getattr(self.client, method)(path, data, headers=given, **more)


def api_of(person: User, scopes: Iterable[Scope] = tuple(Scope), corpus: Corpus | None = None) -> Api:
    """A script of `person`, by default with every scope."""
    return Api(token_of(person, scopes, corpus))


def problem_in(response: Any, status: int) -> dict[str, Any]:
    """The problem in an answer, which must be one of that status."""
    assert response.status_code == status, response.content[:1000]
    assert response["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert found["status"] == status
    return found


def fields_in(response: Any) -> set[str]:
    """The fields that a refused body or query names."""
    return {one["field"] for one in problem_in(response, 400)["errors"]}
