"""Files to import, and what came of them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.exchange.dataset import ImportReport, import_paths
from annotation.exchange.export import stream
from simulation.models import Corpus
from tests.annotation.exchange.samples import lines


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write(name, content)` makes a file: bytes and text as they are, rows as lines, all else as JSON."""

    def written(name: str, content: Any) -> Path:
        if isinstance(content, list):
            content = lines(*content)
        elif isinstance(content, dict):
            content = json.dumps(content)
        data = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") and data[:2] != b"\x1f\x8b" else data)
        return path

    return written


@pytest.fixture
def take(write: Callable[..., Path], db: None) -> Callable[..., ImportReport]:
    """`take(name, content)` imports such a file into the corpus “harbour”."""

    def taken(name: str, content: Any, **options: Any) -> ImportReport:
        return import_paths(paths=[write(name, content)], corpus_name="harbour", **options)

    return taken


@pytest.fixture
def exported(db: None) -> Callable[..., list[dict[str, Any]]]:
    """`exported()` is the corpus “harbour” in the published layout."""

    def rows(layout: str = "synthpai", **options: Any) -> list[dict[str, Any]]:
        pieces = stream(corpus=Corpus.objects.get(name="harbour"), layout=layout, **options)
        return [json.loads(line) for line in "".join(pieces).splitlines()]

    return rows


def counts(report: ImportReport, kind: str = "comments") -> tuple[int, int, int, int]:
    tally = report.tallies[kind]
    return tally.new, tally.changed, tally.same, tally.invalid


def said(report: ImportReport) -> list[str]:
    return [str(problem) for problem in report.problems]
