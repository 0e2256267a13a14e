"""What an inference run will need, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Sum
from django.db.models.functions import Length

from evaluation.domain.inference import ANSWER_CAP, LETTERS_PER_TOKEN
from simulation.domain.dry_run import PerCall
from simulation.models import Comment, Corpus

PROMPT, BLOCK = 400, 70
"""Tokens of the prompt around the comments, and of the answer for one attribute."""
LONG = 1.6
"""A long answer as a multiple of the usual one."""
SECONDS = 8.0


@dataclass(frozen=True)
class Need:
    """What is asked of one model: authors, attributes in all, and what a call takes."""

    authors: int
    attributes: int
    per_call: PerCall
    tokens: int
    """Of all calls at most, each asked once: what is set aside for them while they are under way."""


def need(corpus: Corpus, wanted: Mapping[int, Sequence[str]], comment_tokens: int | None) -> Need:
    """The need of one model. One query."""
    letters = dict(
        Comment.objects.filter(corpus=corpus, state="active", profile__isnull=False)
        .order_by()
        .values_list("profile")
        .annotate(n=Sum(Length("text")))
    )
    asked = [PROMPT + _shown(letters.get(pk) or 0, comment_tokens) for pk in wanted]
    answers = [BLOCK * len(keys) for keys in wanted.values()]
    if not asked:
        return Need(0, 0, PerCall(0, 0, 0, 0, 0, 0), 0)
    n = len(asked)
    per_call = PerCall(
        sum(asked) / n, max(asked), sum(answers) / n, max(answers) * LONG, SECONDS, SECONDS * LONG
    )
    return Need(n, sum(map(len, wanted.values())), per_call, sum(asked) + n * ANSWER_CAP)


def _shown(letters: int, most: int | None) -> int:
    tokens = letters // LETTERS_PER_TOKEN
    return tokens if most is None else min(tokens, most)
