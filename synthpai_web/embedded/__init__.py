"""PostgreSQL and Valkey of our own, for a machine on which no URL names other ones.

`place` says where they are, without doing anything; `attach` sees that one is up and stays up while this
process lives; `answers` asks whether it is. None needs Django, so a settings file can call them. Not for
production: there the URLs are set.

Environment: `SYNTHPAI_EMBEDDED_FSYNC=off`, read by whoever starts a server, trades safety for speed in tests.

The guardian process imports this package and with it `synthpai_web`: whatever that module imports, the
guardian loads too, and it must not come back here by reading the settings.
"""

from __future__ import annotations

from .attaching import answers, attach
from .errors import EmbeddedServerError, ServerName
from .places import Place, ServerPlace, place

__all__ = ["EmbeddedServerError", "Place", "ServerName", "ServerPlace", "answers", "attach", "place"]
