"""`make demo` with real processes: up, used, ended, up again with its data. And `make smoke`."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from synthpai_web import processes
from synthpai_web.embedded import place
from synthpai_web.walk import Visitor, review_one
from tests.integration.conftest import wait_until

pytestmark = pytest.mark.embedded


def environment(var: Path) -> dict[str, str]:
    kept = {"PATH", "HOME", "LANG", "CI", "SYNTHPAI_EMBEDDED_FSYNC"}
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "SYNTHPAI_VAR": str(var)}


class Demo:
    def __init__(self, var: Path) -> None:
        self.var, self.port = var, processes.free_port(8900)
        self.said = ""

    def start(self) -> "Demo":
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(self.port)],
            cwd=settings.BASE_DIR,
            env=environment(self.var),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C stops everything" in line:
                return self
        raise AssertionError(f"the demo did not come up:\n{self.said}")

    @property
    def base(self) -> str:
        return re.search(r"http://127\.0\.0\.1:\d+", self.said)[0]

    def password(self, who: str) -> str:
        return re.search(rf"^\s*{who}\s+(\S+)$", self.said, re.M)[1]

    def next_line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def stop(self, number: int) -> int:
        self.process.send_signal(number)
        status = self.process.wait(30)
        assert self.process.stdout
        self.process.stdout.close()
        return status


@pytest.fixture
def var(tmp_path: Path) -> Iterator[Path]:
    """A data folder of its own; what root keeps outside of it is removed too."""
    folder = tmp_path / "var"
    yield folder
    command = [sys.executable, "-m", "synthpai_web.embedded", "forget", str(folder)]
    wait_until(
        lambda: (
            subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, check=False).returncode == 0
        ),
        what="the end of the servers",
    )
    assert not place(folder).outside.exists()


def processes_of(var: Path) -> list[str]:
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if str(var) in line and " ps " not in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_comes_up_is_used_ends_whole_and_keeps_its_data(var, number):
    demo = Demo(var).start()
    with urllib.request.urlopen(f"{demo.base}/readyz", timeout=10) as answer:
        assert answer.status == 200
    visitor = Visitor(demo.base)
    home = visitor.sign_in("labeler", demo.password("labeler")).text
    queue = re.search(r"/review/(\w+)/", home)[1]
    review_one(visitor, queue)
    assert demo.stop(number) == 0
    wait_until(lambda: not processes_of(demo.var), what="the end of every process")
    if number == signal.SIGTERM:
        return

    started = time.monotonic()
    again = Demo(demo.var).start()
    assert again.password("labeler") == demo.password("labeler")
    visitor = Visitor(again.base)
    visitor.sign_in("labeler", again.password("labeler"))
    assert "smoke tester" in visitor.get(f"/review/{queue}/history/").text
    assert time.monotonic() - started < 60  # a stuck start; how fast it is, `make bench` says
    guardian = int((place(demo.var).run_dir / "postgres.guardian").read_text())
    os.kill(guardian, signal.SIGKILL)
    assert again.next_line() == "The embedded postgres server was gone; it is up again.\n"
    wait_until(lambda: processes.ready(again.port), what="the site after the loss of its database")
    again.stop(signal.SIGKILL)
    wait_until(lambda: not processes_of(demo.var), what="the end of every process after a kill")


def test_ctrl_c_while_the_servers_start_ends_without_a_traceback(var):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo"],
        cwd=settings.BASE_DIR,
        env=environment(var),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until((place(var).run_dir / "postgres.starter").exists, what="the start of the servers")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "")


@pytest.mark.parametrize("port", ["-1", "0", "65536", "99999", "http"])
def test_a_port_that_is_none_is_refused_in_words(port):
    with pytest.raises(CommandError, match="is not a port; write a whole number from 1 to 65535"):
        call_command("demo", f"--port={port}")


def test_a_port_that_is_promised_is_not_given_away():
    free = processes.free_port(8950)
    assert processes.free_port(free, but=free) > free


def test_the_last_port_can_be_had():
    assert processes.free_port(65_535) == 65_535


def test_smoke_says_one_line_and_ends_well(var):
    ran = subprocess.run(
        [sys.executable, "manage.py", "smoke"],
        cwd=settings.BASE_DIR,
        env=environment(var),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.fullmatch(
        r"smoke ok: \d+ profiles, \d+ threads, \d+ comments, \d+ tags, \d+ exported; "
        r"simulated \d+ threads, \d+ comments, \d+ tags, \d+ exported; 7 on the leaderboard; "
        r"release 1\.0 of \d+ files",
        ran.stdout.strip(),
    )
