"""What each process does before it serves: refuse bad settings in words, bring up the embedded servers."""

import sys

from django.conf import settings

from synthpai_web import embedded
from synthpai_web.env import BadSetting


def read_settings() -> None:
    """Reads the settings now; a bad one ends the process with a sentence instead of a traceback."""
    try:
        _ = settings.SECRET_KEY
    except BadSetting as error:
        sys.exit(f"BadSetting: {error}")


def attach_servers() -> None:
    """Starts, or joins, those servers that no address names. Ends the process with a sentence on failure."""
    read_settings()
    try:
        if settings.EMBEDDED_POSTGRES:
            embedded.attach(settings.VAR_DIR, "postgres")
        if settings.EMBEDDED_VALKEY:
            embedded.attach(settings.VAR_DIR, "valkey")
    except embedded.EmbeddedServerError as error:
        sys.exit(f"The embedded server did not start. {error}")
