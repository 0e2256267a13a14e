"""The description of the API (OpenAPI 3.1), made from what endpoints say in `access`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from simulation.rest.access import Access, access_of
from simulation.rest.paging import PageQuery
from simulation.rest.problems import CONTENT_TYPE, FAMILY, TYPES, Problem
from simulation.rest.repeats import HEADER
from simulation.rest.strict import Strict

if TYPE_CHECKING:
    from simulation.rest.endpoints import Endpoint

JSON = "application/json"
SAID = {
    400: "A field, a query parameter or the form of the body is wrong; `errors` names each.",
    401: "No token, or one that works no more.",
    403: "The token lacks the scope, or its person the right.",
    404: "There is nothing there that the person may see.",
    406: "No answer in the form that `Accept` asks for.",
    409: "It does not go with the state the thing is in, or the first request with this key is in work.",
    411: "The body came in pieces, without its length.",
    412: "`If-Match` names another state than it is in.",
    413: "The body is too large.",
    415: "The body is not in the form that is taken here.",
    422: "The Idempotency-Key was used for another request.",
    429: "Too many requests in this minute; `Retry-After` says how many seconds to wait.",
}
KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="1 to 100 signs. The same key with the same request within a day is done once.",
    pattern=r"^[!-~]{1,100}$",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="ETag of the state that you know."
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="ETag of what you have: 304 if it is that still.",
)


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "simulation.rest.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A personal token of your account page."}


class Described(AutoSchema):
    """One operation: summary, parameters, body, every answer with its form and an example."""

    view: Endpoint  # type: ignore[override]

    @property
    def declared(self) -> Access:
        found = access_of(self.view, self.method)
        assert found is not None, f"{self.view.__class__.__name__} does not declare {self.method}"
        return found

    def is_excluded(self) -> bool:
        return self.view.hidden or access_of(self.view, self.method) is None

    def get_operation_id(self) -> str:
        return f"{self.method.lower()}_{snake(type(self.view).__name__)}"

    def get_summary(self) -> str:
        return self.declared.does

    def get_description(self) -> str:  # type: ignore[override]
        handler = getattr(self.view, self.method.lower())
        words = (handler.__doc__ or "").strip()
        return "\n\n".join(part for part in (re.sub(r"\s*\n\s*", " ", words), self._takes()) if part)

    def _takes(self) -> str:
        scope, rights = self.declared.scope, self.declared.rights
        takes = [f"the scope `{scope.value}`"] if scope else []
        if rights:
            takes.append(f"the right to {' or '.join(right.value for right in rights)}")
        return f"Takes {' and '.join(takes)}." if takes else "Any token will do."

    def get_tags(self) -> list[str]:
        return [self.view.noun]

    def get_extensions(self) -> dict[str, Any]:
        declared = self.declared
        return {
            "x-scope": declared.scope.value if declared.scope else None,
            "x-rights": [right.value for right in declared.rights],
        }

    def get_override_parameters(self) -> list[Any]:
        declared = self.declared
        query = declared.query or (PageQuery if declared.paged else None)
        found: list[Any] = [query] if query else []
        if self.method == "POST":
            found.append(KEY)
        if self.method == "GET":
            found.append(IF_NONE_MATCH)
        if 412 in declared.also:
            found.append(IF_MATCH)
        return found

    def get_request_serializer(self) -> Any:
        return self.declared.body

    def get_response_serializers(self) -> Any:
        declared = self.declared
        good: Any = declared.answer
        if good is not None and declared.paged:
            good = page_of(good)
        found: dict[Any, Any] = {
            (declared.status if good else 204, JSON): good or OpenApiResponse(description="Done.")
        }
        if self.method == "GET":
            found[304] = OpenApiResponse(description="It is what you have: `If-None-Match`.")
        for status in sorted(self._refusals()):
            found[(status, CONTENT_TYPE)] = OpenApiResponse(Problem, description=SAID[status])
        return found

    def _refusals(self) -> Iterator[int]:
        declared = self.declared
        yield from {400, 401, 403, 406, 429} | set(declared.also) | set(self.view.refusals.values())
        if "{" in self.path:
            yield 404
        if declared.body:
            yield from (411, 413, 415)
        if self.method == "POST":
            yield from (409, 422)

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        return str(getattr(serializer, "component", type(serializer).__name__))

    def _get_examples(self, serializer: Any, direction: Any, *rest: Any, **more: Any) -> dict[str, Any]:
        status = next((one for one in rest if isinstance(one, str) and one.isdecimal()), "")
        example = (
            example_of_problem(int(status)) if isinstance(serializer, Problem) else example_of(serializer)
        )
        return {"example": {"value": example}} if example is not None else {}

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        schema = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, Strict):
            schema["additionalProperties"] = False
        return schema


@cache
def page_of(kind: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer]:
    """The form of a page whose rows are of `kind`."""
    fields: dict[str, Any] = {
        "results": kind(many=True),
        "next": serializers.CharField(
            allow_null=True, help_text="Give it as `cursor` for the next page; null on the last one."
        ),
        "__doc__": f"A page of rows, each a {kind.__name__}.",
        "__module__": kind.__module__,
    }
    example = getattr(kind, "example", None)
    if example is not None:
        fields["example"] = {"results": [example], "next": None}
    return type(f"PageOf{kind.__name__}", (serializers.Serializer,), fields)


def example_of(serializer: Any) -> Any:
    """What a serializer says of itself in `example`; None: nothing."""
    return getattr(serializer, "example", None)


def example_of_problem(status: int) -> dict[str, Any]:
    found = {"type": FAMILY + TYPES[status], "title": TYPES[status], "status": status, "detail": SAID[status]}
    return found | ({"errors": [{"field": "limit", "message": "…"}]} if status == 400 else {})


def snake(name: str) -> str:
    """RunEvents -> run_events."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
