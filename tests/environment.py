"""Loaded by pytest before anything of the project: an environment in which tests may run.

Data of the tests live in `var/test`, apart from the demo's. The embedded servers skip their flushes to
disk there. `DATABASE_URL` and `REDIS_URL` name other servers, as everywhere: of the first the database
`test_<name>` is made and dropped, of the second number 15 (14 and so on for more processes) is used and
emptied.
"""

import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent

os.environ["SECRET_KEY"] = secrets.token_urlsafe(50)
os.environ["SYNTHPAI_DEMO"] = "1"
# Several processes share the tests (-n): each has data, servers and a number of the broker of its own.
PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "")
os.environ["SYNTHPAI_VAR"] = str(ROOT / "var" / f"test{PROCESS and '-'}{PROCESS}")
os.environ["SYNTHPAI_EMBEDDED_FSYNC"] = "off"
os.environ["DEBUG"] = "0"
os.environ["HTTPS"] = "0"
os.environ["PLAIN_STATIC"] = "1"
os.environ["LOG_LEVEL"] = "WARNING"
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's sync API runs an event loop in the test's thread
if os.environ.get("REDIS_URL", "").startswith(("redis://", "rediss://")):
    number = 15 - int(PROCESS.removeprefix("gw") or 0)
    os.environ["REDIS_URL"] = urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{number}").geturl()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synthpai_web.settings")

from synthpai_web.start import attach_servers  # noqa: E402 - after the environment

attach_servers()
