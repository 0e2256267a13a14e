"""Where the money of the present period went: by run, corpus and model, from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.db.models import Sum as SumOf

from simulation.models import CallAttempt, Provider, Run, User

SHOWN = 12
"""Rows of each table; what is behind them is one sum."""
DAY = 24 * 3600
Sum = tuple[int, str, int, int]
"""Primary key of the provider, model, calls, cost."""


@dataclass(frozen=True)
class Spent:
    """What one run spent on one model. Nano-dollars."""

    run: Run
    provider_id: int
    model: str
    calls: int
    cost: int


@dataclass(frozen=True)
class Line:
    """One row of a table. `of` is a run, a corpus or a (provider, model); None: all that is not named."""

    of: object
    calls: int
    cost: int


@dataclass(frozen=True)
class Table:
    """The dearest first; the last line may be the sum of all others."""

    lines: Sequence[Line]


def since(moment: datetime) -> list[Spent]:
    """What the runs that were under way since `moment` spent on calls that ended since. Two queries.

    The sums of a run that is over are kept for a day: its calls change no more, and if one does, so do the
    counters of the run, which are part of the key.
    """
    runs = {
        run.pk: run
        for run in Run.objects.filter(Q(ended_at=None) | Q(ended_at__gte=moment))
        .select_related("corpus")
        .defer("plan")
    }
    keys = {pk: _key(run, moment) for pk, run in runs.items() if run.ended_at}
    known: dict[str, list[Sum]] = cache.get_many(keys.values())
    sums = {pk: known[key] for pk, key in keys.items() if key in known}
    missing: dict[int, list[Sum]] = {pk: [] for pk in runs if pk not in sums}
    for pk, provider, model, calls, cost in _asked(list(missing), moment):
        missing[pk].append((provider, model, calls, cost))
    cache.set_many({keys[pk]: found for pk, found in missing.items() if pk in keys}, DAY)
    return [Spent(runs[pk], *one) for pk, found in (sums | missing).items() for one in found]


def _key(run: Run, moment: datetime) -> str:
    begun = int(moment.timestamp()) if run.created_at < moment else 0
    return f"spent:{run.public_id}:{run.calls}:{run.cost}:{begun}"


def _asked(runs: list[int], moment: datetime) -> QuerySet[CallAttempt, tuple[int, int, str, int, int]]:
    """Run, provider, model, calls and cost."""
    attempts = CallAttempt.objects.filter(call__run__in=runs, ended_at__gte=moment).order_by()
    groups = attempts.values_list("call__run_id", "call__provider_id", "call__model")
    return groups.annotate(calls=Count("pk"), sum=SumOf("cost"))


def tables(spent: Sequence[Spent], *, total: int, person: User) -> dict[str, Table]:
    """By run, corpus and model. Runs that `person` may not see are in the last line of the first two.

    `total` is what the installation counts as spent: what deleted corpora had cost is in there too.
    """
    runs = Run.objects.visible_to(person).filter(pk__in={one.run.pk for one in spent})
    visible = set(runs.values_list("pk", flat=True))
    seen = [one for one in spent if one.run.pk in visible]
    names = {provider.pk: provider for provider in Provider.objects.all()}
    return {
        "runs": _table(seen, lambda one: one.run, total),
        "corpora": _table(seen, lambda one: one.run.corpus, total),
        "models": _table(spent, lambda one: (names[one.provider_id], one.model), total),
    }


def _table(spent: Sequence[Spent], group: Callable[[Spent], Hashable], total: int) -> Table:
    sums: dict[Hashable, list[int]] = {}
    for one in spent:
        line = sums.setdefault(group(one), [0, 0])
        line[0] += one.calls
        line[1] += one.cost
    dearest = sorted(sums.items(), key=lambda item: (-item[1][1], -item[1][0]))
    lines = [Line(of, calls, cost) for of, (calls, cost) in dearest if cost][:SHOWN]
    others = total - sum(line.cost for line in lines)
    if others > 0:
        lines.append(Line(None, 0, others))
    return Table(lines)
