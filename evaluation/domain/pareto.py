"""Which of many choices no other beats when two things count at once: what is paid and what is got."""

from __future__ import annotations

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places in `points`, pairs of (cost, gain), that no other point beats, cheapest first.

    A point beats another if it costs no more and gains no less, and is better in one of the two; so equal
    points do not beat each other and stay together, in their order. Any unit and range; numbers that are
    compared must not be NaN. Empty for no points. Source: V. Pareto's optimality, for cost and accuracy as in
    S. Kapoor et al. (2024), arXiv:2407.01502.
    """
    found: list[int] = []
    for place in sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1])):
        best = points[found[-1]] if found else None
        if best is None or points[place][1] > best[1] or points[place] == best:
            found.append(place)
    return found
