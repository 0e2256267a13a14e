"""A PostgreSQL address as Django's settings want it."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from synthpai_web.env import BadSetting


def django_database(url: str, *, pool_size: int) -> dict[str, Any]:
    """The `DATABASES` entry for a `postgresql://user:password@host:port/name?option=value` address.

    `host` may stand among the options (a socket folder). A pool of at most `pool_size` connections a
    process is used: worker threads share it, so the server's limit is processes x pool_size.
    """
    parts = urlsplit(url)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise BadSetting("DATABASE_URL", "the address names no database: postgresql://user@host/NAME")
    try:
        port = parts.port
    except ValueError:
        raise BadSetting("DATABASE_URL", "the port is not a number") from None
    host = options.pop("host", "") or unquote(parts.hostname or "")
    options["pool"] = {"min_size": 0, "max_size": pool_size, "timeout": 20}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "OPTIONS": options,
        "CONN_HEALTH_CHECKS": True,
    }
