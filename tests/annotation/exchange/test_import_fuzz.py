"""Files that nobody meant: valid ones with something wrong in them, and bytes that are none.

Whatever comes, the importer neither breaks nor keeps half of a file: it is imported as a whole, and then a
second time changes nothing; or it is refused, and the database is as it was.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.exchange.dataset import BadPath, import_paths
from tests.annotation.exchange.samples import guess, label, node, profile, review, row

TABLES = {
    "simulation_corpus": "name",
    "simulation_profile": "external_id, username, facts::text, style, extra::text",
    "simulation_thread": "external_id, target_phrase, source, extra::text",
    "simulation_comment": "external_id, author, username, text, depth, position, extra::text",
    "annotation_suggestion": "comment_id, tagger, attribute, guesses::text, hardness_word, certainty",
    "annotation_annotation": "comment_id, reviewer, extra::text",
    "annotation_attributelabel": "annotation_id, attribute, state, value, hardness, certainty",
}
MINUTES = 10
CORPUS = "fuzzed"


def standing() -> dict[str, Any]:
    """What the database holds, in a form that two moments can be compared by."""
    found = {}
    with connection.cursor() as cursor:
        for table, columns in TABLES.items():
            cursor.execute(
                f"SELECT count(*), md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), ''))"
                f" FROM (SELECT {columns} FROM {table}) AS t"
            )
            found[table] = cursor.fetchone()
    return found


# --- Values that a field may hold in a file that nobody checked

texts = st.text(st.characters(exclude_categories=()), max_size=20)
odd_texts = st.sampled_from(
    ["", " ", "\u0000", "\ufeff", "\ud800", "=1+1", "a" * 300, "c0", "c1", "root", "thread_age_1", "NaN",
     "null", "1e999", "\u202e", "🙂", "\r\n", "0", "-1", "true", "pers1", "Author1"]
)  # fmt: skip
numbers = st.one_of(
    st.integers(-3, 6), st.integers(), st.floats(), st.just(10**400), st.just(-0.0), st.just(0.5)
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, odd_texts)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | odd_texts, inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every address inside a value."""
    found = [path] if path else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        found += places(part, (*path, key))
    return found


@st.composite
def bent(draw: st.DrawFn, value: Any) -> Any:
    """`value` with up to three of its parts replaced, removed, doubled or renamed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 3))):
        found = places(value)
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        into = value
        for step in way:
            into = into[step]
        act = draw(st.sampled_from(["replace", "remove", "double", "rename"]))
        if act == "remove":
            del into[last]
        elif act == "double" and isinstance(into, list):
            into.insert(0, copy.deepcopy(into[last]))
        elif act == "rename" and isinstance(into, dict):
            into[draw(texts | odd_texts)] = into.pop(last)
        else:
            into[last] = draw(values)
    return value


GUESSED = [guess(), guess("age", guesses=[40, 41, 39], model_eval=[1, 0, 0])]
ROWS = [
    row(0, None, children=["c1", "c2"], guesses=GUESSED),
    row(1, "c0", reviews={"human": review(age=label("41", 2, 4))}),
    row(2, "c0", children=["c3"]),
    row(3, "c2"),
]
PLAIN = [
    {"external_id": "e0", "thread_id": "t", "parent_id": None, "username": "u", "text": "One.",
     "source": "real"},
    {"external_id": "e1", "thread_id": "t", "parent_id": "e0", "username": "v", "text": "Two.",
     "guesses": [{"feature": "age", "guesses": ["30"], "hardness": "direct", "certainty": 5, "model": "m"}]},
]  # fmt: skip
TREE = node("PaperLantern", node("Author1", node("Author2")), node("Author3"), guess_feature="age")
TREES = [{**node("A", node("B")), "thread_id": "t1"}, {**node("C"), "thread_id": "t2"}]
PEOPLE = {"pers1": profile(), "pers2": profile("OtherName", age="12", income=None)}


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def as_lines(value: Any) -> bytes:
    rows = value if isinstance(value, list) else [value]
    return b"".join(as_json(one) + b"\n" for one in rows)


def as_csv(rows: list[list[str]], delimiter: str) -> bytes:
    text = "".join(delimiter.join(cells) + "\n" for cells in rows)
    return text.encode("utf-8", "surrogatepass")


cells = st.one_of(st.sampled_from(["t1", "a", "b", '"x,y"', '"', '""', "1", ""]), texts)
tables = st.lists(st.lists(cells, min_size=0, max_size=6), max_size=5)


@st.composite
def parquets(draw: st.DrawFn) -> bytes:
    """Columns of any simple type under names that may be ours."""
    count = draw(st.integers(0, 4))
    columns = {}
    for name in draw(
        st.lists(st.sampled_from(["id", "thread_id", "text", "username", "age", "x"]), unique=True)
    ):
        kind = draw(st.sampled_from(["text", "whole", "float", "list"]))
        one = {
            "text": st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=8),
            "whole": st.none() | st.integers(-5, 5),
            "float": st.none() | st.floats(),
            "list": st.none() | st.lists(st.integers(0, 3), max_size=2),
        }[kind]
        columns[name] = draw(st.lists(one, min_size=count, max_size=count))
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A name and bytes."""
    kind = draw(
        st.sampled_from(["rows", "array", "plain", "tree", "trees", "people", "csv", "parquet", "bytes"])
    )
    ending = {"rows": "jsonl", "plain": "jsonl", "trees": "jsonl", "csv": "csv", "parquet": "parquet"}
    if kind == "rows":
        data = as_lines(draw(bent(ROWS)))
    elif kind == "array":
        data = as_json(draw(bent(ROWS)))
    elif kind == "plain":
        data = as_lines(draw(bent(PLAIN)))
    elif kind == "tree":
        data = as_json(draw(bent(TREE)))
    elif kind == "trees":
        data = as_lines(draw(bent(TREES)))
    elif kind == "people":
        data = as_json(draw(bent(PEOPLE)))
    elif kind == "csv":
        head = draw(st.sampled_from([["id", "thread_id", "username", "text"], ["text", "user"], []]))
        data = as_csv([head, *draw(tables)], draw(st.sampled_from([",", ";", "\t"])))
    elif kind == "parquet":
        data = draw(parquets())
    else:
        data = draw(st.binary(max_size=200))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):  # a slip of the disk or of the sender
        at = draw(st.integers(0, len(data)))
        data = (
            data[:at]
            + draw(st.sampled_from([b"", b"\x00", b"\xff", b"\n", b'"', b"{", b"}"]))
            + data[at + 1 :]
        )
    if draw(st.sampled_from([False, False, False, True])):
        data = gzip.compress(data)[: draw(st.sampled_from([None, None, -5]))]
    if draw(st.sampled_from([False, False, False, True])):
        data = b"\xef\xbb\xbf" + data
    return (
        f"file.{draw(st.sampled_from([ending.get(kind, 'json')] * 4 + ['json', 'jsonl', 'csv', 'parquet']))}",
        data,
    )


def take(name: str, data: bytes, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return import_paths(paths=[path], corpus_name=CORPUS, **options)


def check(file: tuple[str, bytes]) -> None:
    """One file, into a database that is as before afterwards."""
    name, data = file
    with transaction.atomic():
        before = standing()
        try:
            report = take(name, data)
        except (BadPath, ValidationError):
            assert standing() == before
            return
        if not report.ok:
            assert report.problem_count >= len(report.problems) > 0
            assert all(one.message for one in report.problems)
            assert standing() == before
        else:
            after = standing()
            again = take(name, data)
            assert again.ok
            assert sum(one.new + one.changed for one in again.tallies.values()) == 0
            assert standing() == after
        transaction.set_rollback(True)


def search(seconds: float, examples: int) -> int:
    """Looks at files until the time is over; how many rounds of `examples`."""
    end, rounds = time.monotonic() + seconds, 0
    while not rounds or time.monotonic() < end:

        @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
        @given(files())
        def one_round(file: tuple[str, bytes]) -> None:
            check(file)

        one_round()
        rounds += 1
    return rounds


@pytest.mark.django_db(transaction=True)
def test_no_file_breaks_the_importer_or_is_kept_by_half():
    search(0, 60)


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
def test_ten_minutes_of_files_that_nobody_meant():
    assert search(float(os.environ.get("FUZZ_MINUTES", MINUTES)) * 60, 200)
