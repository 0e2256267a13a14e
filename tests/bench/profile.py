"""Where the time of “submit + next page” goes: functions and queries, in one process, without a network.

python -m tests.bench.profile [pairs] — on the database that `make bench ARGS="--only levels --keep"` left.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import random
import sys
import time
from collections import Counter
from typing import Any
from urllib.parse import urlencode

from tests.bench.__main__ import environment

environment()

import django  # noqa: E402 - after the environment

from synthpai_web.start import attach_servers  # noqa: E402

attach_servers()
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from simulation.models import User  # noqa: E402
from tests.bench.measuring import NAMES  # noqa: E402
from tests.labelers import answers, read_page  # noqa: E402

Queries = list[tuple[str, float]]


class Browser:
    """One labeler in this process; every answer with the queries it took."""

    def __init__(self, name: str, queue: str) -> None:
        self.client = Client(headers={"host": "127.0.0.1"})
        person = User.objects.get(username=name)
        self.client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        self.page = read_page(self.client.get(queue).content)
        self.rng = random.Random(5)

    def pair(self) -> None:
        assert self.page
        fields = {**self.page.hidden, **answers(self.page, self.rng), "act": "submit"}
        answer: Any = self.client.post(
            self.page.action,
            urlencode(fields),
            content_type="application/x-www-form-urlencoded",
            headers={"HX-Request": "true"},
        )
        while answer.status_code in (302, 303):
            answer = self.client.get(answer["Location"])
        if "X-Review-Goto" in answer:
            answer = self.client.get(answer["X-Review-Goto"])
        self.page = read_page(answer.content)


def queries_of(browser: Browser) -> Queries:
    """What one pair asks the database, and how long each question takes, in milliseconds."""
    asked: Queries = []

    def watch(execute: Any, sql: str, *rest: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, *rest)
        finally:
            asked.append((sql, 1000 * (time.perf_counter() - started)))

    with connection.execute_wrapper(watch):
        browser.pair()
    return asked


def main(pairs: int) -> None:
    queue = json.loads((settings.VAR_DIR / "seeded_bench.json").read_text())["queue"]
    browser = Browser(NAMES[-2], f"/review/{queue}/")
    for _ in range(10):
        browser.pair()
    every: list[Queries] = [queries_of(browser) for _ in range(20)]
    print(f"{len(every[-1])} queries a pair, {sum(ms for one in every for _, ms in one) / len(every):.1f} ms")
    spent: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for one in every:
        for sql, ms in one:
            spent[sql[:170]] += ms / len(every)
            times[sql[:170]] += 1
    for sql, ms in spent.most_common(40):
        print(f"  {ms:6.2f} ms {times[sql] / len(every):5.1f} x  {sql}")
    started, cpu = time.perf_counter(), time.process_time()
    for _ in range(pairs):
        browser.pair()
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    print(f"{1000 * wall / pairs:.1f} ms a pair, {1000 * cpu / pairs:.1f} ms of CPU in Python, not profiled")
    profiler = cProfile.Profile(time.process_time)  # CPU, whatever else the machine does
    profiler.enable()
    for _ in range(pairs):
        browser.pair()
    profiler.disable()
    for order, most in (("cumulative", 70), ("tottime", 45)):
        pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(most)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
