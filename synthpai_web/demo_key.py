"""The demo's secret key: made once, kept beside the demo's data."""

import os
import secrets
from pathlib import Path


def demo_secret_key(var_dir: Path) -> str:
    """The key stored in `var_dir/secret_key` (mode 0600), made at the first call.

    Written beside and linked into place, so that of two processes starting together one wins and
    neither reads half a key.
    """
    path = var_dir / "secret_key"
    if not path.exists():
        var_dir.mkdir(parents=True, exist_ok=True)
        draft = var_dir / f".secret_key.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text(encoding="utf-8").strip()
