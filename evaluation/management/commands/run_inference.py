"""run_inference: a model is asked about the authors of a corpus, from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.domain.inference import ANSWER_CAP
from evaluation.domain.inference_models import called
from evaluation.exchange.importing_models import about
from evaluation.models import LabelSet, Masking, PredictionRun
from evaluation.selectors import inferring as needs_of
from evaluation.services import following, infer_prompts, inferring
from evaluation.services.inferring import Inferring, Wish
from simulation.domain.plans import BadPlan, Forecast, RoleModel
from simulation.models import Corpus
from simulation.services import terminal


class Command(BaseCommand):
    help = (
        "Asks a model what it can tell about each author from all that they wrote, one call an author, and"
        " scores its guesses against the label set. Workers do the work where one is alive, else this"
        " process. Exit status: 0 done, 1 stopped before the end (reason said; what was answered stays), 2"
        " wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
        parser.add_argument("--max-cost", metavar="USD", help="cap in dollars; default: no cap")
        parser.add_argument("--soft-cost", metavar="USD", help="from here on the page of the run warns")
        parser.add_argument("--name", default="inference", help="of the run")
        parser.add_argument(
            "--labels",
            metavar="NAME",
            help="label set to ask about; default: all of every author",
        )
        parser.add_argument(
            "--masking",
            metavar="NAME",
            help="show the texts of this masking; default: the comments as they are",
        )
        parser.add_argument("--prompt", default=infer_prompts.PUBLISHED, help="name of a prompt file")
        parser.add_argument(
            "--comment-tokens",
            type=int,
            metavar="N",
            help="leave comments out until the rest fits, those without a label first",
        )
        parser.add_argument(
            "--repair", action="store_true", help="send an answer back once if nothing can be read of it"
        )
        parser.add_argument("--temperature", type=float, default=0.1, help="0 to 2; published: 0.1")

    def handle(self, *args: Any, **options: Any) -> None:
        into = self._start(options)
        assert into.run is not None  # it was asked here
        ended = terminal.see_through(into.run, Inferring(), options, unit="authors")
        if into.run.plan["labels"]:
            following.follow_inferences()
        into.refresh_from_db()
        left_out = inferring.left_out(into)
        scored = into.scorings.first()
        counts = {
            "guesses": into.name,
            "authors": into.profiles,
            "attributes": into.predictions,
            **{f"{outcome}": n for outcome, n in sorted(inferring.outcomes(into).items())},
            "authors_with_comments_left_out": left_out["authors"],
            "texts": into.text,
            "comments_without_masked_text": inferring.unmasked(into),
            "compared_with": into.counterpart.name if into.counterpart else None,
            "scored": scored.verdicts if scored else 0,
            "open": scored.open if scored else 0,
        }
        terminal.report(self, ended, counts, as_json=options["json"])

    def _start(self, options: dict[str, Any]) -> PredictionRun:
        corpus, provider = terminal.corpus_and_provider(options)
        labels = _labels(corpus, options["labels"])
        masking = _masking(corpus, options["masking"])
        wanted = inferring.wanted(corpus, labels, masking)
        need = needs_of.need(corpus, wanted, options["comment_tokens"])
        calls = need.authors + need.authors // 5
        caps = terminal.caps(options, Forecast(need.authors, calls, need.tokens + need.tokens // 5, 0))
        name = options["model"] or provider.default_model
        try:
            return inferring.start_inference(
                corpus,
                Wish(
                    name=options["name"],
                    provider=provider,
                    model=RoleModel(name, options["temperature"], max_tokens=ANSWER_CAP),
                    labels=labels,
                    masking=masking,
                    variant=options["prompt"],
                    comment_tokens=options["comment_tokens"],
                    repair=options["repair"],
                    called=called(name),
                    family=about(name).family,
                    parameters=about(name).parameters,
                    max_calls=caps.calls,
                    max_tokens=caps.tokens,
                    max_cost=terminal.money("--max-cost", options["max_cost"]),
                    soft_cost=terminal.money("--soft-cost", options["soft_cost"]),
                    parallel=options["parallel"],
                ),
                by=None,
            )
        except (BadPlan, ValueError) as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None


def _labels(corpus: Corpus, name: str | None) -> LabelSet | None:
    if name is None:
        return None
    found = LabelSet.objects.filter(corpus=corpus, name=name).first()
    if found is None:
        there = ", ".join(LabelSet.objects.filter(corpus=corpus).values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no label set “{name}”; there are: {there}.", returncode=terminal.USAGE)
    return found


def _masking(corpus: Corpus, name: str | None) -> Masking | None:
    if name is None:
        return None
    found = Masking.objects.filter(corpus=corpus, name=name).first()
    if found is None:
        there = ", ".join(Masking.objects.filter(corpus=corpus).values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no masking “{name}”; there are: {there}.", returncode=terminal.USAGE)
    return found
