"""run_simulation: agents write threads, from the command line."""

import json
import secrets
import uuid
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.money import dollars
from simulation.domain.plan_values import thread_values
from simulation.domain.plans import BadPlan
from simulation.forms import SimulationForm, plan_options, plan_presets, plan_start
from simulation.models import Corpus, Provider, Run
from simulation.selectors import presets
from simulation.selectors.progress import corpus_digest
from simulation.services import terminal
from simulation.services.simulating import Simulation


class Command(BaseCommand):
    help = (
        "Agents seeded with the profiles of a corpus write threads into it. Every field of the page is an"
        " option. Workers do the work where one is alive, else this process. Exit status: 0 done, 1 stopped"
        " before the end (reason said; what was written stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
        parser.set_defaults(parallel=None)
        plan_options.add_options(parser)
        parser.add_argument("--preset", metavar="NAME", help="begin from a preset; options win over it")
        parser.add_argument("--dry-run", action="store_true", help="say what it will need; start nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus, provider = terminal.corpus_and_provider(options)
        try:
            form, seen = self._filled(options, corpus, provider)
        except BadPlan as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None
        if options["dry_run"]:
            self._report_dry(form, seen, as_json=options["json"])
            return
        ended = terminal.see_through(_start(form, seen), Simulation(), options, unit="steps")
        counts = {
            "seed": ended.seed,
            "threads": ended.run_threads.filter(thread__isnull=False).count(),
            "comments": ended.corpus.comments.filter(thread__run_thread__run=ended).count(),
            "corpus_digest": corpus_digest(ended.corpus),
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _filled(
        self, options: dict[str, Any], corpus: Corpus, provider: Provider
    ) -> tuple[SimulationForm, plan_start.Preview]:
        """The form of the page, filled in by preset and options, with the caps that are proposed for it."""
        known = list(Provider.objects.all())
        blank = SimulationForm(corpus=corpus, providers=known)
        sent = {name: one.initial for name, one in blank.fields.items() if one.initial is not None}
        sent |= thread_values({}) | {"then_tag": False, "form": str(uuid.uuid4())}
        if options["preset"]:
            sent |= self._preset(options["preset"], blank)
        sent |= {"seed": secrets.randbelow(2**31)} | plan_options.values(options, providers=known)
        sent["provider"] = provider.public_id
        sent.setdefault("name", f"simulation, seed {sent['seed']}")
        form = SimulationForm(sent, corpus=corpus, providers=known)
        seen = plan_start.preview(form, by=None)
        renewed = plan_start.renewed(form, seen)
        if options["max_cost"] is not None:
            renewed.pop("max_cost", None)
        form = form.with_fields(renewed)
        return form, plan_start.preview(form, by=None)

    def _preset(self, name: str, blank: SimulationForm) -> dict[str, Any]:
        preset = presets.named(name)
        if preset is None:
            names = presets.names()
            raise BadPlan("preset", f"There is no preset “{name}”; there are: {', '.join(names)}.")
        values, left_out = plan_presets.fitting(
            preset.values, providers=blank.providers, platforms=[one.key for one in blank.platforms]
        )
        for words in left_out:
            self.stderr.write(words)
        return values

    def _report_dry(self, form: SimulationForm, seen: plan_start.Preview, *, as_json: bool) -> None:
        """The dry run in words or JSON. Raises CommandError (status 2) where the plan has none."""
        if seen.dry is None or seen.caps is None:
            raise CommandError("\n".join(plan_options.problems(form)), returncode=terminal.USAGE)
        dry, said = seen.dry, form.cleaned_data
        if as_json:
            found = asdict(dry) | {"profiles": len(seen.matching or ()), "threads": seen.threads}
            found["caps"] = {
                name: said.get(name) if name in ("max_calls", "max_tokens") else _text(said.get(name))
                for name in ("max_calls", "max_tokens", "max_cost", "soft_cost")
            }
            self.stdout.write(json.dumps(found | {"problems": plan_options.problems(form)}, indent=1))
            return
        cost = (
            "not known"
            if dry.cost_high is None or dry.cost_low is None
            else "nothing"
            if not dry.cost_high
            else f"${dollars(dry.cost_low):.4f} to ${dollars(dry.cost_high):.4f}"
        )
        lines = {
            "profiles": f"{len(seen.matching or ()):,} match",
            "threads": f"{seen.threads:,}",
            "calls": f"{dry.calls_low:,} to {dry.calls_high:,}",
            "tokens": f"{dry.tokens_low:,} to {dry.tokens_high:,}",
            "cost": cost,
            "time": f"{dry.seconds_low:,.0f} to {dry.seconds_high:,.0f} s",
            "rests on": dry.sources.removeprefix("from "),
            "hard cap": f"${said['max_cost']}" if said.get("max_cost") is not None else "none in money",
        }
        for name, words in lines.items():
            self.stdout.write(f"{name:<9} {words}")
        for row in dry.unknown:
            self.stdout.write(f"No price is known for {row.model} at {row.provider_name}: it cannot start.")
        for problem in plan_options.problems(form):
            self.stdout.write(problem)


def _text(amount: Any) -> str | None:
    return None if amount is None else str(amount)


def _start(form: SimulationForm, seen: plan_start.Preview) -> Run:
    """Raises CommandError (status 2) that names each option to mend."""
    if not form.is_valid():
        raise CommandError("\n".join(plan_options.problems(form)), returncode=terminal.USAGE)
    try:
        return plan_start.start(form, seen, by=None)
    except BadPlan as error:
        raise CommandError(str(error), returncode=terminal.USAGE) from None
