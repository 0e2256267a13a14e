"""The secret key: given by the operator, or the demo's own, made once and kept beside its data."""

import os
import secrets
from pathlib import Path

from synthpai_web.env import BadSetting

LEAST_CHARACTERS = 32
HOW = (
    "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    " (only the demo, SYNTHPAI_DEMO=1, makes its own)"
)


def secret_key(given: str, *, demo: bool, var_dir: Path) -> str:
    """The key to use. Outside the demo it must be given, and long enough not to be guessed."""
    if demo:
        return given or demo_secret_key(var_dir)
    if not given:
        raise BadSetting("SECRET_KEY", f"not set. {HOW}")
    if len(given) < LEAST_CHARACTERS:
        raise BadSetting("SECRET_KEY", f"shorter than {LEAST_CHARACTERS} characters. {HOW}")
    return given


def demo_secret_key(var_dir: Path) -> str:
    """The key stored in `var_dir/secret_key` (mode 0600), made at the first call.

    BadSetting where the folder cannot be made, written or read.
    """
    path = var_dir / "secret_key"
    try:
        if not path.exists():
            _make(path)
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(
            "SYNTHPAI_VAR",
            f"the demo cannot keep its data in {var_dir} ({error.strerror}); name a folder of your own",
        ) from None


def _make(path: Path) -> None:
    """Written beside and linked into place, so that of two processes starting together one wins and
    neither reads half a key.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".secret_key.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
