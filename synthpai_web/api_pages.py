"""The description of the API, for programs and for people; and the answer to an address that is none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.domain.scopes import WORDS
from simulation.rest.access import Access
from simulation.rest.describing import SAID
from simulation.rest.endpoints import Endpoint
from simulation.rest.problems import TYPES
from simulation.selectors.access import PersonRequest, signed_in
from synthpai_web import api_reference

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@lru_cache(maxsize=1)
def described() -> dict[str, Any]:
    """The description; made once a process, since it changes with the code alone."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


class Schema(Endpoint):
    """The description as OpenAPI, in JSON."""

    noun = "description"
    hidden = True
    access = {"GET": Access(None, None, "The description of the API.")}

    def get(self, request: Request) -> Response:
        return Response(described())


@signed_in
@require_safe
def reference(request: PersonRequest) -> HttpResponse:
    """The description as a page for people."""
    context = {
        "section": "account",
        "nouns": api_reference.nouns(described()),
        "scopes": [(scope.value, words) for scope, words in WORDS.items()],
        "problems": [(status, TYPES[status], words) for status, words in SAID.items()],
    }
    return render(request, "api/reference.html", context)


class Unknown(Endpoint):
    """Every address that is none: said as a problem, to who may ask at all."""

    noun = "description"
    hidden = True
    access = {method: Access(None, None, "No such address.") for method in METHODS}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Without a look at what was sent."""
        super(Endpoint, self).initial(request, *args, **kwargs)

    def get(self, request: Request) -> Response:
        raise NotFound("There is no such address. Addresses of the API end with “/”.")

    post = put = patch = delete = get
