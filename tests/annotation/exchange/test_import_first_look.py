"""The first look at an upload, which a page waits for: short and small whatever the file does."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from annotation.exchange import reading, tables_in
from annotation.exchange.describing import describe, needs_columns
from annotation.exchange.parquet_rows import ParquetTable
from annotation.exchange.problems import SHOWN, Problems
from annotation.exchange.reading import Unreadable

MIB = 1 << 20


@pytest.fixture
def pool():
    """Where Arrow's memory comes from, with the most that it ever was."""
    usual = arrow.default_memory_pool()
    made = arrow.proxy_memory_pool(usual)
    arrow.set_memory_pool(made)
    yield made
    arrow.set_memory_pool(usual)


def test_rows_with_a_wrong_number_of_cells_are_not_read_to_the_end(write, monkeypatch):
    seen = []
    monkeypatch.setattr(tables_in.Glance, "add", _told(tables_in.Glance.add, seen))
    path = write("table.csv.gz", "Body,User\n" + "a,b,c\n" * 50_000)
    assert describe(path).rows == ()
    assert len(seen) == SHOWN


def _told(add, seen):
    def added(self, *values):
        seen.append(values)
        add(self, *values)

    return added


def test_values_that_are_no_objects_are_not_read_to_the_end(write, monkeypatch):
    seen = []
    monkeypatch.setattr(tables_in.Glance, "add", _told(tables_in.Glance.add, seen))
    path = write("rows.jsonl.gz", '{"body": "wet", "user": "Gull"}\n' + "1\n" * 50_000)
    found = describe(path)
    assert (found.columns, found.rows) == (("body", "user"), (("wet", "Gull"),))
    assert len(seen) == 2 * SHOWN  # once for the columns, once for the rows


@pytest.mark.parametrize(
    ("name", "begins"), [("table.csv.gz", "Body,User\nwet,Gull\n"), ("rows.jsonl.gz", '{"body": "wet"}\n')]
)
def test_empty_lines_are_not_read_to_the_end(write, monkeypatch, name, begins):
    monkeypatch.setattr(reading, "FIRST_LOOK", MIB)
    path = write(name, begins + "\n" * (8 * MIB))
    read = []
    usual = reading._Beginning.readinto

    def counted(self, buffer):
        count = usual(self, buffer)
        read.append(count)
        return count

    monkeypatch.setattr(reading._Beginning, "readinto", counted)
    assert describe(path).rows[0][0] == "wet"
    assert 0 < sum(read) <= 3 * MIB


def test_what_the_first_look_left_out_is_read_in_earnest(take, monkeypatch):
    monkeypatch.setattr(reading, "FIRST_LOOK", 2000)
    rows = "".join(f"c{n},t,Gull,Sentence {n}.\n" for n in range(500))
    report = take("table.csv", "id,thread_id,username,text\n" + rows)
    assert report.tallies["comments"].new == 500


def test_a_text_that_stands_once_in_the_file_and_a_thousand_times_in_its_rows_takes_little_memory(
    tmp_path, pool
):
    path = tmp_path / "table.parquet"
    texts = arrow.array(["x" * MIB], arrow.large_string())
    body = arrow.DictionaryArray.from_arrays(arrow.array([0] * 1000, arrow.int32()), texts)
    inner = arrow.StructArray.from_arrays([body], ["note"])
    parquet.write_table(arrow.table({"body": body, "more": inner}), path, compression="zstd")
    assert path.stat().st_size < MIB
    rows = ParquetTable(path).rows(Problems(""))
    assert sum(len(row.values["body"]) + len(row.values["more"]["note"]) for row in rows) == 2000 * MIB
    assert pool.max_memory() < 100 * MIB


def test_a_row_of_many_long_texts_is_refused_with_its_number(tmp_path):
    path = tmp_path / "table.parquet"
    texts = arrow.DictionaryArray.from_arrays(arrow.array([0] * 40, arrow.int32()), arrow.array(["x" * MIB]))
    lists = arrow.ListArray.from_arrays([0, 1, 40], texts)
    parquet.write_table(arrow.table({"body": ["a", "b"], "more": lists}), path, compression="zstd")
    rows = ParquetTable(path).rows(Problems(""))
    assert next(rows).number == 1
    with pytest.raises(Unreadable, match="the row is longer than 16 MiB") as fault:
        next(rows)
    assert fault.value.line == 2


def test_lists_of_equal_numbers_count_as_what_they_are_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("annotation.exchange.parquet_rows.MOST_AT_ONCE", MIB)
    path = tmp_path / "table.parquet"
    numbers = arrow.array([[0] * 200_000] * 2)
    parquet.write_table(arrow.table({"body": ["a", "b"], "more": numbers}), path)
    assert path.stat().st_size < MIB
    with pytest.raises(Unreadable, match="a row group of the Parquet file has"):
        ParquetTable(path)


def test_every_kind_of_value_comes_as_it_did(tmp_path):
    path = tmp_path / "table.parquet"
    one = {
        "few": arrow.array(["a", None, "a"]).dictionary_encode(),
        "large": arrow.array(["ä", "b", None], arrow.large_string()),
        "raw": arrow.array([b"\xff", None, b""]),
        "list": arrow.array([["q", None], [], None]),
        "struct": arrow.array([{"k": "v", "n": 1}, None, {"k": None, "n": 2}]),
        "map": arrow.array([[("k", "v")], None, []], arrow.map_(arrow.string(), arrow.string())),
        "flag": [True, None, False],
    }
    parquet.write_table(arrow.table(one), path)
    rows = [row.values for row in ParquetTable(path).rows(Problems(""))]
    assert [row["few"] for row in rows] == ["a", None, "a"]
    assert [row["large"] for row in rows] == ["ä", "b", None]
    assert [row["raw"] for row in rows] == ["/w==", None, ""]
    assert [row["list"] for row in rows] == [["q", None], [], None]
    assert [row["struct"] for row in rows] == [{"k": "v", "n": 1}, None, {"k": None, "n": 2}]
    assert [row["map"] for row in rows] == [[["k", "v"]], None, []]
    assert [row["flag"] for row in rows] == [True, None, False]


def test_a_name_of_a_column_has_an_end(write):
    with pytest.raises(Unreadable, match="the name of column 2 has 300 characters; at most 200") as fault:
        describe(write("table.csv", f"Body,{'x' * 300}\nwet,1\n"))
    assert len(fault.value.field) < 50
    assert not needs_columns(write("table.csv", f"Body,{'x' * 300}\nwet,1\n"))


def test_a_column_whose_name_cannot_be_stored_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    parquet.write_table(arrow.table({"body": ["a"], "us\0er": ["b"]}), path)
    with pytest.raises(Unreadable, match="column 2 holds a NUL"):
        describe(path)


def _zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", "a,b\n")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("table.xlsx", _zipped(), r"or a spreadsheet \(.* save the table as CSV in UTF-8"),
        ("table.csv", _zipped(), "a zip archive or a spreadsheet"),
        ("rows.jsonl.bz2", bz2.compress(b"{}"), "bzip2; unpack it"),
        ("rows.jsonl.xz", lzma.compress(b"{}"), "xz; unpack it"),
        ("rows.jsonl.gz", gzip.compress(gzip.compress(b"{}")), "with gzip twice"),
        ("table.csv.gz", gzip.compress(gzip.compress(b"a,b\n")), "with gzip twice"),
        ("table.parquet", b"PARE" + bytes(40) + b"PARE", "is encrypted"),
    ],
    # Packed bytes hold the time: workers that collect a second apart would not agree on the tests' names.
    ids=["xlsx", "zip as csv", "bzip2", "xz", "gzip twice, jsonl", "gzip twice, csv", "encrypted parquet"],
)
def test_what_is_packed_otherwise_is_called_by_its_name(write, name, data, said):
    with pytest.raises(Unreadable, match=said):
        describe(write(name, data))


def test_words_that_begin_like_a_mark_are_words(write):
    assert describe(write("table.csv", "PARENT,BZh\na,b\n")).columns == ("PARENT", "BZh")
