"""What files of the world bring: each gives a clear error or a stated repair, never half an import."""

import csv
import io
import json

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from annotation.exchange import dataset
from annotation.exchange.dataset import import_paths
from annotation.exchange.watching import Stopped, Watch
from simulation.models import Comment, Profile, Thread
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import lines, row
from tests.annotation.exchange.tables import COLUMNS, MAPPING, ROWS, objects, table

pytestmark = pytest.mark.django_db
OPTIONS = {"mapping": MAPPING}


@pytest.fixture
def refused(take):
    """`refused(name, content)` is what was said; nothing may be there afterwards."""

    def called(name, content, **options):
        report = take(name, content, **(options or {"options": OPTIONS}))
        assert not report.ok
        assert not any(model.objects.exists() for model in (Comment, Profile, Thread))
        return said(report)

    return called


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.jsonl", "table.json"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(refused, name, encoding):
    content = table() if "csv" in name else lines(row())
    (told,) = refused(name, content.encode(encoding))
    assert "UTF-16 or UTF-32" in told
    assert "save it as UTF-8" in told


def test_a_byte_of_windows_in_a_table_is_named_with_line_and_column(refused):
    content = table().replace("harbour", "café harbour", 1).encode("cp1252")
    assert refused("table.csv", content) == [
        "table.csv, line 2: column 20 is not UTF-8 (byte 0xe9); save the file as UTF-8"
        " (perhaps it is Windows-1252, as spreadsheets write)"
    ]


def test_a_bad_byte_deep_in_a_long_table_is_found(refused):
    rows = [[f"p{number}", *ROWS[number % 3][1:]] for number in range(60_000)]
    rows = [[*one[:2], "", *one[3:]] for one in rows]
    content = table(rows).encode() + b"p,t,,Gull,caf\xe9,,,\n"
    (told,) = refused("table.csv", content)
    assert told.startswith("table.csv, line 80002: column 14 is not UTF-8 (byte 0xe9)")


def test_a_nul_byte_in_a_table_is_named(refused):
    content = table().replace("wet", "w\0et")
    assert refused("table.csv", content) == [
        "table.csv, line 2: holds a NUL byte, which cannot be stored; remove it"
    ]


def test_the_mark_of_utf_8_is_no_part_of_the_first_column(take):
    assert take("table.csv", b"\xef\xbb\xbf" + table().encode(), options=OPTIONS).ok
    assert counts(take("plain.jsonl", b"\xef\xbb\xbf" + lines(row()).encode()))[0] == 1


def test_a_row_with_a_wrong_number_of_cells_is_named_with_its_line(refused):
    rows = [ROWS[0], [*ROWS[1], "more"], ROWS[2][:3]]
    assert refused("table.csv", table(rows)) == [
        "table.csv, line 3: has 9 cells, the header has 8; is a quote or a separator missing?",
        "table.csv, line 5: has 3 cells, the header has 8; is a quote or a separator missing?",
    ]


def test_a_quote_that_is_never_closed_is_named_where_it_begins(refused):
    content = table() + 'p4,t1,,Gull,"never closed,,,\nmore\nlines\n'
    assert refused("table.csv", content) == [
        "table.csv, line 6: the row that begins here is no CSV: a quote is never closed"
    ]


def test_text_behind_a_closing_quote_is_named(refused):
    content = table() + 'p4,t1,,Gull,"closed" and more,,,\n'
    assert (
        "line 6: the row that begins here is no CSV: something follows a closing quote"
        in refused("table.csv", content)[0]
    )


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "  \n"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "rows.jsonl", "tree.json"])
def test_an_empty_file_is_said_to_be_empty(refused, name, content):
    assert refused(name, content) == [f"{name}: the file is empty"]


def test_an_empty_parquet_file_is_said_to_be_empty(refused):
    assert "no Parquet file" in refused("table.parquet", b"x")[0]
    assert refused("table.parquet", b"") == ["table.parquet: the file is empty"]


def test_a_table_with_nothing_but_its_header_has_no_rows(refused):
    assert refused("table.csv", table([])) == ["table.csv: the file holds no rows"]


def test_the_header_in_the_middle_is_named(refused):
    content = table(ROWS[:1]) + table(ROWS[1:])
    (told,) = refused("table.csv", content)
    assert told == "table.csv, line 3: the header stands here again; remove this line"


def test_columns_with_the_same_name_or_none_are_named(refused):
    (told,) = refused("table.csv", "a,b,a\n1,2,3\n")
    assert told == "table.csv, line 1, a: 2 columns have this name; rename all but one"
    assert "column 2 has no name" in refused("table.csv", "a,,c\n1,2,3\n")[0]


def test_a_row_of_a_megabyte_is_read(take):
    long = "word " * 400_000
    assert take("table.csv", table([["p1", "t1", "", "Gull", long, "", "", ""]]), options=OPTIONS).ok
    assert len(Comment.objects.get().text) == 1_999_999
    assert take("rows.jsonl", [row(text=long)]).ok


def test_a_cell_beyond_all_measure_is_refused(refused):
    long = 'p1,t1,,Gull,"' + "word " * (17 << 20 >> 2) + '",,,\n'
    (told,) = refused("table.csv", table([]) + long)
    assert told.startswith("table.csv, line 2: the row that begins here is longer than 16 MiB")
    many = 'p1,t1,,Gull,"' + "word\n" * (17 << 20 >> 2) + '",,,\n'
    (told,) = refused("table.csv", table([]) + many)
    assert told.startswith("table.csv, line 2: the row that begins here is longer than 16 MiB")


def test_too_many_columns_are_refused(refused):
    columns = ",".join(f"c{number}" for number in range(2000))
    assert "2000 columns are too many" in refused("table.csv", f"{columns}\n{columns}\n")[0]


def test_ids_that_stand_twice_are_named_in_tables_too(refused):
    assert refused("table.csv", table([ROWS[0], ROWS[0]])) == [
        "table.csv, line 3, Post ID: “p1” stands in line 2 already; every comment has its own"
    ]


def test_circles_are_named_in_tables_too(refused):
    rows = [["p1", "t", "p2", "Gull", "x", "", "", ""], ["p2", "t", "p1", "Tern", "y", "", "", ""]]
    (told,) = refused("table.csv", table(rows))
    assert "the comment is a reply to itself: p1 → p2 → p1" in told


def test_a_reply_to_a_comment_that_is_not_there_begins_a_thread_of_its_own_and_keeps_the_name(take, exported):
    take("table.csv", table([["p1", "t", "gone", "Gull", "x", "", "", ""]]), options=OPTIONS)
    stored = Comment.objects.get()
    assert (stored.parent, stored.depth, stored.extra["parent_id"]) == (None, 0, "gone")


def test_a_thread_of_ten_thousand_levels_is_read_from_rows(take):
    rows = [["p0", "t", "", "Gull", "x", "", "", ""]]
    rows += [[f"p{number}", "t", f"p{number - 1}", "Gull", "x", "", "", ""] for number in range(1, 10_000)]
    assert take("table.csv", table(rows[::-1]), options=OPTIONS).ok
    assert Comment.objects.order_by("-depth")[0].depth == 9_999
    assert counts(take("table.csv", table(rows), options=OPTIONS)) == (0, 0, 10_000, 0)
    assert (
        counts(take("more.csv", table([["q", "t", "p9999", "Gull", "x", "", "", ""]]), options=OPTIONS))[0]
        == 1
    )
    assert Comment.objects.get(external_id="q").depth == 10_000


def test_more_levels_than_the_database_can_count_are_refused(refused):
    parents = [None, *(f"c{number}" for number in range(32_769))]
    rows = [row(number, parent, profile=None, reviews={}) for number, parent in enumerate(parents)]
    assert refused("rows.jsonl", rows, dry_run=False)[0].endswith("at most 32767 are possible")


def test_a_tree_of_ten_thousand_levels_is_refused_with_what_to_do(refused):
    content = '{"username": "A", "text": "x", "children": [' * 10_000 + "]}" * 10_000
    (told,) = refused("tree.json", content)
    assert "write deeper threads as rows" in told


def test_values_of_other_kinds_are_named(refused):
    first, second = ["p1", "t1", "", "Gull", ["a", "list"]], [True, "t1", "", "Gull", "x"]
    rows = [[*one, "", "", ""] for one in (first, second)]
    assert refused("table.jsonl", objects(rows)) == [
        'table.jsonl, line 1, Body: must be text in quotes, not ["a", "list"]',
        "table.jsonl, line 2, Post ID: must be text in quotes, not true",
    ]


def test_an_infinite_number_in_parquet_is_named(tmp_path, take):
    columns = {**{name: ["x"] for name in COLUMNS}, "Mood": [float("inf")]}
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    report = import_paths(paths=[tmp_path / "t.parquet"], corpus_name="harbour", options=OPTIONS)
    assert said(report) == ["t.parquet, line 1, Mood: is an infinite number, which cannot be stored"]


def test_whoever_stops_an_import_stops_the_reading_of_every_kind_of_table(tmp_path, write, db):
    class Stopping(Watch):
        def stage(self, name):
            self.late = name == "storing"

        def read(self, place):
            if self.late:
                raise Stopped

    parquet.write_table(arrow.Table.from_pylist(objects()), tmp_path / "t.parquet")
    for path in (tmp_path / "t.parquet", write("t.csv", table()), write("t.jsonl", objects())):
        with pytest.raises(Stopped):
            dataset.import_paths(paths=[path], corpus_name="harbour", options=OPTIONS, watch=Stopping())
        assert not Comment.objects.exists()


def test_hostile_texts_come_out_as_they_came_in(take, exported):
    texts = ['"', "\\", "a\tb", "\U0001f600", "=1+1", "x,y;z\tw", "'", "\\N", "\\.", "{}", "é\u0301"]
    rows = [[f"p{number}", "t", "", "Gull", text, "", "", ""] for number, text in enumerate(texts)]
    take("table.csv", table(rows), options=OPTIONS)
    assert [one["text"] for one in exported()] == texts
    read = csv.reader(io.StringIO(table(rows), newline=""))
    assert [one[4] for one in read][1:] == texts
    assert json.loads(lines(exported()[0]))["text"] == '"'
