"""A real worker process on the test's own database and broker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.db import connection

from simulation.selectors import workers


def database_url() -> str:
    """The address of the test database, for another process."""
    wanted = connection.settings_dict
    login = quote(wanted["USER"]) + (f":{quote(wanted['PASSWORD'])}" if wanted["PASSWORD"] else "")
    if wanted["HOST"].startswith("/"):
        return f"postgresql://{login}@/{wanted['NAME']}?{urlencode({'host': wanted['HOST']})}"
    return f"postgresql://{login}@{wanted['HOST']}:{wanted['PORT'] or 5432}/{wanted['NAME']}"


def wait_until(
    ready: Callable[[], object], *, seconds: float = 30, what: str = "it", every: float = 0.05
) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(every)


class Worker:
    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, *, concurrency: int = 2, awaited: bool = True, **environment: str
    ) -> subprocess.Popen[bytes]:
        """One more worker with so many threads; `environment` goes on top of that of the tests."""
        name = f"test-{len(self.processes)}-{os.getpid()}@%h"
        command = [sys.executable, "-m", "celery", "-A", "synthpai_web", "worker", "--pool", "threads"]
        command += ["--concurrency", str(concurrency), "-Q", "llm,io,stats"]
        command += ["--loglevel", "WARNING", "--hostname", name]
        command += ["--without-mingle", "--without-gossip"]  # saves the second in which it looks for others
        process = subprocess.Popen(
            command,
            env={
                **os.environ,
                "DATABASE_URL": database_url(),
                "REDIS_URL": settings.REDIS_URL,
                **environment,
            },
            cwd=settings.BASE_DIR,
            stdout=subprocess.DEVNULL,
        )
        self.processes.append(process)
        if awaited:
            wait_until(lambda: any(name[:-2] in one for one in workers.alive()), what="a worker")
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Worker]:
    """`worker.start()` starts one; all end with the test."""
    workers.broker().flushdb()
    started = Worker()
    yield started
    left = [process for process in started.processes if process.poll() is None]
    for process in left:
        process.terminate()
    for process in left:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            started.kill(process)
    workers.broker().flushdb()
