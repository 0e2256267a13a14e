"""What past calls of a model were like, for forecasts: tokens and seconds by purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from simulation.domain.dry_run import PerCall

LOOKED_AT = 20_000
"""The latest calls of the whole ledger among which those of a model are looked for, by primary key."""
KEPT = 2_000
"""Of each model and purpose the latest so many count."""
Key = tuple[int, str, str]
"""Primary key of the provider, model, purpose."""

# A replayed call was never sent. The answered attempt is the one whose time is the model's own.
STATISTICS = """
WITH latest AS (
    SELECT id, provider_id, model, purpose, state, tokens_in, tokens_out, cost, prompt_id, replayed_from_id
    FROM simulation_modelcall {where} ORDER BY id DESC LIMIT {looked_at}
), counted AS (
    SELECT latest.*, row_number() OVER (PARTITION BY provider_id, model, purpose ORDER BY id DESC) AS place
    FROM latest
    WHERE state = 'done' AND replayed_from_id IS NULL AND tokens_in + tokens_out > 0 {which}
)
SELECT provider_id, model, purpose, count(*), avg(tokens_in), avg(tokens_out), avg(seconds), avg(cost),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY tokens_in),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY tokens_out),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY cost)
FROM (
    SELECT counted.*, extract(epoch FROM attempt.ended_at - attempt.sent_at)::float AS seconds
    FROM counted CROSS JOIN LATERAL (
        SELECT sent_at, ended_at FROM simulation_callattempt
        WHERE call_id = counted.id AND state = 'answered' ORDER BY number LIMIT 1
    ) AS attempt
    WHERE place <= {kept}
) AS measured
GROUP BY provider_id, model, purpose
"""


def of_models(pairs: Collection[tuple[int, str]], *, language: str = "") -> dict[Key, PerCall]:
    """Statistics of the models in `pairs` (primary key of the provider, name), one query.

    With `language`, of calls whose prompt was in that language: other languages take more tokens.
    """
    if not pairs:
        return {}
    which = "AND (provider_id, model) IN (SELECT * FROM unnest(%(providers)s::bigint[], %(models)s::text[]))"
    if language:
        which += " AND prompt_id IN (SELECT id FROM simulation_promptversion WHERE language = %(language)s)"
    named = {
        "providers": [provider for provider, _ in pairs],
        "models": [model for _, model in pairs],
        "language": language,
    }
    return _asked(STATISTICS.format(where="", looked_at=LOOKED_AT, which=which, kept=KEPT), named)


def of_run(run_id: int) -> dict[Key, PerCall]:
    """The same of one run's latest calls, whatever their model."""
    query = STATISTICS.format(where="WHERE run_id = %(run)s", looked_at=KEPT, which="", kept=KEPT)
    return _asked(query, {"run": run_id})


def _asked(query: str, named: dict[str, Any]) -> dict[Key, PerCall]:
    with connection.cursor() as cursor:
        cursor.execute(query, named)
        return {tuple(row[:3]): _per_call(row[3:]) for row in cursor}


def _per_call(row: Sequence[Any]) -> PerCall:
    """From the columns of STATISTICS behind its key. Two clocks may differ, yet no time is negative."""
    n, input, output, seconds, cost, input_p95, output_p95, seconds_p95, cost_p95 = row
    return PerCall(
        input=float(input),
        input_p95=input_p95,
        output=float(output),
        output_p95=output_p95,
        seconds=max(0.0, seconds),
        seconds_p95=max(0.0, seconds_p95),
        n=n,
        cost=float(cost),
        cost_p95=cost_p95,
    )
