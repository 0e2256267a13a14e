"""How the comments of a queue are dealt: in which order, and which of them blind. Rules only, no database."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator


def shuffle_key(seed: int, external_id: str) -> bytes:
    """Where a comment comes in a shuffled queue: comments are sorted by this key.

    The order follows from the seed and the list of comments alone, whoever computes it and in whatever order
    the comments were read; the database computes the very same key. A comment more or less does not move the
    others.
    """
    return hashlib.sha256(f"{seed}:{external_id}".encode()).digest()


def blind_count(n: int, percent: int) -> int:
    """How many of `n` items are blind: `n * percent / 100`, rounded (halves to the even number)."""
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} is not a share from 0 to 100 percent")
    return round(n * percent / 100)


def blind_places(n: int, percent: int, seed: int) -> Iterator[int]:
    """The places (1 to `n`, rising) of the items that are answered blind: exactly `blind_count(n, percent)`.

    Every choice of that many places is equally likely; the same seed gives the same places. Drawn by
    selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S) with
    `random.Random(seed)`: one random number a place and no list of places in memory.
    """
    rng = random.Random(seed)  # noqa: S311 - a reproducible draw, not a secret
    wanted = blind_count(n, percent)
    for place in range(1, n + 1):
        if not wanted:
            return
        if rng.random() * (n - place + 1) < wanted:
            wanted -= 1
            yield place
