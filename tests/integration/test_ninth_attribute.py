"""Attributes are data: a ninth one and a corpus in German need a file and a variable, and no code."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings

OURS = Path(settings.BASE_DIR) / "simulation" / "domain" / "attributes.toml"
NINTH = """
[transport]
label = "Transport"
kind = "choice"
values = ["bicycle", "car", "train", "on foot"]
synonyms = { bike = "bicycle", walking = "on foot" }
ask = "What the author would rather travel by."
topic = "favourite means of transport"

[transport.de]
label = "Verkehrsmittel"
topic = "das liebste Verkehrsmittel"
ask = "Womit die Person am liebsten unterwegs ist."
values = { bicycle = "Fahrrad", car = "Auto", train = "Bahn", "on foot" = "zu Fuß" }
synonyms = { rad = "bicycle", zug = "train", laufen = "on foot" }
"""


def database_url() -> str:
    """The database of these tests, by the name under which pytest finds it: making another takes long."""
    name = settings.DATABASES["default"]["NAME"].removeprefix("test_")
    return urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}").geturl()


def run(path: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in an installation with this catalogue."""
    environment = os.environ | {"SYNTHPAI_ATTRIBUTES": str(path)} | more
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [sys.executable, *command], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True
    )


@pytest.mark.usefixtures("django_db_setup")
def test_a_ninth_attribute_and_a_corpus_in_german_need_no_code(tmp_path):
    path = tmp_path / "attributes.toml"
    path.write_text(OURS.read_text(encoding="utf-8") + NINTH, encoding="utf-8")
    done = run(
        path,
        "-m",
        "pytest",
        "-q",
        "-n0",
        "-p",
        "no:cacheprovider",
        "--reuse-db",
        "tests/integration/ninth_attribute.py",
        DATABASE_URL=database_url(),
        REDIS_URL=settings.REDIS_URL,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_a_wrong_catalogue_says_where_it_is_wrong(tmp_path):
    path = tmp_path / "attributes.toml"
    path.write_text(
        OURS.read_text(encoding="utf-8") + NINTH.replace('"choice"', '"colour"'), encoding="utf-8"
    )
    done = run(path, "-c", "import simulation.domain.attributes")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert f"{path}, [transport], kind: “colour” is none of" in last
    missing = run(tmp_path / "none.toml", "-c", "import simulation.domain.attributes")
    assert "SYNTHPAI_ATTRIBUTES: there is no file" in missing.stderr
