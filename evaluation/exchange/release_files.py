"""The files of a release: one moment of the corpus, written into a folder that is whole or not there.

Equal data give equal bytes, file by file: no file says when it was made, nor any key of the database. So a
release that is imported into an empty corpus and made again from there has the same manifest, as far as the
published form can carry what was released (docs/releases.md says what it cannot).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection

from evaluation.domain import release_schema
from evaluation.domain.release_card import About, card
from evaluation.domain.release_croissant import croissant
from evaluation.domain.releasing import Query
from evaluation.exchange import (
    release_labelling,
    release_published,
    release_quality,
    release_scope,
    release_sources,
    release_sql,
    release_tables,
)
from evaluation.exchange.release_counting import counts
from evaluation.exchange.release_scope import NothingToRelease, Scope
from evaluation.exchange.release_tables import Written
from evaluation.models import Release
from simulation.domain.version import VERSION

__all__ = ["MANIFEST", "Manifest", "NothingToRelease", "counts", "write"]

MANIFEST = "manifest.json"
PUBLISHED = "synthpai.jsonl"
FORMAT = 1
PSEUDONYMS = (
    "a1, a2 … by first annotation in the corpus; reviewers of imported files keep their keys, which no"
    " pseudonym repeats"
)


@dataclass(frozen=True)
class Manifest:
    """What manifest.json says, and its SHA-256."""

    content: dict[str, Any]
    digest: str


@dataclass(frozen=True)
class _Read:
    """What was read in the snapshot, beside the files that are written there."""

    rows: dict[str, Written]
    sources: release_sources.Sources
    labels: dict[str, dict[str, int]]
    metrics: dict[str, Any]


def write(release: Release, folder: Path, *, check: Callable[[], None] = lambda: None) -> Manifest:
    """Writes all files into `folder`, which must not be there yet and is there at the end, whole.

    `check` is called between files; what it raises ends the writing. Raises NothingToRelease, BadQuery.
    """
    scope = Scope(release.corpus, Query.from_json(release.query), release.policy, release.agreeing)
    unfinished = folder.with_name(f".{folder.name}.part")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(parents=True, mode=0o700)
    try:
        read = _read(scope, unfinished, check)
        for table in release_schema.TABLES:
            check()
            lines, parquet = (unfinished / f"{table.name}.{ending}" for ending in ("jsonl", "parquet"))
            release_tables.to_parquet(table, lines, parquet, read.rows[lines.name])
        made = _describe(release, scope, read, unfinished)
        check()
        _keep(unfinished)
        unfinished.rename(folder)
        _sync(folder.parent)
    finally:
        if unfinished.exists():
            shutil.rmtree(unfinished)
    return made


def _read(scope: Scope, folder: Path, check: Callable[[], None]) -> _Read:
    """Everything that the database says, in one moment of it."""
    rows: dict[str, Written] = {}
    with release_scope.snapshot():
        release_scope.choose(scope)
        scope = release_scope.find_out(scope)
        release_labelling.settle(scope)
        for table in release_schema.TABLES:
            check()
            name = f"{table.name}.jsonl"
            rows[name] = release_tables.copy_out(release_sql.json_lines(table, scope), folder / name)
            release_tables.copy_out(release_sql.csv_lines(table, scope), folder / f"{table.name}.csv")
        check()
        rows[PUBLISHED] = release_published.write_published(scope, folder / PUBLISHED)
        check()
        return _Read(rows, release_sources.sources(), _labels(scope), release_quality.measured(scope))


def _labels(scope: Scope) -> dict[str, dict[str, int]]:
    """Attribute -> state -> how many labels."""
    labels = release_sql.rows(release_schema.LABELS, scope)
    found: dict[str, dict[str, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT attribute, state, count(*) FROM ({labels}) l GROUP BY 1, 2 ORDER BY 1, 2")  # noqa: S608 - our own words and keys
        for attribute, state, number in cursor.fetchall():
            found.setdefault(attribute, {})[state] = number
    return found


def _describe(release: Release, scope: Scope, read: _Read, folder: Path) -> Manifest:
    """The files about the files: metrics, card, Croissant and, last, the manifest."""
    about = About(
        name=release.name,
        title=release.title,
        description=release.description,
        licence=release.licence or scope.corpus.licence,
        language=scope.corpus.language,
        policy=release.policy,
        agreeing=release.agreeing,
        query=scope.query.to_json(),
        rows={table.name: read.rows[f"{table.name}.jsonl"].rows for table in release_schema.TABLES},
        labels=read.labels,
        metrics=read.metrics,
        version=VERSION,
        **vars(read.sources),
    )
    _write_json(folder / "metrics.json", read.metrics)
    (folder / "README.md").write_text(card(about), encoding="utf-8", newline="\n")
    digests = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    _write_json(folder / "croissant.json", croissant(about, digests))
    digests["croissant.json"] = _digest(folder / "croissant.json")
    content = _manifest(about, digests, read.rows)
    _write_json(folder / MANIFEST, content)
    return Manifest(content, _digest(folder / MANIFEST)[0])


def _manifest(about: About, digests: dict[str, tuple[str, int]], rows: dict[str, Written]) -> dict[str, Any]:
    def of(name: str) -> dict[str, Any]:
        sha256, size = digests[name]
        stem = name.rsplit(".", 1)[0]
        lines = rows.get(name) or (rows.get(f"{stem}.jsonl") if name.endswith((".csv", ".parquet")) else None)
        return {"sha256": sha256, "bytes": size, "rows": lines.rows if lines else None}

    return {
        "format": FORMAT,
        "schema": release_schema.VERSION,
        "program": {"name": "SynthPAI Studio", "version": about.version},
        "name": about.name,
        "title": about.title,
        "licence": about.licence,
        "language": about.language,
        "policy": about.policy,
        "agreeing": about.agreeing,
        "query": dict(about.query),
        "counts": dict(about.rows),
        "labels": {key: dict(states) for key, states in about.labels.items()},
        "runs": list(about.runs),
        "prompts": list(about.prompts),
        "models": list(about.models),
        "taggers": list(about.taggers),
        "pseudonyms": PSEUDONYMS,
        "files": {name: of(name) for name in sorted(digests)},
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


def _digest(path: Path) -> tuple[str, int]:
    """SHA-256 and bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size


def _keep(folder: Path) -> None:
    """Nothing of it is lost if the machine stops now."""
    for path in folder.iterdir():
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
