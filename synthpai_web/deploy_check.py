"""`check --deploy` as it would run in production, with settings made up for the occasion."""

import os
import secrets
import subprocess
import sys


def main() -> int:
    """The exit status of Django's deployment check; warnings count as failures."""
    keep = {
        name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "VIRTUAL_ENV"}
    }
    made_up = {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ALLOWED_HOSTS": "studio.example.org",
        "CSRF_TRUSTED_ORIGINS": "https://studio.example.org",
        "DATABASE_URL": "postgresql://studio@database.example.org/studio",
        "REDIS_URL": "redis://broker.example.org:6379/0",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, env={**keep, **made_up}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
