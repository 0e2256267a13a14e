"""`Idempotency-Key`: a POST that is sent again, since its answer was lost, is answered and not done again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpResponse, QueryDict
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.rest.problems import REFUSING, InWork, KeyUsed
from simulation.services import kept_answers

HEADER = "Idempotency-Key"
USABLE = re.compile(r"[!-~]{1,100}")
KEPT_HEADERS = ("Content-Type", "ETag", "Link", "Location")
Handler = Callable[..., Any]


def key_of(request: Request) -> str:
    """The key of a request; empty where it has none. Raises ValidationError for one that is unusable."""
    key = request.headers.get(HEADER, "").strip()
    if key and not USABLE.fullmatch(key):
        raise ValidationError({HEADER: ["1 to 100 printable ASCII characters without blanks."]})
    return key


def once(view: Any, handler: Handler, key: str) -> Handler:
    """`handler`, done once for a person and key. Work and kept answer are one transaction.

    Kept is what was done (2xx) and what was refused (4xx, with nothing done); a fault of ours is not.
    """

    def handled(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        digest = digest_of(request)
        with transaction.atomic():
            try:
                kept = kept_answers.claim(by=view.person, key=key, digest=digest)
            except kept_answers.InWork:
                raise InWork from None
            except kept_answers.OtherRequest:
                raise KeyUsed from None
            if kept is not None:
                return _answered(kept.status or 200, bytes(kept.body), kept.headers, again=True)
            response = _done(view, handler, request, *args, **kwargs)
            headers = {name: response[name] for name in KEPT_HEADERS if name in response}
            status, body = response.status_code, bytes(response.content)
            kept_answers.keep(
                by=view.person, key=key, digest=digest, status=status, headers=headers, body=body
            )
        return _answered(status, body, headers, again=False)

    return handled


def digest_of(request: Request) -> str:
    """Of method, address and body; of files what is in them. A token of one corpus asks for itself: it is not
    answered as another of the same person was."""
    bound = getattr(request.user, "bound_to", None)
    digest = hashlib.sha256(f"{bound} {request.method} {request.get_full_path()}\0".encode())
    sent = request.data
    if not isinstance(sent, QueryDict):
        digest.update(json.dumps(sent, sort_keys=True).encode())
        return digest.hexdigest()
    for name, values in sorted(sent.lists()):
        for value in values:
            digest.update(f"{name}\0".encode())
            if isinstance(value, UploadedFile):
                for chunk in value.chunks():
                    digest.update(chunk)
                value.seek(0)
            else:
                digest.update(str(value).encode())
            digest.update(b"\0")
    return digest.hexdigest()


def _done(view: Any, handler: Handler, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
    """The answer, drawn; what a refused request had written is taken back."""
    try:
        with transaction.atomic():
            response = handler(request, *args, **kwargs)
    except (*REFUSING, *view.refusals) as error:
        response = view.handle_exception(error)
    response = view.finalize_response(request, response)
    if isinstance(response, Response):
        response.render()
    return response


def _answered(status: int, body: bytes, headers: Any, *, again: bool) -> HttpResponse:
    response = HttpResponse(body, status=status)
    del response["Content-Type"]
    for name, value in headers.items():
        response[name] = value
    response["Idempotency-Replayed"] = "true" if again else "false"
    return response
