"""tag_comments: a model proposes tags for the comments of a corpus, from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Suggestion
from annotation.services.tagging import Tagging, start_tagging, untagged
from simulation.domain.plans import BadPlan, tagging_forecast
from simulation.models import Run
from simulation.services import terminal


class Command(BaseCommand):
    help = (
        "A model proposes what can be inferred from each comment of a corpus. Workers do the work where one"
        " is alive, else this process. Exit status: 0 done, 1 stopped before the end (reason said; what was"
        " tagged stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
        parser.add_argument("--name", default="tags", help="of the run")
        parser.add_argument("--all", action="store_true", help="also comments that have suggestions already")

    def handle(self, *args: Any, **options: Any) -> None:
        ended = terminal.see_through(self._start(options), Tagging(), options, unit="comments")
        counts = {
            "comments": ended.steps.filter(state="done").count(),
            "unreadable_or_refused": ended.steps.filter(state="skipped").count(),
            "suggestions": Suggestion.objects.filter(run=ended).count(),
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _start(self, options: dict[str, Any]) -> Run:
        corpus, provider = terminal.corpus_and_provider(options)
        comments = corpus.comments.filter(state="active") if options["all"] else untagged(corpus)
        caps = terminal.caps(options, tagging_forecast(comments.count()))
        try:
            return start_tagging(
                by=None,
                corpus=corpus,
                name=options["name"],
                provider=provider,
                model=options["model"] or provider.default_model,
                only_untagged=not options["all"],
                max_calls=caps.calls,
                max_tokens=caps.tokens,
                parallel=options["parallel"],
            )
        except BadPlan as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None
