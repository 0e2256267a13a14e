"""Which workers are alive. Each writes the time into one hash in the broker every few seconds.

A page says "no worker" from this; `/readyz` refuses after 60 seconds of silence.
"""

import time
from functools import lru_cache

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

KEY = "synthpai:workers"
SILENCE_SECONDS = 60.0
FORGET_SECONDS = 86_400.0


@lru_cache(maxsize=1)
def broker() -> Redis:
    """One connection pool a process; answers within two seconds or raises RedisError."""
    return Redis.from_url(
        settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2, decode_responses=True
    )


def ages() -> dict[str, float]:
    """Worker name -> seconds since it was last seen, those silent for a day left out.

    Raises RedisError or OSError where the broker does not answer.
    """
    now = time.time()
    seen = {str(name): now - float(at) for name, at in broker().hgetall(KEY).items()}
    return {name: age for name, age in seen.items() if age < FORGET_SECONDS}


def alive() -> dict[str, float]:
    """The workers seen within a minute; none where the broker does not answer."""
    try:
        return {name: age for name, age in ages().items() if age <= SILENCE_SECONDS}
    except (RedisError, OSError):
        return {}
