"""Small foreign tables; every name and sentence is invented."""

import csv
import io
from typing import Any

COLUMNS = ["Post ID", "Conversation", "In reply to", "User", "Body", "Gender", "Age", "Mood"]
ROWS = [
    ["p1", "t1", "", "Gull", "The harbour is wet again.", "female", "41", "grey"],
    ["p2", "t1", "p1", "Tern", "It is, and\nhas been.", "", "", ""],
    ["p3", "t2", "", "Auk", 'He said "no", twice.', "male", "30", ""],
]
MAPPING = {
    "external_id": "Post ID",
    "thread_id": "Conversation",
    "parent_id": "In reply to",
    "username": "User",
    "text": "Body",
    "profile.sex": "Gender",
    "profile.age": "Age",
}


def table(rows: list[list[Any]] = ROWS, columns: list[str] = COLUMNS, *, delimiter: str = ",") -> str:
    """CSV as other programs write it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def objects(rows: list[list[Any]] = ROWS, columns: list[str] = COLUMNS) -> list[dict[str, Any]]:
    return [dict(zip(columns, one, strict=True)) for one in rows]
