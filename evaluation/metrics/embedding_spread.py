"""How far apart vectors of texts point: the mean cosine distance between pairs, and to their centre.

With u_i the n vectors scaled to length 1 and S = Σ u_i, exactly and in time linear in n:

    between pairs   1 - (|S|² - n) / (n (n - 1))    0 (all point one way) to 2 (two that are opposite)
    to the centre   1 - |S| / n                     0 (all point one way) to 1 (they cancel out)

The first is the mean over all pairs of 1 - cosine. The second is the mean of 1 - cosine to the direction of
S, one minus the mean resultant length: K. V. Mardia, P. E. Jupp (2000), Directional Statistics, chapter 9.
Vectors of zeros have no direction and are left out. Memory is one vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, hypot, isfinite

TOO_FEW = "Fewer than two texts have a vector other than zero: there are no pairs."


@dataclass(frozen=True)
class VectorSpread:
    """Mean cosine distance between pairs (0 to 2) and to the centre (0 to 1) of `n` vectors that have a
    direction; `zeros` had none. Both are None with fewer than two, and `words` says so."""

    pairs: float | None
    centre: float | None
    n: int
    zeros: int
    words: str = ""


class VectorTally:
    """Takes vectors one by one; all must have the same length."""

    def __init__(self) -> None:
        self._sum: list[float] = []
        self._n = 0
        self._zeros = 0

    def take(self, vector: Sequence[float]) -> None:
        """Counts one vector. Raises ValueError for another length than before, and for numbers that are
        not finite."""
        length = hypot(*vector)
        if not isfinite(length):
            raise ValueError("a vector has numbers that are not finite")
        self._sum = self._sum or [0.0] * len(vector)
        if len(vector) != len(self._sum):
            raise ValueError(f"a vector of {len(vector)} numbers among those of {len(self._sum)}")
        if not length:
            self._zeros += 1
            return
        self._n += 1
        self._sum = [whole + one / length for whole, one in zip(self._sum, vector, strict=True)]

    def spread(self) -> VectorSpread:
        """The numbers of what was taken so far."""
        n = self._n
        if n < 2:
            return VectorSpread(None, None, n, self._zeros, TOO_FEW)
        square = fsum(one * one for one in self._sum)
        pairs = 1 - (square - n) / (n * (n - 1))
        centre = 1 - square**0.5 / n
        return VectorSpread(min(2.0, max(0.0, pairs)), min(1.0, max(0.0, centre)), n, self._zeros)


def spread(vectors: Iterable[Sequence[float]]) -> VectorSpread:
    """Of all these vectors. Raises ValueError for different lengths and for numbers that are not finite."""
    tally = VectorTally()
    for one in vectors:
        tally.take(one)
    return tally.spread()
