"""find_artefacts: what generators left behind in the comments of a corpus, from the command line."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from simulation.domain.artefacts import RULES
from simulation.models import Artefact, Corpus
from simulation.selectors.artefacts import in_corpus
from simulation.services.artefacts import scan_corpus

USAGE = 2


class Command(BaseCommand):
    help = (
        "Looks through all comments of a corpus for what generators leave behind, and lists what is open."
        " Done twice, the second finds nothing new. Comments stay as they are: the page Artefacts mends them."
        f" Rules: {', '.join(RULES)}. Exit status 2: wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--rule", metavar="KEY", help="list the open findings of this rule only")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        corpora = Corpus.objects.filter(trashed_at=None)
        corpus = corpora.filter(name=options["corpus"]).first()
        if corpus is None:
            known = ", ".join(corpora.values_list("name", flat=True)) or "none"
            raise CommandError(
                f"There is no corpus {options['corpus']!r}; there are: {known}.", returncode=USAGE
            )
        rule = options["rule"]
        if rule is not None and rule not in RULES:
            raise CommandError(f"There is no rule {rule!r}; there are: {', '.join(RULES)}.", returncode=USAGE)
        total = corpus.comments.filter(state="active").count()
        quiet = options["json"] or not sys.stderr.isatty()
        with tqdm(total=total, unit="comments", disable=quiet) as bar:
            counts = scan_corpus(corpus, progress=bar.update)
        found = in_corpus(corpus).filter(state=Artefact.OPEN).select_related("comment").order_by("pk")
        if rule:
            found = found.filter(rule=rule)
        if options["json"]:
            self._print_json(corpus, vars(counts), list(found))
            return
        self.stdout.write(
            f"{counts.comments:,} comments, {counts.found:,} new findings, {counts.open:,} open"
        )
        for one in found.iterator(chunk_size=500):
            where = f"{one.comment.external_id}  {one.start}-{one.end}"
            self.stdout.write(f"{one.rule:<14}{where}  {one.excerpt[:60]!r}")

    def _print_json(self, corpus: Corpus, counts: dict[str, Any], found: list[Artefact]) -> None:
        findings = [
            {
                "comment": one.comment.external_id,
                "rule": one.rule,
                "start": one.start,
                "end": one.end,
                "excerpt": one.excerpt,
            }
            for one in found
        ]
        self.stdout.write(json.dumps({"corpus": corpus.name, **counts, "findings": findings}))
