"""Blocks of work that alternate between two kinds, and the ratios between neighbours."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.bench.plan import LABELERS
from tests.bench.processes import Client, Missed, Site, cpu

NAMES = [f"labeler{number}" for number in range(LABELERS)]


@dataclass
class Block:
    """What one kind did in one stretch of time. Milliseconds; CPU of server and database for each pair."""

    pairs: int
    a_second: float
    p50: float
    p95: float
    web_cpu: float
    database_cpu: float | None
    client_cpu: float
    went: Counter[str]

    @property
    def cpu(self) -> float | None:
        return None if self.database_cpu is None else self.web_cpu + self.database_cpu


@dataclass
class Against:
    """One kind against another, block by block."""

    name: str
    ours: list[Block] = field(default_factory=list)
    other: list[Block] = field(default_factory=list)

    def ratio(self, what: str) -> float | None:
        """The median of the ratios of neighbouring blocks."""
        ratios = []
        for ours, other in zip(self.ours, self.other, strict=True):
            above, below = getattr(ours, what), getattr(other, what)
            if above is None or not below:
                return None
            ratios.append(above / below)
        return statistics.median(ratios)

    @staticmethod
    def typical(blocks: list[Block], what: str) -> float | None:
        values = [getattr(block, what) for block in blocks]
        return None if None in values else statistics.median(values)


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def block(
    client: Client,
    site: Site,
    kind: str,
    names: list[str],
    seconds: float,
    database: int | None,
) -> Block:
    web_before, database_before = cpu(site.pid), cpu(database) if database else 0.0
    said = client.ask("pairs", port=site.port, kind=kind, names=names, seconds=seconds)
    time.sleep(0.05)  # what the server still does behind its last answer is part of the price
    web, base = cpu(site.pid) - web_before, cpu(database) - database_before if database else None
    took: list[float] = said["ms"]
    if len(took) < 2:
        raise Missed(f"{kind}: {len(took)} pairs in {seconds} s")
    if odd := {fate: times for fate, times in said["went"].items() if not fate.startswith("next")}:
        raise Missed(f"{kind}: not every pair led to the next item: {odd}")
    site.worked[kind] += len(took)
    return Block(
        pairs=len(took),
        a_second=len(took) / said["seconds"],
        p50=quantile(took, 0.5),
        p95=quantile(took, 0.95),
        web_cpu=1000 * web / len(took),
        database_cpu=None if base is None else 1000 * base / len(took),
        client_cpu=1000 * said["client_cpu"] / len(took),
        went=Counter(said["went"]),
    )


def alternate(
    client: Client,
    first: tuple[Site, str, list[str]],
    second: tuple[Site, str, list[str]],
    *,
    name: str,
    blocks: int,
    seconds: float,
    database: int | None,
) -> Against:
    """`first` against `second`, so many blocks each after one that is not counted."""
    found = Against(name)
    for number in range(blocks + 1):
        other = block(client, second[0], second[1], second[2], seconds, database)
        ours = block(client, first[0], first[1], first[2], seconds, database)
        if number:
            found.ours.append(ours)
            found.other.append(other)
    return found


def as_numbers(found: Against) -> dict[str, Any]:
    """For the file of results."""
    kinds = {"ours": found.ours, "other": found.other}
    parts = ("a_second", "p50", "p95", "web_cpu", "database_cpu", "client_cpu", "cpu")
    numbers: dict[str, Any] = {
        kind: {part: found.typical(blocks, part) for part in parts}
        | {"pairs": sum(one.pairs for one in blocks), "went": dict(sum((b.went for b in blocks), Counter()))}
        for kind, blocks in kinds.items()
    }
    return numbers | {"ratio": {part: found.ratio(part) for part in ("p50", "p95", "cpu", "a_second")}}
