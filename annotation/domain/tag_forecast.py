"""What tagging and checking will probably need, by rules of thumb: what caps are proposed from."""

from __future__ import annotations

from simulation.domain.dry_run import JUDGE_TOKENS
from simulation.domain.plans import LEAST_TOKENS, SHARE_JUDGED, Forecast, Range, tagging_forecast


def of_tags(comments: int, *, judged: bool = False) -> Forecast:
    """One run's tags, and their check where one follows within the same caps."""
    tags = tagging_forecast(comments)
    if not judged:
        return tags
    checks = of_checks(comments)
    return Forecast(
        tags.calls_low + judge_calls(comments).low,
        tags.calls_high + checks.calls_high,
        tags.tokens_high + checks.tokens_high,
        0,
    )


def of_checks(comments: int) -> Forecast:
    """One call a comment at most, and one in five asked again; none where rules decide everything."""
    calls = comments + comments // 5
    return Forecast(0, calls, max(calls * JUDGE_TOKENS, LEAST_TOKENS) if calls else 0, 0)


def judge_calls(comments: int) -> Range:
    """Of the judge after so many comments were tagged: many have no tag."""
    low, high = SHARE_JUDGED
    return Range(round(low * comments), round(high * comments))
