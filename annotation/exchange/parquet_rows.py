"""Tables in Parquet, nested columns included: some thousand rows at a time, whatever the file's size."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from annotation.exchange import decoding, parquet_probe, watching
from annotation.exchange.problems import Problems
from annotation.exchange.reading import MAX_RECORD, TOO_LONG, Unreadable

MAGIC, ENCRYPTED = b"PAR1", b"PARE"
AT_ONCE = 1000
BUFFER = 1 << 20
MOST_AT_ONCE = 1 << 30
"""Bytes of one group of rows, unpacked: a column of a group may have to be read as a whole."""
A_VALUE = 8
"""Bytes of one value in a list, whatever it is packed into: equal ones take next to none in the file."""
PIECE = MAX_RECORD
"""Bytes of rows that become values of ours at a time: a text that stands in the file once may stand in a
thousand rows."""


class ParquetRow(NamedTuple):
    """A row and its number, the first being 1."""

    number: int
    values: dict[str, Any]


class ParquetTable:
    """A table in a Parquet file: its columns, and its rows as often as one asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not parquet_probe.survives(path):
            said = "its head says what cannot be"
            raise Unreadable(None, "", f"the Parquet file is damaged ({said}); write it again")
        with self._opened() as file:
            self.columns: list[str] = list(file.schema_arrow.names)
            self.count: int = file.metadata.num_rows
            leaves = [file.schema.column(n) for n in range(len(file.schema))]
            texts = [leaf for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
            self._texts = [leaf.path for leaf in texts if not leaf.max_repetition_level]
            self._listed_texts = [leaf.path for leaf in texts if leaf.max_repetition_level]
            listed = [n for n, leaf in enumerate(leaves) if leaf.max_repetition_level]
            self._groups: int = file.num_row_groups
            groups = (file.metadata.row_group(n) for n in range(self._groups))
            largest = max((_unpacked_size(group, listed) for group in groups), default=0)
        if len(set(self.columns)) != len(self.columns):
            raise Unreadable(None, "", "two columns of the Parquet file have the same name; rename one")
        if largest > MOST_AT_ONCE:
            message = f"a row group of the Parquet file has {largest >> 20} MiB; write it in smaller ones"
            raise Unreadable(None, "", message)

    def rows(self, problems: Problems) -> Iterator[ParquetRow]:
        """The rows, their values as JSON has them; what JSON cannot hold is a problem."""
        for number, one in enumerate(self._values(), start=1):
            try:
                values = {column: as_json(value, number, column) for column, value in one.items()}
            except Unreadable as fault:
                problems.add(fault.line, fault.field, fault.message)
                problems.invalid["comments"] += 1
            else:
                yield ParquetRow(number, values)

    def _values(self) -> Iterator[dict[str, Any]]:
        with self._opened(self._listed_texts) as file:
            size, done = self._path.stat().st_size, 0
            for group in range(self._groups):
                at_once = self._rows_at_once(group)
                for batch in file.iter_batches(at_once, row_groups=[group], use_threads=False):
                    for piece in _pieces(batch, done + 1):
                        yield from piece.to_pylist()
                    done += batch.num_rows
                    watching.told(size * done // max(self.count, 1))

    def _rows_at_once(self, group: int) -> int:
        """So many that texts which stand in the group once, and in many of its rows, fit into memory."""
        if not self._texts:
            return AT_ONCE
        with self._opened(self._texts) as file:
            rows = file.iter_batches(1, row_groups=[group], columns=self._texts, use_threads=False)
            first = next(rows, None)
        longest = sum(_longest(column) for column in first.columns) if first else 0
        return max(1, min(AT_ONCE, PIECE // max(longest, 1)))

    @contextmanager
    def _opened(self, texts: Sequence[str] = ()) -> Iterator[parquet.ParquetFile]:
        """`texts` are read as the file has them: each different one once, and where it stands."""
        how = {"buffer_size": BUFFER, "pre_buffer": False, "read_dictionary": [*texts]}
        try:
            with parquet.ParquetFile(self._path, **how) as file:
                yield file
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())[:200]
            message = f"the Parquet file is damaged or of a kind that cannot be read ({said}); write it again"
            raise Unreadable(None, "", message) from None


def _unpacked_size(group: Any, listed: Sequence[int]) -> int:
    return int(group.total_byte_size + A_VALUE * sum(group.column(n).num_values for n in listed))


def _pieces(batch: Any, first: int) -> Iterator[Any]:
    """The rows in parts that memory can hold once each has its values; `first` is the first row's number."""
    size = sum(_size(column) for column in batch.columns)
    if size <= PIECE:
        yield batch
    elif batch.num_rows == 1:
        raise Unreadable(first, "", f"the row {TOO_LONG}")
    else:
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half), first)
        yield from _pieces(batch.slice(half), first + half)


def _size(values: Any) -> int:
    """Bytes of a column, its texts as often as they stand in it."""
    kind = values.type
    if arrow.types.is_dictionary(kind):
        if not _is_bytes(kind.value_type):
            return int(values.nbytes)
        lengths = compute.cast(compute.binary_length(values.dictionary), arrow.int64())
        return int(compute.sum(lengths.take(values.indices)).as_py() or 0) + A_VALUE * len(values)
    if arrow.types.is_map(kind):
        return _size(values.keys) + _size(values.items)
    if arrow.types.is_list(kind) or arrow.types.is_large_list(kind) or arrow.types.is_fixed_size_list(kind):
        return _size(values.flatten())
    if arrow.types.is_struct(kind):
        return sum(_size(inner) for inner in values.flatten())
    return int(values.nbytes)


def _is_bytes(kind: Any) -> bool:
    tests = ("is_string", "is_large_string", "is_binary", "is_large_binary")
    return any(getattr(arrow.types, test)(kind) for test in tests)


def _longest(values: Any) -> int:
    """Bytes of the longest text that stands once for all rows of a column, or of those within it."""
    if arrow.types.is_struct(values.type):
        return sum(_longest(inner) for inner in values.flatten())
    if arrow.types.is_dictionary(values.type) and _is_bytes(values.type.value_type):
        return int(compute.max(compute.binary_length(values.dictionary)).as_py() or 0)
    return 0


def as_json(value: Any, row: int, column: str) -> Any:
    """A value of Arrow as JSON would hold it: times as text, exact decimals as numbers, bytes in base64."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        _refuse_nul(value, row, column)
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else _finite(value, row, column)
    if isinstance(value, dict):
        return {str(key): as_json(inner, row, column) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner, row, column) for inner in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)


def _finite(value: float, row: int, column: str) -> float:
    if math.isinf(value):
        raise Unreadable(row, column, "is an infinite number, which cannot be stored")
    return value if abs(value) < decoding.WHOLE else int(value)


def _refuse_nul(text: str, row: int, column: str) -> None:
    if "\0" in text:
        raise Unreadable(row, column, "holds a NUL character, which cannot be stored; remove it")
