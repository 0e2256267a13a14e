"""Makes a release of the bench’s corpus, part by part and then as a whole, beside JSON made by COPY.

Run as `python -m tests.bench.exchanging_release FOLDER`; prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402 - after the setup

from evaluation.domain import release_schema  # noqa: E402
from evaluation.domain.releasing import Query  # noqa: E402
from evaluation.exchange import (  # noqa: E402
    release_labelling,
    release_making,
    release_published,
    release_scope,
    release_sql,
    release_tables,
)
from evaluation.exchange.release_scope import Scope  # noqa: E402
from evaluation.models import Release  # noqa: E402
from simulation.models import Corpus  # noqa: E402

PLAIN = {
    "comments": "SELECT c.*, t.external_id AS thread FROM simulation_comment c"
    " JOIN simulation_thread t ON t.id = c.thread_id WHERE c.corpus_id = {corpus}",
    "suggestions": "SELECT s.*, c.external_id AS comment FROM annotation_suggestion s"
    " JOIN simulation_comment c ON c.id = s.comment_id WHERE c.corpus_id = {corpus}",
    "profiles": "SELECT * FROM simulation_profile WHERE corpus_id = {corpus}",
}
"""The rows as they are stored, with the names that a reader needs."""


def timed(do: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    done = do()
    return time.perf_counter() - begun, done


def plain(corpus: Corpus, folder: Path) -> int:
    """JSON of the stored rows, by COPY in the order of their keys; how many."""
    rows = 0
    for name, query in PLAIN.items():
        inside = query.format(corpus=corpus.pk)
        statement = f"COPY (SELECT row_to_json(t) FROM ({inside}) t ORDER BY id) TO STDOUT"
        rows += release_tables.copy_out(statement, folder / f"plain-{name}").rows
    return rows


def ours(scope: Scope, folder: Path) -> dict[str, release_tables.Written]:
    """The JSONL of a release: what is in it, which labels count, every table."""
    release_scope.choose(scope)
    scope = release_scope.find_out(scope)
    release_labelling.settle(scope)
    return {
        table.name: release_tables.copy_out(
            release_sql.json_lines(table, scope), folder / f"{table.name}.jsonl"
        )
        for table in release_schema.TABLES
    }


def main(folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True)
    corpus = Corpus.objects.get(name="bench")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    scope = Scope(corpus, Query(), Release.INHERITED, None)
    plain(corpus, folder)  # what is read first is read from the disk, and the other not
    copy, _ = timed(lambda: plain(corpus, folder))
    with release_scope.snapshot():
        jsonl, written = timed(lambda: ours(scope, folder))
        synthpai, _ = timed(lambda: release_published.write_published(scope, folder / "synthpai.jsonl"))
    parquet = 0.0
    for table in release_schema.TABLES:
        lines, out = folder / f"{table.name}.jsonl", folder / f"{table.name}.parquet"
        seconds, _ = timed(lambda: release_tables.to_parquet(table, lines, out, written[table.name]))  # noqa: B023
        parquet += seconds
    release = Release.objects.create(corpus=corpus, name="1.0", policy=Release.INHERITED)
    whole, _ = timed(lambda: release_making.make(release.pk))
    release.refresh_from_db()
    if release.state != Release.READY:
        raise SystemExit(f"the release is {release.state}: {release.reason}")
    rows = sum(one.rows for one in written.values())
    return {
        "rows": rows,
        "copy": copy,
        "jsonl": jsonl,
        "parquet": parquet,
        "synthpai": synthpai,
        "all": whole,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
