"""run_simulation: agents write threads, from the command line."""

import json
import secrets
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, published_models
from simulation.domain.run_states import RunState
from simulation.models import Corpus, Provider, Run
from simulation.selectors import workers
from simulation.selectors.progress import Progress, corpus_digest
from simulation.services import runs
from simulation.services.carrying import carry
from simulation.services.simulating import Simulation

STOPPED, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Agents seeded with the profiles of a corpus write threads into it. Workers do the work where one is"
        " alive, else this process. Exit status: 0 done, 1 stopped before the end (reason said; what was"
        " written stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--provider", required=True, metavar="NAME", help="see the page Providers")
        parser.add_argument("--model", metavar="NAME", help="default: the provider's")
        parser.add_argument(
            "--threads",
            required=True,
            metavar="AGE=2,SEX=1",
            help=f"how many threads for each target attribute: {', '.join(CATALOGUE)}",
        )
        parser.add_argument("--name", default="", help="default: simulation and its seed")
        parser.add_argument("--seed", type=int, help="default: drawn, and said")
        parser.add_argument("--asked", type=int, default=35, help="profiles asked for interest (35)")
        parser.add_argument("--rounds", type=int, default=2, help="rounds a thread (2)")
        parser.add_argument("--actions", type=int, default=3, help="most actions an agent and round (3)")
        parser.add_argument("--max-calls", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument("--max-tokens", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument("--tag", action="store_true", help="tag the comments afterwards")
        parser.add_argument("--parallel", type=int, default=32, help="steps in work at once (32)")
        parser.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        run = self._start(options)
        here = options["here"] or (0 if workers.alive() else 8)
        bar = tqdm(file=sys.stderr, unit=" steps", disable=options["json"] or None)
        with bar:
            ended = carry(run=run, work=Simulation() if here else None, threads=here, watch=_show(bar))
        _report(self, ended, options["json"])

    def _start(self, options: dict[str, Any]) -> Run:
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        provider = Provider.objects.filter(name=options["provider"]).first()
        if corpus is None or provider is None:
            missing = "corpus" if corpus is None else "provider"
            known = (Corpus if corpus is None else Provider).objects.values_list("name", flat=True)
            raise CommandError(
                f"There is no {missing} {options[missing]!r}; there are: {', '.join(known) or 'none'}.",
                returncode=USAGE,
            )
        seed = secrets.randbelow(2**31) if options["seed"] is None else options["seed"]
        profiles = list(corpus.profiles.order_by("pk"))
        try:
            parameters = Parameters(
                rounds=options["rounds"], actions=options["actions"], profiles_asked=options["asked"]
            )
            targets = read_targets(options["threads"])
            models = published_models(options["model"] or provider.default_model)
            likely = runs.forecast(
                targets=targets, profiles=len(profiles), parameters=parameters, then_tag=options["tag"]
            )
            return runs.start_simulation(
                by=None,
                corpus=corpus,
                name=options["name"] or f"simulation, seed {seed}",
                provider=provider,
                targets=targets,
                profiles=profiles,
                parameters=parameters,
                models=models,
                seed=seed,
                max_calls=options["max_calls"] or likely.calls_high * 3 // 2,
                max_tokens=options["max_tokens"] or likely.tokens_high * 3 // 2,
                then_tag=options["tag"],
                tagger=models["tagger"],
                parallel=options["parallel"],
            )
        except (BadPlan, ValueError) as error:
            raise CommandError(str(error), returncode=USAGE) from None


def read_targets(text: str) -> dict[str, int]:
    """ "age=2,sex=1" as a mapping. Raises BadPlan for anything else."""
    targets: dict[str, int] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        key, _, count = piece.partition("=")
        if not count.strip().isdecimal():
            raise BadPlan("targets", f"“{piece}”: write the attribute, =, and a number, as age=2.")
        targets[key.strip()] = targets.get(key.strip(), 0) + int(count)
    return targets


def _show(bar: Any) -> Any:
    def show(run: Run, now: Progress) -> None:
        bar.total = now.known
        bar.n = now.ended
        bar.set_postfix_str(f"{run.state}, {run.calls} calls", refresh=False)
        bar.refresh()

    return show


def _report(command: BaseCommand, run: Run, as_json: bool) -> None:
    said = {
        "run": run.public_id,
        "state": run.state,
        "reason": run.reason,
        "seed": run.seed,
        "threads": run.run_threads.filter(thread__isnull=False).count(),
        "comments": run.corpus.comments.filter(thread__run_thread__run=run).count(),
        "calls": run.calls,
        "tokens": run.tokens,
        "corpus_digest": corpus_digest(run.corpus),
    }
    if as_json:
        command.stdout.write(json.dumps(said, ensure_ascii=False, indent=1))
    else:
        for key, value in said.items():
            command.stdout.write(f"{key:<14} {value}")
    if run.state != RunState.DONE:
        raise CommandError(f"The run is {run.state}: {run.reason or 'see its page'}", returncode=STOPPED)
