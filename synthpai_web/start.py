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


def attach_servers() -> list[str]:
    """Starts, or joins, those servers that no address names; says which did not answer before.

    To be called again at will: a server that was lost meanwhile is started anew. Ends the process with a
    sentence on failure.
    """
    read_settings()
    wanted: dict[embedded.ServerName, bool] = {
        "postgres": settings.EMBEDDED_POSTGRES,
        "valkey": settings.EMBEDDED_VALKEY,
    }
    try:
        return [name for name, is_ours in wanted.items() if is_ours and _attach(name)]
    except embedded.EmbeddedServerError as error:
        sys.exit(f"The embedded server did not start. {error}")


def _attach(name: embedded.ServerName) -> bool:
    """Whether the server did not answer before; now it does."""
    was_silent = not embedded.answers(settings.VAR_DIR, name)
    embedded.attach(settings.VAR_DIR, name)
    return was_silent
