"""judge_tags: a judge checks tags against the personas, from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.domain import tag_forecast
from annotation.management import tagging_options
from annotation.services.judging import Judging, checkable, start_judging
from simulation.domain.plans import BadPlan
from simulation.models import Run
from simulation.services import terminal


class Command(BaseCommand):
    help = (
        "Compares tags with the profiles of the authors: ages by rule, the rest by a model, one call a"
        " comment. Workers do the work where one is alive, else this process. Exit status: 0 done, 1 stopped"
        " before the end (reason said; what was checked stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
        tagging_options.add_money(parser)
        parser.add_argument("--name", default="check of tags", help="of the run")
        parser.add_argument(
            "--run",
            action="append",
            default=[],
            metavar="ID",
            help="of a tagging run, can be given again; default: all suggestions, imported ones too",
        )
        parser.add_argument("--again", action="store_true", help="also tags that a run has checked already")
        parser.add_argument(
            "--all-to-judge", action="store_true", help="ask even where a guess equals the profile's value"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ended = terminal.see_through(self._start(options), Judging(), options, unit="comments")
        checks = ended.suggestion_checks
        counts = {
            "comments": ended.steps.filter(state="done").count(),
            "unreadable_or_refused": ended.steps.filter(state="skipped").count(),
            "checked": checks.count(),
            "by_rule": checks.filter(decided_by="rule").count(),
            "kept": checks.filter(kept=True).count(),
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _start(self, options: dict[str, Any]) -> Run:
        corpus, provider = terminal.corpus_and_provider(options)
        runs = tagging_options.tagging_runs(corpus, options["run"]) or None
        tags = checkable(corpus, runs, only_unchecked=not options["again"])
        comments = tags.order_by().values("comment").distinct().count()
        caps = terminal.caps(options, tag_forecast.of_checks(comments))
        try:
            return start_judging(
                by=None,
                corpus=corpus,
                name=options["name"],
                provider=provider,
                model=options["model"] or provider.default_model,
                runs=runs,
                only_unchecked=not options["again"],
                exact_first=not options["all_to_judge"],
                max_calls=caps.calls,
                max_tokens=caps.tokens,
                parallel=options["parallel"],
                **tagging_options.money(options),
            )
        except BadPlan as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None
