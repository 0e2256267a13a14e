"""ETags: a sheet that has not changed is not sent again, and one that has is not overwritten unseen."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpResponse
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.rest.problems import ChangedMeanwhile
from simulation.rest.rendering import Json


def etag_of(data: Any) -> str:
    """The strong ETag of what an answer holds."""
    return _tag(Json().render(data))


def require_match(request: Request, data: Any) -> None:
    """Raises ChangedMeanwhile where `If-Match` does not name `data`, which is what GET would answer now."""
    if given := request.headers.get("If-Match", "").strip():
        tags = parse_etags(given)
        if "*" not in tags and etag_of(data) not in tags:
            raise ChangedMeanwhile


def tagged(request: Request, response: Response) -> HttpResponse:
    """The answer with its ETag; 304 without a body where the asking side has it already."""
    response.render()
    tag = response["ETag"] = _tag(response.content)
    given = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" not in given and tag not in {one.removeprefix("W/") for one in given}:
        return response
    unchanged = HttpResponse(status=304)
    for name, value in response.items():
        if name != "Content-Type":
            unchanged[name] = value
    return unchanged


def _tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
