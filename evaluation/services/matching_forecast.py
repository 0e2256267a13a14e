"""What a judge will probably need, by rules of thumb: what caps are proposed from."""

from __future__ import annotations

from evaluation.selectors.matching_parts import Size
from simulation.domain.plans import LEAST_TOKENS, Forecast, Range

TOKENS_A_CALL, TOKENS_A_GUESS = 420, 18
"""The prompt and the form of an answer; a guess with its verdict. Generous: 12 words a guess."""


def calls_of(size: Size, votes: int = 1) -> Range:
    """`votes` calls for each batch of guesses, and one in five asked again at most."""
    calls = size.calls * votes
    return Range(calls, calls + calls // 5)


def forecast(size: Size, votes: int = 1) -> Forecast:
    """Calls and tokens of so many votes on each question; nothing where there is nothing to ask."""
    calls = calls_of(size, votes)
    tokens = calls.high * TOKENS_A_CALL + size.questions * votes * TOKENS_A_GUESS * 6 // 5
    return Forecast(calls.low, calls.high, max(tokens, LEAST_TOKENS) if calls.high else 0, 0)
