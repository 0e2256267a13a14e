"""The labelers of the bench, in a process of their own: commands come in as lines of JSON, numbers go out.

{"do": "sign in", "host", "port", "names", "password"} signs all of them in.
{"do": "pairs", "kind": "bare" | queue address, "names", "seconds"} lets them work, each as fast as it is
answered, and tells how long each pair took. {"do": "read", "name", "pages", "times"} reads pages in turns.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.labelers import Labeler, answers

BARE = "bare"
LONGEST_READ = 20.0
"""Seconds after which a page has been read often enough."""
Pair = Callable[[Labeler], str]


class Load:
    def __init__(self) -> None:
        self.people: dict[tuple[int, str], Labeler] = {}
        self.shown: dict[tuple[int, str, str], Any] = {}
        self.rng = random.Random(3)

    def sign_in(self, host: str, port: int, names: list[str], password: str) -> dict[str, Any]:
        for name in names:
            person = self.people[port, name] = Labeler(host, port, name, password)
            person.sign_in()
        return {"signed in": len(names)}

    def read(self, name: str, pages: list[tuple[int, str]], times: int) -> dict[str, Any]:
        """How long each of some pages (port, address) takes, in turns, once each has been read once."""
        took: list[list[float]] = [[] for _ in pages]
        sizes = []
        for port, path in pages:
            answer = self.people[port, name].get(path)
            assert answer.status == 200, f"{path}: {answer.status}"
            sizes.append(len(answer.body))
        end = time.perf_counter() + LONGEST_READ
        for _ in range(times):
            if time.perf_counter() > end:
                break
            for mine, (port, path) in zip(took, pages, strict=True):
                started = time.perf_counter()
                self.people[port, name].get(path)
                mine.append(1000 * (time.perf_counter() - started))
        return {"ms": took, "bytes": sizes}

    def pairs(self, port: int, kind: str, names: list[str], seconds: float) -> dict[str, Any]:
        """All people at once, each submitting what is on the screen and getting the next, for `seconds`."""
        took: list[float] = []
        went: Counter[str] = Counter()
        for name in names:  # the first page is no pair
            person = self.people[port, name]
            if (port, name, kind) not in self.shown:
                self._show(kind, person, port)
            person.close()
        ready, end = threading.Barrier(len(names) + 1), 0.0
        problems: list[str] = []

        def work(person: Labeler, rng: random.Random) -> None:
            ready.wait()
            ready.wait()
            try:
                while time.perf_counter() < end:
                    started = time.perf_counter()
                    went[self._pair(kind, person, port, rng)] += 1
                    took.append(1000 * (time.perf_counter() - started))
            except (AssertionError, OSError) as problem:
                problems.append(f"{person.username}: {problem}")

        threads = [
            threading.Thread(target=work, args=(self.people[port, name], random.Random(self.rng.random())))
            for name in names
        ]
        for thread in threads:
            thread.start()
        ready.wait()
        begun, cpu = time.perf_counter(), _cpu()
        end = begun + seconds
        ready.wait()
        for thread in threads:
            thread.join()
        if problems:
            return {"problem": problems[0]}
        return {
            "ms": took,
            "seconds": time.perf_counter() - begun,
            "client_cpu": _cpu() - cpu,
            "went": dict(went),
        }

    def _show(self, kind: str, person: Labeler, port: int) -> None:
        key = (port, person.username, kind)
        if kind == BARE:
            self.shown[key] = json.loads(person.get("/bare/next/").body)
        else:
            self.shown[key] = person.open(kind)
        assert self.shown[key], f"nothing for {person.username} in {kind}"

    def _pair(self, kind: str, person: Labeler, port: int, rng: random.Random) -> str:
        key = (port, person.username, kind)
        if kind == BARE:
            return self._bare(key, person, rng)
        page = self.shown[key]
        answer = person.submit(page, answers(page, rng))
        if person.page is None:
            raise AssertionError(f"nothing left, or {answer.status}: {answer.body[:300]!r}")
        if person.page.item == page.item:
            return f"same again, {answer.status}"
        self.shown[key] = person.page
        return f"next, {answer.status}"

    def _bare(self, key: tuple[int, str, str], person: Labeler, rng: random.Random) -> str:
        task = self.shown[key]
        fields = {f"{n}-{part}": str(rng.randint(1, 5)) for n in range(8) for part in ("v", "h", "c")}
        fields |= {"csrfmiddlewaretoken": task["token"], "task": task["task"], "lease": task["lease"]}
        answer = person.connection.request(
            "POST", "/bare/submit/", person.headers(), urlencode(fields).encode()
        )
        assert answer.status == 200, f"bare submit: {answer.status}"
        answer = person.connection.request("GET", "/bare/next/", person.headers())
        assert answer.status == 200, f"bare next: {answer.status}"
        self.shown[key] = json.loads(answer.body)
        return "next, 200"


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    load = Load()
    for line in sys.stdin:
        command = json.loads(line)
        do = {"sign in": load.sign_in, "pairs": load.pairs, "read": load.read}[command.pop("do")]
        try:
            said = do(**command)
        except (AssertionError, OSError) as problem:
            said = {"problem": str(problem) or repr(problem)}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
