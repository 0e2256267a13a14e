"""The tables of a release as files: JSON lines and CSV written by the database, Parquet from the JSON lines.

No row passes through Python: the database forms each line, and the driver hands it on. Memory does not grow
with the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as arrow
import pyarrow.json as arrow_json
import pyarrow.parquet as parquet
from django.db import connection

from evaluation.domain.release_schema import Table, Type

BUFFER = 1 << 20
BLOCK = 1 << 19
"""Bytes of JSON that are read at once."""
GROUP = 16 << 20
"""Bytes of values that become one group of rows of the Parquet file: what memory has to hold."""
_QUOTE = arrow.struct(
    [
        ("comment_id", arrow.string()),
        ("start", arrow.int64()),
        ("end", arrow.int64()),
        ("quote", arrow.string()),
    ]
)
TYPES = {
    Type.TEXT: arrow.string(),
    Type.INTEGER: arrow.int64(),
    Type.NUMBER: arrow.float64(),
    Type.BOOLEAN: arrow.bool_(),
    Type.TEXTS: arrow.list_(arrow.string()),
    Type.NUMBERS: arrow.list_(arrow.float64()),
    Type.QUOTES: arrow.list_(_QUOTE),
}


@dataclass(frozen=True)
class Written:
    """Lines of a file, and bytes of the longest."""

    rows: int
    longest: int


def schema_of(table: Table) -> arrow.Schema:
    """The schema of a table's Parquet file."""
    return arrow.schema([arrow.field(one.name, TYPES[one.type]) for one in table.columns])


def copy_out(statement: str, path: Path) -> Written:
    """Runs a COPY … TO STDOUT into a new file."""
    rows = longest = 0
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        path.open("wb", BUFFER) as file,
        cursor.copy(statement) as copy,
    ):
        for size in map(file.write, copy):
            rows += 1
            longest = max(longest, size)
    return Written(rows, longest)


def to_parquet(table: Table, lines: Path, path: Path, written: Written) -> None:
    """Writes the rows of a file of JSON lines as Parquet. Equal lines give equal bytes."""
    schema = schema_of(table)
    with parquet.ParquetWriter(path, schema, compression="zstd", compression_level=1) as file:
        if written.rows:
            for group in _groups(schema, lines, max(BLOCK, 2 * written.longest)):
                file.write_table(group)


def _groups(schema: arrow.Schema, lines: Path, block: int) -> Iterator[arrow.Table]:
    reading = arrow_json.ReadOptions(block_size=block, use_threads=False)
    parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    waiting: list[arrow.RecordBatch] = []
    size = 0
    with arrow_json.open_json(lines, read_options=reading, parse_options=parsing) as reader:
        for batch in reader:
            waiting.append(batch)
            size += batch.nbytes
            if size >= GROUP:
                yield arrow.Table.from_batches(waiting)
                waiting, size = [], 0
    if waiting:
        yield arrow.Table.from_batches(waiting)
