"""generate_profiles: new people for a corpus, or styles for those who have none, from the command line."""

from __future__ import annotations

import secrets
import tomllib
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from simulation.domain.diversity import overlap_histogram
from simulation.domain.plans import BadPlan
from simulation.domain.profile_targets import Targets
from simulation.models import Corpus, Profile, Provider, Run
from simulation.selectors import profile_checks
from simulation.services import profile_runs, profiles, terminal
from simulation.services.corpora import create_corpus
from simulation.services.profile_asking import AUTHOR, STYLER
from simulation.services.profile_runs import Profiling


class Command(BaseCommand):
    help = (
        "A model invents people for a corpus and the way each writes; they are proposed, and only those that"
        " are approved enter a run. Workers do the work where one is alive, else this process. Exit status:"
        " 0 done, 1 stopped before the end (reason said; what was written stays), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        terminal.add_options(parser)
        parser.add_argument("--count", type=int, default=300, help="how many profiles (300)")
        parser.add_argument("--name", default="", help="default: profiles and the seed")
        parser.add_argument("--seed", type=int, help="default: drawn, and said")
        parser.add_argument(
            "--targets", metavar="FILE.toml", help="shares of values by attribute; default: our own"
        )
        parser.add_argument("--soft-cost", metavar="USD", help="warn from here on")
        parser.add_argument("--max-cost", metavar="USD", help="cap; default: calls and tokens alone")
        parser.add_argument("--new-corpus", action="store_true", help="make the corpus where there is none")
        parser.add_argument(
            "--language", default="en", help="of a new corpus: en, de, .. (en)", metavar="CODE"
        )
        parser.add_argument(
            "--styles-only",
            action="store_true",
            help="no new people: styles for profiles without one; an approved one becomes proposed again",
        )
        parser.add_argument(
            "--approve-clean", action="store_true", help="approve the new ones that have no warning"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run = self._start(options)
        ended = terminal.see_through(run, Profiling(), options, unit="steps")
        approved = _approve_clean(ended) if options["approve_clean"] else 0
        counts = outcome(ended) | {"approved": approved}
        if not options["json"]:
            counts |= {key: _words(value) for key, value in counts.items() if isinstance(value, dict)}
        terminal.report(self, ended, counts, as_json=options["json"])

    def _start(self, options: dict[str, Any]) -> Run:
        try:
            targets = _targets(options["targets"])
            with transaction.atomic():  # a plan that is refused leaves no empty corpus behind
                _make_corpus(options)
                corpus, provider = terminal.corpus_and_provider(options)
                return _plan(corpus, provider, targets, options)
        except (BadPlan, ValueError) as error:
            raise CommandError(str(error), returncode=terminal.USAGE) from None
        except ValidationError as error:
            raise CommandError("; ".join(error.messages), returncode=terminal.USAGE) from None


def _plan(
    corpus: Corpus,
    provider: Provider,
    targets: Targets,
    options: dict[str, Any],
) -> Run:
    seed = secrets.randbelow(2**31) if options["seed"] is None else options["seed"]
    soft_cost = terminal.money("--soft-cost", options["soft_cost"])
    max_cost = terminal.money("--max-cost", options["max_cost"])
    models = profile_runs.default_models(options["model"] or provider.default_model)
    if options["styles_only"]:
        bare = list(corpus.profiles.filter(style="").exclude(state=Profile.REJECTED).order_by("pk"))
        caps = terminal.caps(options, profile_runs.forecast_styles(len(bare)))
        return profile_runs.start_styles(
            by=None,
            corpus=corpus,
            profiles=bare,
            name=options["name"] or f"styles, seed {seed}",
            provider=provider,
            styler=models[STYLER],
            seed=seed,
            parallel=options["parallel"],
            max_calls=caps.calls,
            max_tokens=caps.tokens,
            soft_cost=soft_cost,
            max_cost=max_cost,
        )
    caps = terminal.caps(options, profile_runs.forecast_generation(max(options["count"], 0)))
    return profile_runs.start_generation(
        by=None,
        corpus=corpus,
        name=options["name"] or f"profiles, seed {seed}",
        provider=provider,
        model=models[AUTHOR],
        styler=models[STYLER],
        count=options["count"],
        targets=targets,
        seed=seed,
        parallel=options["parallel"],
        max_calls=caps.calls,
        max_tokens=caps.tokens,
        soft_cost=soft_cost,
        max_cost=max_cost,
    )


def _make_corpus(options: dict[str, Any]) -> None:
    if options["new_corpus"] and not Corpus.objects.filter(name=options["corpus"]).exists():
        create_corpus(name=options["corpus"], language=options["language"])


def _targets(path: str | None) -> Targets:
    """The shares that a file names, the usual ones for the rest. Raises ValueError with the file's name."""
    if path is None:
        return Targets.usual()
    try:
        return Targets.from_dict(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _approve_clean(run: Run) -> int:
    unfinished = profile_checks.unstyled(run.corpus).values("pk")
    clean = run.made_profiles.filter(profile_checks.CLEAN).exclude(pk__in=unfinished)
    return len(profiles.approve(by=None, profiles=list(clean)))


def outcome(run: Run) -> dict[str, Any]:
    """What a profile run made: counts, warnings by rule, and how alike the corpus' profiles are now."""
    made = list(run.made_profiles.order_by("pk").values_list("warnings", flat=True))
    rules = Counter(str(one["rule"]) for said in made for one in said)
    skipped = Counter(run.steps.filter(state="skipped").values_list("reason", flat=True))
    kept = run.corpus.profiles.exclude(state=Profile.REJECTED).order_by("pk")
    alike = overlap_histogram(list(kept.values_list("facts", flat=True)))
    return {
        "seed": run.seed,
        "profiles": len(made),
        "styles": run.steps.filter(kind="style", state="done").count(),
        "with_warnings": sum(bool(said) for said in made),
        "warnings": dict(sorted(rules.items())),
        "skipped": dict(sorted(skipped.items())),
        "overlap": {str(number): pairs for number, pairs in alike.items()},
    }


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {count:,}" for key, count in counts.items()) or "none"
