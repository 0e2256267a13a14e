"""tag_comments: a model proposes tags for the comments of a corpus, from the command line."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.models import Suggestion
from annotation.services.tagging import Tagging, start_tagging, untagged
from simulation.domain.plans import BadPlan, tagging_forecast
from simulation.domain.run_states import RunState
from simulation.models import Corpus, Provider, Run
from simulation.selectors import workers
from simulation.selectors.progress import Progress
from simulation.services.carrying import carry

STOPPED, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "A model proposes what can be inferred from each comment of a corpus. Workers do the work where one"
        " is alive, else this process. Exit status: 0 done, 1 stopped before the end (reason said; what was"
        " tagged stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--provider", required=True, metavar="NAME", help="see the page Providers")
        parser.add_argument("--model", metavar="NAME", help="default: the provider's")
        parser.add_argument("--name", default="tags", help="of the run")
        parser.add_argument("--all", action="store_true", help="also comments that have suggestions already")
        parser.add_argument("--max-calls", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument("--max-tokens", type=int, help="cap; default: one and a half of what is likely")
        parser.add_argument("--parallel", type=int, default=32, help="steps in work at once (32)")
        parser.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        run = self._start(options)
        here = options["here"] or (0 if workers.alive() else 8)
        with tqdm(file=sys.stderr, unit=" comments", disable=options["json"] or None) as bar:

            def show(run: Run, now: Progress) -> None:
                bar.total, bar.n = now.known, now.ended
                bar.set_postfix_str(f"{run.state}, {run.calls} calls", refresh=False)
                bar.refresh()

            ended = carry(run=run, work=Tagging() if here else None, threads=here, watch=show)
        said = {
            "run": ended.public_id,
            "state": ended.state,
            "reason": ended.reason,
            "comments": ended.steps.filter(state="done").count(),
            "unreadable_or_refused": ended.steps.filter(state="skipped").count(),
            "suggestions": Suggestion.objects.filter(run=ended).count(),
            "calls": ended.calls,
            "tokens": ended.tokens,
        }
        if options["json"]:
            self.stdout.write(json.dumps(said, ensure_ascii=False, indent=1))
        else:
            for key, value in said.items():
                self.stdout.write(f"{key:<22} {value}")
        if ended.state != RunState.DONE:
            raise CommandError(
                f"The run is {ended.state}: {ended.reason or 'see its page'}", returncode=STOPPED
            )

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
        comments = corpus.comments.filter(state="active") if options["all"] else untagged(corpus)
        likely = tagging_forecast(comments.count())
        try:
            return start_tagging(
                by=None,
                corpus=corpus,
                name=options["name"],
                provider=provider,
                model=options["model"] or provider.default_model,
                only_untagged=not options["all"],
                max_calls=options["max_calls"] or max(1, likely.calls_high * 3 // 2),
                max_tokens=options["max_tokens"] or max(1, likely.tokens_high * 3 // 2),
                parallel=options["parallel"],
            )
        except BadPlan as error:
            raise CommandError(str(error), returncode=USAGE) from None
