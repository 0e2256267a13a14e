"""The addresses of PostgreSQL and of the broker, as the settings want them."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from synthpai_web.env import BadSetting

# What libpq may be told in the address; a slip of the pen would otherwise fail at the first query.
OPTIONS = {
    "application_name",
    "connect_timeout",
    "host",
    "options",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
}


NEVER_BY_ITSELF = 2**31
"""Statements are planned once only where the code says so (`simulation.selectors.prepared`)."""


def django_database(url: str, *, pool_size: int) -> dict[str, Any]:
    """The `DATABASES` entry for a `postgresql://user:password@host:port/name?option=value` address.

    `host` may stand among the options (a socket folder). A pool of at most `pool_size` connections a
    process is used: worker threads share it, so the server's limit is processes x pool_size.
    """
    parts = urlsplit(url)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    if unknown := sorted(options.keys() - OPTIONS):
        raise BadSetting(
            "DATABASE_URL", f"unknown option {', '.join(unknown)}; known are {', '.join(sorted(OPTIONS))}"
        )
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise BadSetting("DATABASE_URL", "the address names no database: postgresql://user@host/NAME")
    # Compiling costs more than it saves on questions as short as ours, and what is prepared is planned once,
    # not five times a connection; `?options=` overrules it.
    options.setdefault("options", "-c jit=off -c plan_cache_mode=force_generic_plan")
    host = options.pop("host", "") or unquote(parts.hostname or "")
    options["prepare_threshold"] = NEVER_BY_ITSELF
    options["pool"] = {"min_size": 0, "max_size": pool_size, "timeout": 20}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
        "CONN_HEALTH_CHECKS": True,
    }


def broker_address(url: str) -> str:
    """`url`, once its database is a number: the client passes over anything else without a word."""
    parts = urlsplit(url)
    named = "" if parts.scheme == "unix" else parts.path.strip("/")
    for number in (named, dict(parse_qsl(parts.query)).get("db", "")):
        if number and not number.isdecimal():
            raise BadSetting("REDIS_URL", "the database is not a number: redis://host:6379/0")
    return url
