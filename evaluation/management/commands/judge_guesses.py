"""judge_guesses: a judge model answers what rules left open, from the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.domain.votes import VOTES
from evaluation.models import Opinion
from evaluation.selectors import matching, matching_parts
from evaluation.selectors.matching_parts import GUESSES, Part, Size, Which
from evaluation.services.matching import JUDGE_CAP, Matching, start_matching
from evaluation.services.matching_forecast import calls_of, forecast
from simulation.domain.money import dollars
from simulation.domain.plans import BadPlan, RoleModel
from simulation.models import Corpus, Provider, Run
from simulation.services import dry_runs, terminal


class Command(BaseCommand):
    help = (
        "Asks a judge model about guesses that rules could not tell right or wrong, one call for the guesses"
        " at one truth. Workers do the work where one is alive, else this process. Exit status: 0 done, 1"
        " stopped before the end (reason said; what was answered stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--provider", required=True, metavar="NAME", help="see the page Providers")
        parser.add_argument("--model", metavar="NAME", help="default: the provider's")
        parser.add_argument("--name", default="judge of guesses", help="of the run")
        parser.add_argument(
            "--which",
            choices=[one.value for one in Which],
            default=Which.OPEN.value,
            help="open: without an answer that counts (default); unanswered: that people have not settled;"
            " again: that a judge has answered; people: that people have settled",
        )
        parser.add_argument(
            "--attribute", action="append", default=[], metavar="KEY", help="can be given again; default: all"
        )
        parser.add_argument(
            "--waiting", type=int, default=1, metavar="N", help="so many depend on a question at least (1)"
        )
        parser.add_argument(
            "--guesses", type=int, default=GUESSES, metavar="N", help=f"in one call, at most ({GUESSES})"
        )
        parser.add_argument(
            "--votes",
            type=int,
            choices=VOTES,
            default=1,
            help="how often each question is asked (1); what is said most often counts, on a tie the less"
            " favourable; cost grows as often",
        )
        parser.add_argument("--seed", type=int, help="default: how many such runs there were")
        parser.add_argument("--max-calls", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument("--max-tokens", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument(
            "--max-cost", metavar="USD", help="cap in dollars; default: calls and tokens alone"
        )
        parser.add_argument("--soft-cost", metavar="USD", help="from here on the page of the run warns")
        parser.add_argument("--parallel", type=int, default=32, help="steps in work at once (32)")
        parser.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
        parser.add_argument("--dry-run", action="store_true", help="say what it would need; write nothing")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus, provider = terminal.corpus_and_provider(options)
        part = Part(Which(options["which"]), tuple(options["attribute"]), options["waiting"])
        if options["guesses"] < 1:
            raise CommandError("--guesses: a whole number from 1 up.", returncode=terminal.USAGE)
        size = matching_parts.size(matching_parts.askable(corpus, part), options["guesses"])
        if options["dry_run"]:
            self._say_what_is_likely(corpus, provider, size, options)
            return
        run = self._start(corpus, provider, part, size, options)
        ended = terminal.see_through(run, Matching(), options, unit="calls")
        terminal.report(self, ended, _counts(ended), as_json=options["json"])

    def _start(
        self, corpus: Corpus, provider: Provider, part: Part, size: Size, options: dict[str, Any]
    ) -> Run:
        caps = terminal.caps(options, forecast(size, options["votes"]))
        try:
            return start_matching(
                by=None,
                corpus=corpus,
                name=options["name"],
                provider=provider,
                model=options["model"] or provider.default_model,
                part=part,
                guesses=options["guesses"],
                votes=options["votes"],
                max_calls=caps.calls,
                max_tokens=caps.tokens,
                max_cost=terminal.money("--max-cost", options["max_cost"]),
                soft_cost=terminal.money("--soft-cost", options["soft_cost"]),
                seed=options["seed"],
                parallel=options["parallel"],
            )
        except BadPlan as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None

    def _say_what_is_likely(
        self, corpus: Corpus, provider: Provider, size: Size, options: dict[str, Any]
    ) -> None:
        said: dict[str, Any] = {"questions": size.questions, "calls_low": 0, "calls_high": 0}
        if size.calls:
            role = _role(options["model"] or provider.default_model)
            dry = dry_runs.of_calls(
                {"judge": calls_of(size, options["votes"])},
                provider=provider,
                models={"judge": role},
                language=corpus.language,
            )
            cost = None if dry.cost_high is None else float(dollars(dry.cost_high))
            said |= {"calls_low": dry.calls_low, "calls_high": dry.calls_high, "tokens_high": dry.tokens_high}
            said |= {"cost_high_usd": cost, "seconds_high": round(dry.seconds_high)}
        if options["json"]:
            self.stdout.write(json.dumps(said, indent=1))
            return
        for key, value in said.items():
            self.stdout.write(f"{key:<14} {'unknown' if value is None else value}")


def _role(model: str) -> RoleModel:
    try:
        return RoleModel(model, 0.0, max_tokens=JUDGE_CAP)
    except ValueError as error:
        raise CommandError(str(error), returncode=terminal.USAGE) from None


def _counts(run: Run) -> dict[str, int]:
    said = Opinion.objects.filter(run=run, score__isnull=False)
    return {
        "asked": sum(len(step.asks["questions"]) for step in run.steps.only("asks").iterator()),
        "answered": said.count(),
        "right": said.filter(score=1).count(),
        "less_precise": said.filter(score=0.5).count(),
        "wrong": said.filter(score=0).count(),
        "unreadable_or_refused": run.steps.filter(state="skipped").count(),
        "votes_split": matching.split_votes(run).hits,
    }
