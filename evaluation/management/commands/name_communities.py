"""name_communities: a model names subreddits for every thread of a corpus, or a published file does."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.exchange.communities import NoThread, import_file
from evaluation.exchange.released import UnreadableLine
from evaluation.selectors.communities import need, tally
from evaluation.services.naming import ANSWER_CAP, TEMPERATURE, Naming, Wish, forecast, start_naming
from simulation.domain.plans import BadPlan, RoleModel
from simulation.models import Corpus, Run
from simulation.services import terminal


class Command(BaseCommand):
    help = (
        "Asks a model, once a thread, in which three subreddits its post would stand (SynthPAI, appendix"
        " A.4). Workers do the work where one is alive, else this process. With --import it asks nobody: the"
        " threads of the corpus take what a published file names. Exit status: 0 done, 1 stopped before the"
        " end (reason said; what was answered stays), 2 wrong usage, or a file that cannot be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser, needs_provider=False)
        parser.add_argument("--max-cost", metavar="USD", help="cap in dollars; default: no cap")
        parser.add_argument("--soft-cost", metavar="USD", help="from here on the page of the run warns")
        parser.add_argument("--name", default="communities", help="of the run")
        parser.add_argument("--with-askreddit", action="store_true", help="r/AskReddit may be named")
        parser.add_argument("--temperature", type=float, default=TEMPERATURE, help=f"0 to 2 ({TEMPERATURE})")
        parser.add_argument(
            "--import",
            dest="file",
            metavar="FILE",
            help="lines of id, thread_id and topics, plain or .gz, as topic_to_thread.jsonl",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"]:
            self._import(options)
            return
        if not options["provider"]:
            raise CommandError(
                "Say --provider NAME to have a model asked, or --import FILE.", returncode=terminal.USAGE
            )
        run = _start(options)
        ended = terminal.see_through(run, Naming(), options, unit="threads")
        found = tally(ended)
        counts = {
            "threads": found.threads,
            "named": found.named,
            "with_fewer_than_three": found.short,
            **{f"without_{reason}": n for reason, n in found.reasons.items()},
            "namings": found.namings,
            "different": found.distinct,
            "different_as_written": found.written,
            "threads_with_askreddit": found.askreddit,
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _import(self, options: dict[str, Any]) -> None:
        if options["provider"] or options["model"]:
            raise CommandError("--import asks no model: leave --provider and --model out.", returncode=2)
        corpus, path = _corpus(options["corpus"]), Path(options["file"])
        try:
            found = import_file(corpus, path, by=None)
        except (UnreadableLine, NoThread) as problem:
            raise CommandError(f"{problem}. Nothing was changed.", returncode=terminal.USAGE) from None
        except OSError as problem:
            raise CommandError(
                f"{path}: cannot be read: {problem.strerror}", returncode=terminal.USAGE
            ) from None
        said = {"threads": found.threads, "changed": found.changed, "missing": len(found.missing)}
        if options["json"]:
            self.stdout.write(json.dumps(said))
            return
        self.stdout.write(f"{found.threads} threads of {corpus.name} name communities, {found.changed} anew.")
        if found.missing:
            self.stdout.write(f"Not in the corpus: {found.listed}.")


def _start(options: dict[str, Any]) -> Run:
    corpus, provider = terminal.corpus_and_provider(options)
    caps = terminal.caps(options, forecast(need(corpus, ANSWER_CAP)))
    try:
        model = RoleModel(
            options["model"] or provider.default_model, options["temperature"], max_tokens=ANSWER_CAP
        )
        wish = Wish(
            name=options["name"],
            provider=provider,
            model=model,
            askreddit=options["with_askreddit"],
            max_calls=caps.calls,
            max_tokens=caps.tokens,
            max_cost=terminal.money("--max-cost", options["max_cost"]),
            soft_cost=terminal.money("--soft-cost", options["soft_cost"]),
            parallel=options["parallel"],
        )
        return start_naming(corpus, wish, by=None)
    except (BadPlan, ValueError) as error:
        raise CommandError(str(error), returncode=terminal.USAGE) from None


def _corpus(name: str) -> Corpus:
    corpora = Corpus.objects.filter(trashed_at=None)
    found = corpora.filter(name=name).first()
    if found is None:
        there = ", ".join(corpora.values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no corpus {name!r}; there are: {there}.", returncode=terminal.USAGE)
    return found
