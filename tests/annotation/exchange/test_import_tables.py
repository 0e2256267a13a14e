"""Foreign tables become comments by a mapping of their columns."""

import datetime
import decimal

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from annotation.exchange import parquet_probe
from annotation.exchange.dataset import import_paths
from annotation.exchange.describing import describe
from annotation.exchange.layouts import Layout, layout_of
from annotation.exchange.reading import Unreadable
from annotation.models import Suggestion
from simulation.models import Comment, Profile, Thread
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import lines, row
from tests.annotation.exchange.tables import COLUMNS, MAPPING, ROWS, objects, table

pytestmark = pytest.mark.django_db
OPTIONS = {"mapping": MAPPING}


@pytest.fixture
def take_parquet(tmp_path):
    def taken(rows, mapping=MAPPING, name="table.parquet", **kinds):
        parquet.write_table(arrow.Table.from_pylist(rows, **kinds), tmp_path / name)
        return import_paths(
            paths=[tmp_path / name], corpus_name="harbour", options={"mapping": mapping} if mapping else None
        )

    return taken


def stored():
    names = ("external_id", "thread__external_id", "parent__external_id", "username", "text", "depth")
    return list(Comment.objects.order_by("sequence").values_list(*names))


THREE = [
    ("p1", "t1", None, "Gull", "The harbour is wet again.", 0),
    ("p2", "t1", "p1", "Tern", "It is, and\nhas been.", 1),
    ("p3", "t2", None, "Auk", 'He said "no", twice.', 0),
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_is_read_whatever_parts_its_cells(take, delimiter, mark, name):
    report = take(name, mark + table(delimiter=delimiter), options=OPTIONS)
    assert report.ok
    assert stored() == THREE
    assert counts(take(name, table(delimiter=delimiter), options=OPTIONS)) == (0, 0, 3, 0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_any_system_ends_them(take, end):
    content = end.join(["Body,User,Conversation", "one,Gull,t", "two,Tern,t", ""])
    mapping = {"text": "Body", "username": "User", "thread_id": "Conversation"}
    assert take("table.csv", content.encode(), options={"mapping": mapping}).ok
    assert [one[4] for one in stored()] == ["one", "two"]


def test_parquet_and_json_are_read_by_the_same_mapping(take, take_parquet):
    assert take_parquet(objects()).ok
    assert stored() == THREE
    assert counts(take("table.jsonl", objects(), options=OPTIONS)) == (0, 0, 3, 0)
    assert counts(take("table.csv", table(), options=OPTIONS)) == (0, 0, 3, 0)


def test_columns_of_profiles_make_the_authors_profile(take):
    take("table.csv", table(), options=OPTIONS)
    facts = dict(Profile.objects.values_list("username", "facts"))
    assert facts == {"Gull": {"sex": "female", "age": 41}, "Auk": {"sex": "male", "age": 30}}
    assert Comment.objects.get(external_id="p2").profile is None


def test_other_columns_are_kept_and_come_back_out(take, exported):
    take("table.csv", table(), options=OPTIONS)
    assert Comment.objects.get(external_id="p1").extra["fields"] == {"Mood": "grey"}
    assert exported()[0]["Mood"] == "grey"
    assert "Mood" not in exported()[1]


def test_a_column_that_stands_for_nothing_may_have_a_name_of_ours(take):
    mapping = {"text": "Body", "username": "author", "thread_id": {"constant": "t"}}
    take("table.csv", table([["x", "Gull", "7"]], ["Body", "author", "id"]), options={"mapping": mapping})
    assert Comment.objects.get().extra["fields"] == {"id (column)": "7"}


def test_ids_are_made_of_the_files_digest_and_the_row(take):
    mapping = {"text": "Body", "username": "User", "thread_id": {"constant": "all"}}
    take("table.csv", table(), options={"mapping": mapping})
    ids = [one[0] for one in stored()]
    digest = ids[0].partition(":")[0]
    assert len(digest) == 12
    assert ids == [f"{digest}:{number}" for number in (1, 2, 3)]
    assert Thread.objects.get().external_id == "all"
    assert counts(take("again.csv.gz", table(), options={"mapping": mapping})) == (0, 0, 3, 0)


def test_the_author_stands_for_a_user_name_that_is_not_there(take):
    mapping = {"text": "Body", "author": "User", "thread_id": "Conversation", "external_id": "Post ID"}
    take("table.csv", table(), options={"mapping": mapping})
    assert set(Comment.objects.values_list("author", "username")) == {
        (one, one) for one in ("Gull", "Tern", "Auk")
    }


def test_guesses_of_columns_become_suggestions(take):
    columns = [*COLUMNS, "job1", "job2", "job hard", "job sure"]
    rows = [
        [*ROWS[0], "sailor", "angler", "indirect", "4"],
        [*ROWS[1], "", "", "", ""],
        [*ROWS[2], "cook", "", "", ""],
    ]
    mapping = MAPPING | {
        "guess.occupation.1": "job1",
        "guess.occupation.2": "job2",
        "guess.occupation.hardness": "job hard",
        "guess.occupation.certainty": "job sure",
    }
    take("table.csv", table(rows, columns), options={"mapping": mapping})
    names = ("comment__external_id", "attribute", "guesses", "hardness", "certainty")
    assert list(Suggestion.objects.order_by("pk").values_list(*names)) == [
        ("p1", "occupation", ["sailor", "angler"], 2, 4),
        ("p3", "occupation", ["cook"], None, None),
    ]


def test_time_and_source_are_kept_beside_the_comment_and_checked(take, exported):
    columns = [*COLUMNS, "when", "kind"]
    mapping = MAPPING | {"created_at": "when", "source": "kind"}
    rows = [[*ROWS[0], "2026-05-31T12:00:00Z", "Real"], [*ROWS[1], "", ""]]
    assert take("table.csv", table(rows, columns), options={"mapping": mapping}).ok
    extra = Comment.objects.get(external_id="p1").extra
    assert (extra["created_at"], extra["source"]) == ("2026-05-31T12:00:00Z", "real")
    assert (exported()[0]["source"], "source" in exported()[1]) == ("real", False)
    bad = take("table.csv", table([[*ROWS[0], "yesterday", "true"]], columns), options={"mapping": mapping})
    assert said(bad) == [
        'table.csv, line 2, when: must be a time as 2026-05-31T12:00:00Z, not "yesterday"',
        'table.csv, line 2, kind: must be “real” or “synthetic”, not "true"',
    ]


def test_problems_name_line_and_column_of_the_file(take):
    columns = [*COLUMNS, "first", "sure"]
    mapping = MAPPING | {"guess.sex.1": "first", "guess.sex.certainty": "sure"}
    rows = [
        ["p1", "t1", "", "Gull", "one\ntwo\nthree", "", "old", "", "", ""],
        ["p1", "t1", "", "", "x", "", "", "", "male", "9"],
        ["", "t1", "", "Tern", "x", "", "", "", "", ""],
    ]
    assert said(take("table.csv", table(rows, columns), options={"mapping": mapping})) == [
        'table.csv, line 2, Age: must be a number without quotes, not "old"',
        "table.csv, line 5, User: is missing",
        "table.csv, line 5, sure: must be a whole number from 0 to 5, not 9",
        "table.csv, line 5, Post ID: “p1” stands in line 2 already; every comment has its own",
        "table.csv, line 6, Post ID: is missing",
    ]
    assert not Comment.objects.exists()


def test_whole_numbers_as_ids_of_parquet_are_read_as_text(take_parquet):
    rows = [
        {"id": 17, "thread_id": 4, "parent_id": None, "username": "Gull", "text": "one", "sent": now()},
        {"id": 18, "thread_id": 4, "parent_id": 17, "username": "Tern", "text": "two", "sent": now()},
    ]
    assert take_parquet(rows, mapping=None).ok
    assert [one[:3] for one in stored()] == [("17", "4", None), ("18", "4", "17")]


def now():
    return datetime.datetime(2026, 5, 31, 12, tzinfo=datetime.UTC)


def test_nested_columns_and_other_kinds_of_parquet_are_read(take_parquet, exported):
    rows = [
        {
            "id": "c1",
            "user": {"name": "Gull", "age": 41.0},
            "said": "wet",
            "sent": now(),
            "score": decimal.Decimal("2.50"),
            "share": float("nan"),
            "raw": b"\x00\xff",
            "guesses": [{"feature": "age", "guesses": ["41"], "hardness": "direct", "certainty": 5}],
        }
    ]
    mapping = {
        "external_id": "id",
        "username": "user.name",
        "profile.age": "user.age",
        "text": "said",
        "thread_id": {"constant": "t"},
        "created_at": "sent",
        "guesses": "guesses",
    }
    report = take_parquet(rows, mapping)
    assert report.ok, said(report)
    assert Profile.objects.get().facts == {"age": 41}
    assert Suggestion.objects.get().guesses == ["41"]
    fields = Comment.objects.get().extra["fields"]
    assert (fields["score"], fields["raw"], "share" in fields) == (2.5, "AP8=", False)
    assert exported()[0]["created_at"] == "2026-05-31T12:00:00+00:00"


def test_a_nul_in_parquet_is_named_with_row_and_column(take_parquet):
    rows = objects()
    rows[1]["Mood"] = "a\0b"
    assert said(take_parquet(rows)) == [
        "table.parquet, line 2, Mood: holds a NUL character, which cannot be stored; remove it"
    ]


@pytest.mark.parametrize("cut", [3, 20, 200])
def test_a_damaged_parquet_file_is_said_to_be_one(take, take_parquet, tmp_path, cut):
    take_parquet(objects())
    data = (tmp_path / "table.parquet").read_bytes()
    (problem,) = take("bad.parquet", data[:-cut], options=OPTIONS).problems
    assert "Parquet file is damaged" in problem.message
    scrambled = data[:40] + bytes(60) + data[100:]
    assert "Parquet" in take("worse.parquet", scrambled, options=OPTIONS).problems[0].message


def test_parquet_in_gzip_and_what_is_no_parquet_are_refused(take, take_parquet, tmp_path):
    take_parquet(objects())
    (problem,) = take("table.parquet.gz", (tmp_path / "table.parquet").read_bytes()).problems
    assert "unpack it" in problem.message
    (problem,) = take("table.parquet", b"PK not parquet").problems
    assert "no Parquet file" in problem.message


def test_columns_that_are_named_as_ours_need_no_mapping(take):
    columns = ["id", "thread_id", "parent_id", "username", "text"]
    assert take("table.csv", table([["c1", "t1", "", "Gull", "wet"]], columns)).ok
    assert stored() == [("c1", "t1", None, "Gull", "wet", 0)]


def test_columns_that_nobody_has_explained_are_asked_for(take):
    (problem,) = take("table.csv", table()).problems
    assert "what do its columns stand for? It has Post ID, Conversation, In reply to" in problem.message


def test_a_mapping_that_does_not_fit_is_refused(take):
    mapping = {"text": "Bodi", "mood": "Mood", "parent_id": {"constant": "x"}}
    (problem,) = take("table.csv", table(), options={"mapping": mapping}).problems
    assert "text: the file has no column “Bodi”" in problem.message
    assert "mood: is no field of ours" in problem.message
    assert "parent_id: is another one in every row" in problem.message
    assert "username: say which column" in problem.message


def test_a_table_of_our_own_loses_the_guard_against_formulas_and_others_keep_it(take):
    ours = ["id", "thread_id", "parent_id", "author", "username", "text", "depth", "position", "state"]
    rows = [
        ["c1", "t1", "", "", "Gull", "'=1+1", "0", "0", "active"],
        ["c2", "t1", "c1", "", "Tern", "'tis", "1", "0", "active"],
    ]
    take("comments.csv", table(rows, ours))
    assert [one[4] for one in stored()] == ["=1+1", "'tis"]
    assert "fields" not in Comment.objects.get(external_id="c1").extra
    take("other.csv", table([["p9", "t9", "", "Gull", "'=1+1", "", "", ""]]), options=OPTIONS)
    assert Comment.objects.get(external_id="p9").text == "'=1+1"


def test_a_mapping_may_be_used_for_rows_of_a_known_layout_too(take, write):
    path = write("rows.jsonl", [row()])
    assert layout_of(path) is Layout.LINES
    mapping = {"text": "text", "username": "author", "thread_id": {"constant": "other"}, "external_id": "id"}
    take("rows.jsonl", [row()], options={"mapping": mapping})
    assert stored()[0][:4] == ("c0", "other", None, "pers0")


def test_an_object_that_is_none_is_named(take):
    report = take("table.jsonl", lines(objects()[0], 5, objects()[1]), options=OPTIONS)
    assert said(report) == ["table.jsonl, line 2: must be an object with named fields, not 5"]


def test_a_head_that_lies_ends_no_process_of_ours(tmp_path):
    """Each byte of the head of a small file is changed in turn; some of these end the compiled reader."""
    whole = tmp_path / "whole.parquet"
    parquet.write_table(arrow.table({"id": ["a", "b"], "x": [[1, 2], None]}), whole)
    data = whole.read_bytes()
    head = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    ended = 0
    for at in range(head, head + 64, 3):
        broken = tmp_path / "broken.parquet"
        broken.write_bytes(data[:at] + b"\x00" + data[at + 1 :])
        if not parquet_probe.survives(broken):
            ended += 1
            with pytest.raises(Unreadable, match="damaged"):
                describe(broken)
    assert ended, "none of them was one that matters"
    assert parquet_probe.survives(whole)
