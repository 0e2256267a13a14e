"""A run as one person may watch it: the row, and what that person may do in its corpus, in one query."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from simulation.domain.roles import Right
from simulation.models import Corpus, Run, User


@dataclass(frozen=True)
class Rights:
    """`starts`: steers runs and reads prompts and answers. `profiles`: knows the authors' true attributes."""

    starts: bool
    profiles: bool

    @property
    def key(self) -> str:
        """People with the same key see the same."""
        return f"{int(self.starts)}{int(self.profiles)}"


def visible(person: User) -> QuerySet[Run]:
    """The runs that `person` may see, each with `starts` and `sees_profiles` as told by `rights`."""

    def held(right: Right) -> Exists:
        return Exists(Corpus.objects.with_right(person, right).filter(pk=OuterRef("corpus_id")))

    return (
        Run.objects.visible_to(person)
        .select_related("corpus", "provider", "created_by", "follows", "source")
        .annotate(starts=held(Right.START_RUNS), sees_profiles=held(Right.SEE_PROFILES))
    )


def rights(person: User, run: Run) -> Rights:
    """Free for a run of `visible`, else one query."""
    if not hasattr(run, "starts"):
        found = visible(person).filter(pk=run.pk).first()
        return rights(person, found) if found else Rights(False, False)
    return Rights(getattr(run, "starts", False), getattr(run, "sees_profiles", False))


def token(run: Run) -> str:
    """Which state of a run a page shows. Changes with the run's tick, and with whatever of its own row is
    shown; equal tokens: nothing of the run has changed."""
    own = (
        run.state,
        run.reason,
        run.stepping,
        run.calls,
        run.max_calls,
        run.tokens,
        run.tokens_held,
        run.max_tokens,
        run.cost,
        run.cost_held,
        run.max_cost,
        run.soft_cost,
    )
    return f"{run.tick}-{zlib.crc32(repr(own).encode()):08x}"


def tick_of(mark: str) -> int:
    """The tick in a token; 0 for what is none."""
    number = mark.partition("-")[0]
    return int(number) if number.isdecimal() and len(number) < 19 else 0
