"""What the commands that carry out a run share: their options, the bar, the report and the exit status."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from simulation.domain.caps import Caps, proposed
from simulation.domain.money import dollars, nanos
from simulation.domain.plans import Forecast
from simulation.domain.run_states import RunState
from simulation.models import Corpus, Provider, Run
from simulation.selectors import workers
from simulation.selectors.progress import Progress
from simulation.services.carrying import carry
from simulation.services.work import Work

STOPPED, USAGE = 1, 2
HERE_THREADS = 8
"""Threads of this process where no worker is alive and nobody says how many."""


def add_options(parser: ArgumentParser, *, several_models: bool = False, needs_provider: bool = True) -> None:
    """The options of every such command; with `several_models` the model may be named more than once.

    Without `needs_provider` the command can do without a model, and says itself when it cannot.
    """
    parser.add_argument("--corpus", required=True, metavar="NAME")
    parser.add_argument("--provider", required=needs_provider, metavar="NAME", help="see the page Providers")
    if several_models:
        said = "default: the provider's; named again: another run beside it"
        parser.add_argument("--model", metavar="NAME", action="append", help=said)
    else:
        parser.add_argument("--model", metavar="NAME", help="default: the provider's")
    parser.add_argument("--max-calls", type=int, help="cap; default: one and a half of what is likely")
    parser.add_argument("--max-tokens", type=int, help="cap; default: one and a half of what is likely")
    parser.add_argument("--parallel", type=int, default=32, help="steps in work at once (32)")
    parser.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
    parser.add_argument("--json", action="store_true", help="report in JSON")


def corpus_and_provider(options: Mapping[str, Any]) -> tuple[Corpus, Provider]:
    """Those that the options name. Raises CommandError (status 2) that lists what there is."""
    corpora = Corpus.objects.filter(trashed_at=None)
    corpus = corpora.filter(name=options["corpus"]).first()
    provider = Provider.objects.filter(name=options["provider"]).first()
    if corpus is not None and provider is not None:
        return corpus, provider
    missing = "corpus" if corpus is None else "provider"
    known = (corpora if corpus is None else Provider.objects).values_list("name", flat=True)
    raise CommandError(
        f"There is no {missing} {options[missing]!r}; there are: {', '.join(known) or 'none'}.",
        returncode=USAGE,
    )


def caps(options: Mapping[str, Any], likely: Forecast) -> Caps:
    """The caps that were asked for; where none was, those that the pages propose too."""
    default = proposed(likely)
    return Caps(options["max_calls"] or default.calls, options["max_tokens"] or default.tokens)


NO_CAP = "none"
"""What is written for an amount that is not limited."""


def money(option: str, text: str | None, *, default: int | None = None) -> int | None:
    """Nano-dollars of an amount such as 2.50 or $2.50; None, no cap, for `none`; `default` where not given.

    Raises CommandError (status 2) that names the option.
    """
    if text is None:
        return default
    if text.strip().casefold() == NO_CAP:
        return None
    try:
        return nanos(Decimal(text.strip().removeprefix("$")))
    except (InvalidOperation, ValueError):
        raise CommandError(
            f"{option} {text[:40]}: an amount in dollars, such as 2.50 (at most 9,000,000,000), or {NO_CAP}.",
            returncode=USAGE,
        ) from None


def run_named(name: str) -> Run:
    """The run with this id, or the only one of this name. Raises CommandError (status 2) otherwise."""
    found = list(Run.objects.filter(public_id=name)) or list(Run.objects.filter(name=name)[:2])
    if len(found) == 1:
        return found[0]
    why = "There are several runs" if found else "There is no run"
    raise CommandError(f"{why} {name!r}. Its id is the end of the address of its page.", returncode=USAGE)


def see_through(run: Run, work: Work, options: Mapping[str, Any], *, unit: str) -> Run:
    """Waits for the end of a run behind a progress bar; without a worker this process does the work."""
    here = options["here"] or (0 if workers.alive() else HERE_THREADS)
    with tqdm(file=sys.stderr, unit=f" {unit}", disable=options["json"] or None) as bar:

        def show(now: Run, so_far: Progress) -> None:
            bar.total, bar.n = so_far.known, so_far.ended
            bar.set_postfix_str(f"{now.state}, {now.calls} calls", refresh=False)
            bar.refresh()

        return carry(run=run, work=work if here else None, threads=here, watch=show)


def report(command: BaseCommand, run: Run, counts: Mapping[str, Any], *, as_json: bool) -> None:
    """Says how it ended, in words or JSON. Raises CommandError (status 1) for a run that is not done."""
    said = {"run": run.public_id, "state": run.state, "reason": run.reason, **counts}
    said |= {"calls": run.calls, "tokens": run.tokens, "cost_usd": float(dollars(run.cost))}
    if as_json:
        command.stdout.write(json.dumps(said, ensure_ascii=False, indent=1))
    else:
        width = max(map(len, said)) + 1
        for key, value in said.items():
            command.stdout.write(f"{key:<{width}} {value}")
    if run.state != RunState.DONE:
        raise CommandError(f"The run is {run.state}: {run.reason or 'see its page'}", returncode=STOPPED)
