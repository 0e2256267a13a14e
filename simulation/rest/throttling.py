"""How many requests a minute: counted in the broker's Redis, so for all processes together."""

from __future__ import annotations

import logging
import time
from typing import Any, ClassVar, cast

from django.conf import settings
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from simulation.models import ApiToken, User
from simulation.selectors.workers import broker

MINUTE = 60
SILENCE = 10.0
"""Seconds for which a process lets a broker alone that did not answer: each question costs two more."""
PREFIX = "synthpai:api-rate"
log = logging.getLogger("synthpai.api")


class PerMinute(BaseThrottle):
    """`API_RATE` requests in each minute of the clock, for each token; those of a browser for each person.

    Nobody is refused while the broker does not answer, or kept waiting for it: the count is a courtesy to
    others, not a lock.
    """

    silent_until: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self.limit = settings.API_RATE
        self.left = self.limit
        self.seconds = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        now = time.time()
        minute, self.seconds = int(now // MINUTE), MINUTE - int(now % MINUTE)
        if time.monotonic() < PerMinute.silent_until:
            return True
        key = f"{PREFIX}:{_who(request)}:{minute}"
        try:
            with broker().pipeline() as pipe:
                pipe.incr(key)
                pipe.expire(key, 2 * MINUTE)
                used = int(pipe.execute()[0])
        except (RedisError, OSError):
            PerMinute.silent_until = time.monotonic() + SILENCE
            log.warning("requests of the API are not counted: the broker does not answer")
            return True
        self.left = max(0, self.limit - used)
        return used <= self.limit

    def wait(self) -> float:
        return float(self.seconds)

    def headers(self) -> dict[str, str]:
        """What is left, for clients that slow down by themselves."""
        return {
            "RateLimit-Policy": f'"minute";q={self.limit};w={MINUTE}',
            "RateLimit": f'"minute";r={self.left};t={self.seconds}',
        }


def _who(request: Request) -> str:
    token = request.auth
    return token.public_id if isinstance(token, ApiToken) else cast(User, request.user).public_id
