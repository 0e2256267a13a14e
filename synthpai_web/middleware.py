"""A request's id and its log line: facts for the operator, no word of any person in it."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

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


def client_address(request: HttpRequest) -> str:
    """The visitor's address: the entry of X-Forwarded-For that our own proxies vouch for, if any."""
    if settings.PROXY_COUNT:
        hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
        if len(hops) >= settings.PROXY_COUNT:
            return hops[-settings.PROXY_COUNT]
    return request.META.get("REMOTE_ADDR", "")
