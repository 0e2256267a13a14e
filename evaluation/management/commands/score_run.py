"""score_run: prediction runs are scored against a label set, from the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import LabelSet, PredictionRun, Scoring
from evaluation.services.baselines import taggers
from evaluation.services.scoring import BadScoring
from evaluation.services.scoring_many import Done, Order, score_all
from simulation.models import Corpus

USAGE = 2
MODES = (Scoring.DEFAULT, Scoring.COMPATIBLE)


class Command(BaseCommand):
    help = (
        "Scores one prediction run, or all of a corpus, against a label set, in this process. What the"
        " default rules leave open becomes a question. Exit status: 0 done, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", nargs="?", metavar="RUN_ID", help="the end of the address of its page")
        parser.add_argument("--corpus", metavar="NAME", help="all prediction runs of it")
        parser.add_argument("--labels", required=True, metavar="NAME", help="name or id of the label set")
        parser.add_argument(
            "--mode", choices=MODES, action="append", help="default: default; named again: both"
        )
        parser.add_argument("--majority", action="store_true", help="make and score the majority guess too")
        parser.add_argument(
            "--tags", metavar="TAGGER", action="append", help="a tagger's tags as guesses too"
        )
        parser.add_argument(
            "--take-recorded",
            action="store_true",
            help="scores that an imported file recorded answer what the default rules leave open",
        )
        parser.add_argument("--json", action="store_true", help="one JSON list on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus, runs = self._runs(options)
        labels = self._labels(corpus, options["labels"])
        known = taggers(corpus)
        for one in options["tags"] or ():
            if one not in known:
                raise CommandError(
                    f"There is no tagger {one!r}; there are: {', '.join(known) or 'none'}.", returncode=USAGE
                )
        order = Order(
            labels,
            runs,
            options["mode"] or [Scoring.DEFAULT],
            options["majority"],
            options["tags"] or (),
            options["take_recorded"],
        )
        try:
            done = score_all(order)
        except BadScoring as problem:
            raise CommandError(str(problem), returncode=USAGE) from None
        self._report(done, as_json=options["json"])

    def _runs(self, options: dict[str, Any]) -> tuple[Corpus, list[PredictionRun]]:
        if bool(options["run"]) == bool(options["corpus"]):
            raise CommandError("Give either RUN_ID or --corpus NAME.", returncode=USAGE)
        if options["run"]:
            run = (
                PredictionRun.objects.select_related("corpus")
                .filter(public_id=options["run"], corpus__trashed_at=None)
                .first()
            )
            if run is None:
                why = "Its id is the end of the address of its page."
                raise CommandError(f"There is no prediction run {options['run']!r}. {why}", returncode=USAGE)
            return run.corpus, [run]
        corpora = Corpus.objects.filter(trashed_at=None)
        corpus = corpora.filter(name=options["corpus"]).first()
        if corpus is None:
            known = ", ".join(corpora.values_list("name", flat=True)) or "none"
            raise CommandError(
                f"There is no corpus {options['corpus']!r}; there are: {known}.", returncode=USAGE
            )
        return corpus, list(PredictionRun.objects.filter(corpus=corpus).order_by("name"))

    def _labels(self, corpus: Corpus, name: str) -> LabelSet:
        sets = LabelSet.objects.filter(corpus=corpus)
        found = sets.filter(name=name).first() or sets.filter(public_id=name).first()
        if found is None:
            known = ", ".join(sets.values_list("name", flat=True)) or "none"
            raise CommandError(
                f"There is no label set {name!r} in {corpus.name!r}; there are: {known}.", returncode=USAGE
            )
        return found

    def _report(self, done: list[Done], *, as_json: bool) -> None:
        if as_json:
            rows = [
                {
                    "scoring": str(one.scoring.public_id),
                    "run": one.scoring.prediction_run.name,
                    "labels": one.scoring.label_set.name,
                    "mode": one.scoring.mode,
                    "verdicts": one.scoring.verdicts,
                    "open": one.scoring.open,
                    "version": one.scoring.version,
                }
                for one in done
            ]
            self.stdout.write(json.dumps(rows))
            return
        for one in done:
            made = one.scoring
            self.stdout.write(
                f"{made.prediction_run.name}, {made.get_mode_display()}: "
                f"{made.verdicts:,} verdicts, {made.open:,} open"
            )
            if one.taken:
                self.stdout.write(f"  {one.taken.words}")
        if not done:
            self.stdout.write("There was nothing to score: the corpus has no prediction run.")
