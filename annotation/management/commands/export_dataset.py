"""Writes a corpus with its labels to a file or to the standard output."""

import gzip
import os
import secrets
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.export import LAYOUTS, record, snapshot, stream
from annotation.exchange.reading import is_text, readable
from simulation.models import Corpus

USAGE = 2


class Command(BaseCommand):
    help = (
        "Writes a corpus: synthpai (the published layout), jsonl (one comment a line), csv (one label a row)."
        " People appear under pseudonyms."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--format", choices=sorted(LAYOUTS), default="synthpai")
        parser.add_argument(
            "--reviewed-only", action="store_true", help="only comments that people here labelled"
        )
        parser.add_argument(
            "--out", required=True, metavar="FILE|-", help="a name in .gz is packed; - is standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["corpus"]
        there = Corpus.objects.filter(trashed_at=None)
        corpus = there.filter(name=name).first() if is_text(name) else None
        if corpus is None:
            known = ", ".join(there.values_list("name", flat=True)[:20]) or "none yet"
            raise CommandError(
                f"There is no corpus “{readable(name)}”. There are: {known}.", returncode=USAGE
            )
        chosen = {"layout": options["format"], "reviewed_only": options["reviewed_only"]}
        record(by=None, corpus=corpus, **chosen)
        with snapshot():
            pieces = stream(corpus=corpus, **chosen)
            if options["out"] == "-":
                self._print(pieces)
            else:
                self._save(pieces, Path(options["out"]))

    def _print(self, pieces: Iterable[str]) -> None:
        try:
            for piece in pieces:
                self.stdout.write(piece, ending="")
            self.stdout.flush()
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            _forget_output()
        except OSError as error:
            _forget_output()
            raise CommandError(
                f"The standard output cannot be written: {error.strerror}.", returncode=USAGE
            ) from None

    def _save(self, pieces: Iterable[str], target: Path) -> None:
        """Writes beside the target and renames: what is there is whole, or untouched."""
        packed = target.suffix == ".gz"
        try:
            if target.is_symlink() or (target.exists() and not target.is_file()):  # as /dev/null
                with target.open("wb") as file:
                    _write(pieces, file, packed=packed)
                return
            # Not made of the target's name, which may be as long as names can be.
            draft = target.with_name(f".export-{secrets.token_hex(8)}")
            try:
                with draft.open("wb") as file:
                    _write(pieces, file, packed=packed)
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            said = f"{readable(str(target))} cannot be written: {error.strerror}."
            raise CommandError(said, returncode=USAGE) from None


def _forget_output() -> None:
    """What is still in the buffer would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(pieces: Iterable[str], file: BinaryIO, *, packed: bool) -> None:
    if not packed:
        file.writelines(piece.encode() for piece in pieces)
        return
    # Without name and time in its head, equal data give equal bytes here, too.
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packing:
        packing.writelines(piece.encode() for piece in pieces)
