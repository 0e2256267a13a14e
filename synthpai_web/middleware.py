"""What holds for every request: its id and log line (no word of any person in it), its sender, its text."""

import ipaddress
import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError

request_id: ContextVar[str] = ContextVar("request_id", default="-")
USABLE_ID = re.compile(r"^[A-Za-z0-9-]{8,64}$")
log = logging.getLogger("synthpai.request")


class RequestIdFilter(logging.Filter):
    """Gives each log record the id of the request in which it was written."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class RequestLog:
    """Logs method, view (its name, not the address with its search words), status and milliseconds."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        token = request_id.set(given if USABLE_ID.match(given) else uuid.uuid4().hex)
        started = time.perf_counter()
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id.get()
            match = request.resolver_match
            person = getattr(request, "user", None)
            log.info(
                "request",
                extra={
                    "method": request.method,
                    "view": match.view_name if match else "",
                    "status": response.status_code,
                    "ms": round((time.perf_counter() - started) * 1000, 1),
                    "person": getattr(person, "public_id", "") if person is not None else "",
                },
            )
            return response
        finally:
            request_id.reset(token)


def is_api(request: HttpRequest) -> bool:
    """Whether an address is one of the API, whose errors are no pages."""
    return request.path.startswith("/api/")


SMALL = 500_000
"""Bytes of a form without a file."""


class RefuseNul:
    """Answers 400 to text with a NUL character in it, which PostgreSQL cannot hold and no person types.

    Looks at the address and at the fields of forms. Uploads are left unread here; their forms look for
    themselves. So does the API, which answers in its own way.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        if is_api(request):
            return None
        sent = [request.GET]
        if request.content_type == "application/x-www-form-urlencoded" or _is_small_form(request):
            try:
                sent.append(request.POST)
            except UnreadablePostError:
                return None  # the visitor is gone; CsrfViewMiddleware answers
        if not any(_has_nul(fields) for fields in sent):
            return None
        return HttpResponse(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Not accepted · SynthPAI Studio</title>"
            "<h1>The text holds a NUL character</h1><p>It is invisible and cannot be stored; it comes with"
            " pasted text at times. Go back: what you typed is still there. Write the pasted part anew and"
            " send again.</p></html>",
            status=400,
        )


def _is_small_form(request: HttpRequest) -> bool:
    """A form as scripts send it: in parts, and too small to be an upload that matters."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return request.content_type == "multipart/form-data" and length.isdecimal() and int(length) <= SMALL


def _has_nul(fields: QueryDict) -> bool:
    return any("\0" in text for name, values in fields.lists() for text in (name, *values))


def client_address(request: HttpRequest) -> str:
    """The visitor's address: the entry of X-Forwarded-For that our own proxies vouch for, if it is one."""
    if settings.PROXY_COUNT:
        hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
        if len(hops) >= settings.PROXY_COUNT and (address := _address(hops[-settings.PROXY_COUNT])):
            return address
    return request.META.get("REMOTE_ADDR", "")


def _address(hop: str) -> str:
    """The IP address in what a proxy wrote, with or without brackets, port and zone; "" if there is none."""
    host = hop[1:].partition("]")[0] if hop.startswith("[") else hop
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return ""
