"""make_release: the files of a corpus, frozen."""

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.exchange import release_making, release_reading, releases
from evaluation.exchange.releases import Preview
from evaluation.management.releases_named import USAGE, corpus_named
from evaluation.models import Release
from evaluation.services.releases import Refused


class Command(BaseCommand):
    help = (
        "Makes a release of a corpus: comments, suggestions, annotations, labels and profiles as JSONL, "
        "Parquet and CSV, with card and manifest. It never changes afterwards. "
        "Exit status: 0 made, 1 failed, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--name", required=True, help="what people cite, such as 1.0")
        parser.add_argument("--policy", choices=list(dict(Release.POLICIES)), default=Release.ADJUDICATED)
        parser.add_argument("--agreeing", type=int, metavar="N", help="how many people; only for that policy")
        parser.add_argument("--title", default="", help="default: the name of the corpus")
        parser.add_argument("--description", default="", help="default: that of the corpus")
        parser.add_argument("--licence", default="", help="default: that of the corpus")
        parser.add_argument(
            "--reviewed-only", action="store_true", help="only comments somebody has reviewed"
        )
        parser.add_argument("--include-withdrawn", action="store_true", help="withdrawn comments, too")
        parser.add_argument("--notes", action="store_true", help="the free notes of annotators, too")
        parser.add_argument("--min-words", type=int, default=0, metavar="N")
        for name, words in (
            ("attributes", "keys of attributes"),
            ("queues", "public ids of queues"),
            ("sources", "where comments come from"),
            ("threads", "ids of threads"),
            ("profiles", "ids of authors"),
        ):
            parser.add_argument(f"--{name}", nargs="+", default=[], metavar="X", help=f"only these: {words}")
        parser.add_argument("--look", action="store_true", help="say what would be in it, and make nothing")
        parser.add_argument("--to", type=Path, metavar="FOLDER", help="copy the files there, too")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus = corpus_named(options["corpus"])
        to: Path | None = options["to"]
        if to is not None and to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise CommandError(f"{to} is there and not empty: name another folder.", returncode=USAGE)
        holds = {"query": _query(options), "policy": options["policy"], "agreeing": options["agreeing"]}
        texts = {name: options[name] for name in ("name", "title", "description", "licence")}
        try:
            if options["look"]:
                self._say(releases.preview(corpus, **holds))
                return
            made = releases.ask(by=None, corpus=corpus, **texts, **holds)
        except Refused as error:
            field = f"--{error.field.removeprefix('query.').replace('_', '-')}: " if error.field else ""
            raise CommandError(f"{field}{error}", returncode=USAGE) from None
        release_making.make(made.pk)
        made.refresh_from_db()
        if made.state != Release.READY:
            raise CommandError(f"Release {made.name} is {made.state}. {made.reason}".strip())
        if to is not None:
            shutil.copytree(release_reading.place_of(made), to, dirs_exist_ok=True)
        self._done(made, to)

    def _say(self, found: Preview) -> None:
        for stage in found.stages:
            self.stdout.write(f"{stage.words}: {stage.comments} comments")
        self.stdout.write(", ".join(f"{n} {name}" for name, n in found.counts.items()))
        if found.is_empty:
            self.stdout.write(releases.empty_words(found))

    def _done(self, made: Release, to: Path | None) -> None:
        listed = release_reading.files(made)
        width = max(len(one.name) for one in listed)
        for one in listed:
            rows = "" if one.rows is None else f"{one.rows} rows"
            self.stdout.write(f"{one.name:<{width}} {one.size:>12} bytes  {rows}".rstrip())
        self.stdout.write(f"Release {made.name} of {made.corpus.name}: {made.public_id}")
        self.stdout.write(f"SHA-256 of manifest.json: {made.digest}")
        self.stdout.write(f"Files: {to or release_reading.place_of(made)}")


def _query(options: dict[str, Any]) -> dict[str, Any]:
    names = (
        "reviewed_only",
        "include_withdrawn",
        "notes",
        "min_words",
        "attributes",
        "queues",
        "sources",
        "threads",
        "profiles",
    )
    return {name: options[name] for name in names if options[name]}
