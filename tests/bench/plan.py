"""What is measured, how long, and what is good enough."""

from dataclasses import dataclass

LEVELS = (1, 8, 32)
LABELERS = 32
AT_SCALE = 8
PASSWORD = "correct horse battery"
READER = "reader"
AHEAD = "ahead"
AHEAD_BY = 4000
"""Comments of a queue for two that one person has answered and nobody else."""
RARE = "zeppelin"
"""A word that stands in twenty comments of each corpus, whatever its size."""

P50, P95, CPU = 2.5, 3.0, 2.5
"""Ours against the bare pair, at most."""
SCALE_PAIR, SCALE_READING = 1.3, 3.0
"""The large corpus against the small one, at most."""
AHEAD_PAIR = 1.5
"""A labeler far ahead of the others against one who begins, at most."""
PAGE_KB, PAGE_REQUESTS = 150, 12


@dataclass(frozen=True)
class Size:
    """How thorough a run is. Blocks of the two kinds alternate, so many of each."""

    small: int
    large: int
    blocks: int
    seconds: float
    reads: int


SIZES = {
    "small": Size(small=8_000, large=80_000, blocks=5, seconds=1.2, reads=20),
    "full": Size(small=8_000, large=1_000_000, blocks=5, seconds=4.0, reads=40),
}

CHAIN_SHARE, SPEEDUP, SECOND = 0.9, 20.0, 1.8
"""Of a simulation: critical path / wall, one after another / wall, two workers / one; at least."""
CALL_CPU, GROWTH, LANES = 15.0, 5.0, 1.3
"""Milliseconds of a worker a call, per cent of memory, time / ideal behind a limit; at most."""


@dataclass(frozen=True)
class Simulations:
    """How thorough the part `simulate` is. Seconds; `calls` of the measurement of memory."""

    calls: int
    window: float
    lane_calls: int
    polls: int
    chain_latency: float = 1.0
    asked: int = 50


SIMULATIONS = {
    "small": Simulations(calls=2000, window=12, lane_calls=200, polls=12),
    "full": Simulations(calls=20_000, window=30, lane_calls=600, polls=40),
}

BOARD, BOARD_QUERIES = 1.3, 10
"""The leaderboard over ten times the predictions against one time; its queries; at most."""
IMPORT_MEMORY = 400
"""MiB of the process that imports and scores the files of twelve models, at most."""
BOARD_PROFILES = {"small": 100, "full": 300}
"""Profiles of the smaller of the two corpora."""

TREES = {"small": 5, "full": 50}
"""How often the published trees are imported; 50 times are about 356,000 comments."""
OF_COPY, EXCHANGE_MEMORY = 0.15, 300
"""Import: share of the row rate of COPY, at least; MiB of the process, at most."""
RELEASE_JSONL, RELEASE_PARQUET = 2.5, 1.0
"""JSONL against JSON made by COPY; Parquet against our JSONL; at most."""
