"""How sure a share is that was counted."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution: two-sided 95 %."""


class Interval(NamedTuple):
    """From `low` to `high`, both shares between 0 and 1."""

    low: float
    high: float


def wilson(hits: int, n: int, z: float = Z95) -> Interval | None:
    """The Wilson score interval of the share `hits` / `n`; None where nothing was counted (n = 0).

    With p = hits / n:

        centre = (p + z² / 2n) / (1 + z² / n)
        half   = z / (1 + z² / n) · sqrt(p (1 - p) / n + z² / 4n²)

    It stays within 0 and 1 and is of use for small n and for shares near 0 or 1, where p ± z·s is not. The
    n judgements are taken as independent; those of one person or one comment are alike, so the true interval
    is a little wider.

    Source: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA
    22, 209-212; recommended for small n by Brown, Cai and DasGupta (2001), Statistical Science 16, 101-133.

    Raises ValueError where hits is not among 0 to n.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if n == 0:
        return None
    share, square = hits / n, z * z
    scale = 1 + square / n
    centre = (share + square / (2 * n)) / scale
    half = z / scale * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Interval(0.0 if hits == 0 else centre - half, 1.0 if hits == n else centre + half)
