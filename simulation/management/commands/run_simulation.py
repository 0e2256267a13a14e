"""run_simulation: agents write threads, from the command line."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, forecast, published_models
from simulation.models import Run
from simulation.selectors.progress import corpus_digest
from simulation.services import runs, terminal
from simulation.services.simulating import Simulation


class Command(BaseCommand):
    help = (
        "Agents seeded with the profiles of a corpus write threads into it. Workers do the work where one is"
        " alive, else this process. Exit status: 0 done, 1 stopped before the end (reason said; what was"
        " written stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
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
        parser.add_argument("--tag", action="store_true", help="tag the comments afterwards")

    def handle(self, *args: Any, **options: Any) -> None:
        ended = terminal.see_through(self._start(options), Simulation(), options, unit="steps")
        counts = {
            "seed": ended.seed,
            "threads": ended.run_threads.filter(thread__isnull=False).count(),
            "comments": ended.corpus.comments.filter(thread__run_thread__run=ended).count(),
            "corpus_digest": corpus_digest(ended.corpus),
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _start(self, options: dict[str, Any]) -> Run:
        corpus, provider = terminal.corpus_and_provider(options)
        seed = secrets.randbelow(2**31) if options["seed"] is None else options["seed"]
        profiles = list(corpus.profiles.order_by("pk"))
        try:
            parameters = Parameters(
                rounds=options["rounds"], actions=options["actions"], profiles_asked=options["asked"]
            )
            targets = read_targets(options["threads"])
            models = published_models(options["model"] or provider.default_model)
            likely = forecast(
                targets=targets, profiles=len(profiles), parameters=parameters, then_tag=options["tag"]
            )
            caps = terminal.caps(options, likely)
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
                max_calls=caps.calls,
                max_tokens=caps.tokens,
                then_tag=options["tag"],
                tagger=models["tagger"],
                parallel=options["parallel"],
            )
        except (BadPlan, ValueError) as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None


def read_targets(text: str) -> dict[str, int]:
    """ "age=2,sex=1" as a mapping. Raises BadPlan for anything else."""
    targets: dict[str, int] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        key, _, count = piece.partition("=")
        if not count.strip().isdecimal():
            raise BadPlan("targets", f"“{piece}”: write the attribute, =, and a number, as age=2.")
        targets[key.strip()] = targets.get(key.strip(), 0) + int(count)
    return targets
