"""Settings: each variable documented, a bad value refused by its name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from synthpai_web.env import BadSetting, Env

ROOT = Path(__file__).resolve().parents[2]
COMPOSE_ONLY = {"POSTGRES_PASSWORD", "WEB_PORT"}
KEY = "k" * 32


def documented():
    lines = (ROOT / ".env.example").read_text().splitlines()
    return {found[1] for line in lines if (found := re.match(r"^#?([A-Z][A-Z0-9_]+)=", line))}


def start(**variables):
    """Imports the settings in a fresh process with only these variables."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", "import synthpai_web.settings as s; print(sorted(s.env.names))"],
        env={**keep, **variables},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_variable_that_is_read_is_documented_and_no_other(tmp_path):
    ran = start(SECRET_KEY=KEY, SYNTHPAI_VAR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert documented() - COMPOSE_ONLY == set(re.findall(r"'(\w+)'", ran.stdout))


def test_a_missing_secret_key_is_an_error_outside_the_demo(tmp_path):
    ran = start(SYNTHPAI_VAR=str(tmp_path))
    assert ran.returncode != 0
    assert "SECRET_KEY: not set" in ran.stderr


def test_the_demo_makes_a_key_once_and_keeps_it_private(tmp_path):
    for _ in range(2):
        assert start(SYNTHPAI_DEMO="1", SYNTHPAI_VAR=str(tmp_path)).returncode == 0
    key = tmp_path / "secret_key"
    assert len(key.read_text()) > 50
    assert key.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DEBUG", "perhaps", "neither yes nor no"),
        ("DATABASE_URL", "mysql://x/y", "must begin with postgres://, postgresql://"),
        ("DATABASE_URL", "postgresql://host", "names no database"),
        ("DATABASE_URL", "postgresql://[::1/db", "is a bracket missing"),
        ("DATABASE_URL", "postgresql://host:many/db", "the port is not a number"),
        ("DATABASE_URL", "postgresql://host/db?sslmod=require", "unknown option sslmod; known are"),
        ("REDIS_URL", "http://x", "must begin with redis://"),
        ("REDIS_URL", "redis://[::1", "is a bracket missing"),
        ("REDIS_URL", "redis://h:notaport/0", "the port is not a number"),
        ("REDIS_URL", "redis://h/abc", "the database is not a number"),
        ("REDIS_URL", "unix:///run/valkey.sock?db=abc", "the database is not a number"),
        ("ALLOWED_HOSTS", " , ,", "nothing between the commas"),
        ("TIME_ZONE", "Mars/Base", "not a time zone"),
        ("TIME_ZONE", "../etc/passwd", "not a time zone"),
        ("SECRET_KEY", "k" * 31, "shorter than 32 characters"),
        ("DATABASE_POOL", "many", "not a whole number"),
        ("DATABASE_POOL", "0", "outside 1 to 200"),
        ("LOG_LEVEL", "LOUD", "not one of DEBUG, INFO"),
        ("EMBEDDER", "word2vec", "not one of wordllama"),
        ("SYNTHPAI_VAR", str(ROOT / "Makefile"), "is a file, a folder is needed"),
    ],
)
def test_a_bad_value_is_refused_by_name(tmp_path, name, value, says):
    ran = start(**{"SECRET_KEY": KEY, "SYNTHPAI_VAR": str(tmp_path), name: value})
    assert ran.returncode != 0
    assert f"{name}: " in ran.stderr
    assert says in ran.stderr


def test_good_addresses_and_zones_are_taken_as_they_are(tmp_path):
    ran = start(
        SECRET_KEY=KEY,
        SYNTHPAI_VAR=str(tmp_path),
        DATABASE_URL="postgresql://me:p%2Fw@[::1]:5432/db?sslmode=require&connect_timeout=5",
        REDIS_URL="rediss://:secret@h:6380/3",
        TIME_ZONE="Europe/Zurich",
    )
    assert ran.returncode == 0, ran.stderr


def test_a_data_folder_that_cannot_be_made_is_a_sentence_with_its_variable():
    """`/proc` refuses new folders to root too, as a read-only checkout does to everybody."""
    ran = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env={**os.environ, "SYNTHPAI_DEMO": "1", "SYNTHPAI_VAR": "/proc/no/where", "SECRET_KEY": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("BadSetting: SYNTHPAI_VAR: the demo cannot keep its data in /proc/no/where")
    assert "Traceback" not in ran.stderr


def test_an_empty_value_counts_as_not_set():
    env = Env({"A": "  ", "B": ""})
    assert (env.flag("A"), env.whole("B", 3, least=1, most=5), env.words("A", ("x",))) == (False, 3, ["x"])


def test_words_and_flags_are_read_with_blanks_around():
    env = Env({"HOSTS": " a.org, b.org ,", "ON": " Yes "})
    assert env.words("HOSTS") == ["a.org", "b.org"]
    assert env.flag("ON")


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BadSetting, match="PLACE"):
        Env({"PLACE": str(file)}).folder("PLACE", tmp_path)
