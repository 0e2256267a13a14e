"""Looks at the head of a Parquet file in a process of its own.

The reader is compiled code, and a head that lies makes it end its whole process, without an exception: that
must be neither the site's nor a worker's. Run as a script with the path of a file: exit status 0 or 1
whatever the file is, unless the reader has ended it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet

SECONDS = 60


def survives(path: Path) -> bool:
    """Whether a process that asks for everything the head says lives on."""
    command = [sys.executable, "-I", str(Path(__file__).resolve()), str(path)]
    try:
        looked = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return looked.returncode in (0, 1)


def look(path: str) -> None:
    """Asks the head for what the importer asks it for; no row is read."""
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            for leaf in range(len(file.schema)):
                column = group.column(leaf)
                _ = column.num_values, column.total_uncompressed_size, column.physical_type


if __name__ == "__main__":
    try:
        look(sys.argv[1])
    except (arrow.ArrowException, OSError, ValueError, IndexError):
        sys.exit(1)
