"""Errors as `application/problem+json` (RFC 9457): what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core import exceptions as django_errors
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions, serializers
from rest_framework.response import Response

CONTENT_TYPE = "application/problem+json"
FAMILY = "urn:synthpai:problem:"
HIDDEN = "There is nothing here that you may see."
WHO_IS_MISSING = "Send a token of your account page: “Authorization: Bearer spai_…”."
WRONG_FORM = (
    "Say what the body is: “Content-Type: application/json”, or multipart/form-data where a file is sent."
)
UNENCRYPTED = (
    "The API is reached by https alone. What you sent could be read on its way: revoke the token in it."
)
TYPES = {
    400: "bad-request",
    401: "not-signed-in",
    403: "not-allowed",
    404: "not-found",
    405: "no-such-method",
    406: "no-such-form",
    409: "conflict",
    411: "no-length",
    412: "changed-meanwhile",
    413: "too-large",
    415: "no-such-form",
    422: "key-used",
    429: "too-fast",
    500: "broken",
}
"""What kind of problem a status means, whatever its words."""

MOST_ERRORS = 100
"""So many fields are named at most."""
REFUSING = (
    Http404,
    django_errors.PermissionDenied,
    django_errors.ValidationError,
    exceptions.APIException,
)
"""Errors that are an answer, besides those that a view names itself."""

UNREADABLE = (django_errors.SuspiciousOperation, django_errors.BadRequest, UnreadablePostError)


class Conflict(exceptions.APIException):
    """What was asked for does not go with the state in which the thing is."""

    status_code = 409
    default_code = "conflict"


class InWork(Conflict):
    """The same request is being answered at this moment."""

    default_detail = "The first request with this key is still in work. Ask again soon."
    wait = 1


class LengthMissing(exceptions.APIException):
    """A body in pieces, of which the server sees nothing: it would be taken for none."""

    status_code = 411
    default_detail = "Send the body with its length (Content-Length), not in pieces (chunked)."


class ChangedMeanwhile(exceptions.APIException):
    status_code = 412
    default_detail = "It has changed since you read it. Read it again, then decide."


class KeyUsed(exceptions.APIException):
    status_code = 422
    default_detail = "This Idempotency-Key was used for another request. Take a new one."


class TooFast(exceptions.APIException):
    status_code = 429

    def __init__(self, *, limit: int, wait: int) -> None:
        super().__init__(f"More than {limit:,} requests in a minute. Go on in {wait} s.")
        self.wait = wait


class WrongField(serializers.Serializer):
    field = serializers.CharField(help_text="Name of the field or query parameter; parts joined by dots.")
    message = serializers.CharField()


class Problem(serializers.Serializer):
    """What is wrong with a request. `type` tells kinds apart, `detail` is for people."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = WrongField(many=True, required=False)  # type: ignore[assignment]


def problem(status: int, detail: str, errors: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """The body of an error."""
    body: dict[str, Any] = {
        "type": FAMILY + TYPES.get(status, "bad-request"),
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return body | ({"errors": errors[:MOST_ERRORS]} if errors else {})


def handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The answer to an error; None for one that is a fault of ours (500).

    A view names the errors of its services in `refusals`: class -> status.
    """
    refusals: Mapping[type[Exception], int] = getattr(context.get("view"), "refusals", {})
    for kind, status in refusals.items():
        if isinstance(error, kind):
            return _answer(status, str(error), _named(error))
    if isinstance(error, Http404):
        return _answer(404, HIDDEN)
    if isinstance(error, django_errors.PermissionDenied):
        return _answer(403, str(error) or "You may not do this.")
    if isinstance(error, django_errors.ValidationError):
        return _answer(400, "Some fields are wrong.", _of_model(error))
    if isinstance(error, django_errors.RequestDataTooBig):
        return _answer(413, "The fields of the form are too large; files may be larger.")
    if isinstance(error, UNREADABLE):
        return _answer(400, "The request cannot be read to its end.")
    if isinstance(error, exceptions.ValidationError):
        return _answer(400, "Some fields are wrong.", list(flattened(error.detail)))
    if isinstance(error, exceptions.NotAuthenticated):
        error.detail = exceptions.ErrorDetail(WHO_IS_MISSING)
    if isinstance(error, exceptions.UnsupportedMediaType):
        error.detail = exceptions.ErrorDetail(WRONG_FORM)
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    return None


def _of_framework(error: exceptions.APIException) -> Response:
    headers = {}
    if scheme := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = scheme
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return _answer(error.status_code, str(error.detail), headers=headers)


def _answer(
    status: int,
    detail: str,
    errors: list[dict[str, str]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(problem(status, detail, errors), status=status, headers=dict(headers or {}))


def _named(error: Exception) -> list[dict[str, str]] | None:
    field = getattr(error, "field", "")
    return [{"field": str(field), "message": str(error)}] if field else None


def _of_model(error: django_errors.ValidationError) -> list[dict[str, str]]:
    if hasattr(error, "error_dict"):
        said = error.message_dict.items()
        return [{"field": name, "message": message} for name, messages in said for message in messages]
    return [{"field": "body", "message": message} for message in error.messages]


def flattened(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    """{field, message} for each message of a nested error, the parts of the field joined by dots."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = path if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from flattened(inner, own)
    elif isinstance(detail, list):
        for place, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from flattened(inner, (f"{path}.{place}" if path else str(place)) if nested else path)
    else:
        yield {"field": path or "body", "message": str(detail)}
