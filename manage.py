#!/usr/bin/env python
"""Django's command line. Starts the embedded servers first where no address names others."""

import os
import secrets
import signal
import sys

INTERRUPTED = 128 + signal.SIGINT
# Loading takes a second in which Ctrl-C would end in a traceback: nothing is begun yet, so just leave.
signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))

from django.core.management import execute_from_command_line  # noqa: E402 - after the signal

from synthpai_web.start import attach_servers, read_settings  # noqa: E402

# Commands that look at code only.
WITHOUT_SERVERS = {
    "check",
    "check_structure",
    "collectstatic",
    "help",
    "reproduce_paper",
    "serve_scripted_model",
    "version",
    "--help",
    "--version",
}
# Of these, those that sign nothing and read nobody's data: any key does, so none has to be set.
WITHOUT_KEY = {"check_structure", "reproduce_paper", "serve_scripted_model"}
# Commands that run the demo on servers of their own choice and bring the demo's settings along.
DEMO = {"demo", "smoke"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synthpai_web.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in DEMO:
        os.environ["SYNTHPAI_DEMO"] = "1"
        if command == "smoke":
            os.environ.setdefault("SYNTHPAI_VAR", os.path.join("var", "smoke"))
    if command in WITHOUT_KEY and not os.environ.get("SECRET_KEY"):
        os.environ["SECRET_KEY"] = secrets.token_urlsafe(50)
    if command in WITHOUT_SERVERS or "--help" in sys.argv:
        read_settings()
    else:
        attach_servers()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
