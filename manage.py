#!/usr/bin/env python
"""Django's command line. Starts the embedded servers first where no address names others."""

import os
import sys

from django.core.management import execute_from_command_line

from synthpai_web.start import attach_servers, read_settings

# Commands that look at code only.
WITHOUT_SERVERS = {"check", "collectstatic", "help", "version", "--help", "--version"}
# Commands that run the demo on servers of their own choice and bring the demo's settings along.
DEMO = {"demo", "smoke"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synthpai_web.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in DEMO:
        os.environ["SYNTHPAI_DEMO"] = "1"
        if command == "smoke":
            os.environ.setdefault("SYNTHPAI_VAR", os.path.join("var", "smoke"))
    if command in WITHOUT_SERVERS or "--help" in sys.argv:
        read_settings()
    else:
        attach_servers()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
