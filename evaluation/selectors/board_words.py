"""Shares, differences and p-values as the pages of a leaderboard say them."""

from __future__ import annotations

NONE = "–"


def percent(share: float | None) -> str:
    """A share in percent with one decimal, without its sign."""
    return NONE if share is None else f"{100 * share:.1f}"


def points(gap: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    if gap is None:
        return NONE
    text = f"{100 * gap:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def span(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """An interval in percent, or in points with signs."""
    if low is None or high is None:
        return NONE
    return f"{points(low)} to {points(high)}" if signed else f"{percent(low)}–{percent(high)}"


def p_words(p: float | None) -> str:
    """A p-value in three decimals."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"
