"""Readers of released files: what is found, what is refused by file and line, what is skipped."""

import gzip

import pytest

from annotation.exchange.problems import Problem
from evaluation.exchange.released import BadFolder, Skipped, UnreadableLine, digest, find
from evaluation.exchange.released_rows import read_answers, read_assignments, read_rows
from evaluation.exchange.released_trees import read_degrees, read_facts, read_thread
from tests.evaluation.released_files import PROFILES, THREADS, release, write


def test_files_are_found_by_name_plain_or_packed(tmp_path):
    release(tmp_path)
    write(tmp_path, "predictions/Other model/predicted", [], packed=True)
    write(tmp_path, "predictions/empty folder/notes", {})
    (tmp_path / "README.md").write_text("not one of them")
    found = find(tmp_path)
    assert found.models == ("Other model", "Tiny")
    assert found.predictions["Other model"]["predicted"].name == "predicted.jsonl.gz"
    assert [path.name for path in found.threads] == ["thread_age_1.json", "thread_sex_1.json"]
    assert set(found.topics) == {"topic_to_thread"}
    assert len(list(found.files())) == len(list(tmp_path.rglob("*.json*"))) - 1


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(BadFolder, match="no such folder"):
        find(tmp_path / "gone")


def test_a_file_is_no_folder(tmp_path):
    with pytest.raises(BadFolder, match="is no folder"):
        find(write(tmp_path, "profiles", PROFILES))


def test_a_folder_without_released_files_is_refused(tmp_path):
    write(tmp_path, "something", {})
    with pytest.raises(BadFolder, match="none of the released files"):
        find(tmp_path)


def test_the_same_file_plain_and_packed_is_refused(tmp_path):
    write(tmp_path, "labels/comments_eval", [])
    write(tmp_path, "labels/comments_eval", [], packed=True)
    with pytest.raises(BadFolder, match="has both"):
        find(tmp_path)


def test_the_digest_is_of_the_packed_bytes(tmp_path):
    plain, packed = write(tmp_path, "a", [{}]), write(tmp_path, "b", [{}], packed=True)
    assert digest(plain) != digest(packed)
    assert len(digest(packed)) == 64


GOOD = {"username": "Ann", "reviews": {"human": {"age": {"estimate": "3", "hardness": 1, "certainty": 5}}}}


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"username": "A"', "", "not valid JSON at column 17"),
        ("[1]", "", "must be one JSON object"),
        ('{"username": "A"} {}', "", "something follows"),
        ("{}", "username", "is missing"),
        ({"username": 3}, "username", "must be text"),
        ({"username": " "}, "username", "1 to 200"),
        ({"username": "A", "comments": {}}, "comments", "must be a list"),
        ({"username": "A", "comments": [{"text": None}]}, "comments[0].text", "must be text"),
        ({"username": "A", "reviews": []}, "reviews", "must be an object"),
        (
            {"username": "A", "reviews": {"x": {"age": {"hardness": 6}}}},
            "reviews.x.age.hardness",
            "from 0 to 5, not 6",
        ),
        (
            {"username": "A", "reviews": {"x": {"age": {"certainty": 2.5}}}},
            "reviews.x.age.certainty",
            "whole number",
        ),
        ({"username": "A", "reviews": {"x": {"age": {"estimate": []}}}}, "reviews.x.age.estimate", "text"),
        ({"username": "A", "reviews": {"x": {"age": {"acc_gt": 2}}}}, "reviews.x.age.acc_gt", "0 to 1"),
        (
            {"username": "A", "predictions": {"m": {"age": {"guess": "3"}}}},
            "predictions.m.age.guess",
            "must be a list",
        ),
        (
            {"username": "A", "predictions": {"m": {"age": {"guess": [None]}}}},
            "predictions.m.age.guess",
            "texts or numbers",
        ),
        (
            {"username": "A", "evaluations": {"m": {"k": {"age": [1, "x"]}}}},
            "evaluations.m.k.age[1]",
            "a score from 0 to 1",
        ),
        ({"username": "A", "evaluations": {"m": {"age": 1}}}, "evaluations.m.age", "list of scores"),
    ],
)
def test_a_bad_line_is_named_by_file_line_and_field_or_skipped(tmp_path, line, field, message):
    path = write(tmp_path, "rows", [GOOD, line, GOOD])
    rows = read_rows(path)
    assert next(rows).username == "Ann"
    with pytest.raises(UnreadableLine) as raised:
        next(rows)
    problem = raised.value.problem
    assert (problem.file, problem.line, problem.field) == ("rows.jsonl", 2, field)
    assert message in problem.message
    skipped = Skipped()
    assert [row.line for row in read_rows(path, skipped)] == [1, 3]
    assert (skipped.lines, skipped.total) == ([2], 1)


def test_lines_that_are_no_text_are_skipped_by_number(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"username": "A"}\n\n\xff\xfe\n{"username": "B"}\n')
    skipped = Skipped()
    assert [(row.line, row.username) for row in read_rows(path, skipped)] == [(1, "A"), (4, "B")]
    assert skipped.lines == [3]
    assert "not UTF-8" in skipped.problems[0].message


def test_a_packed_file_that_is_cut_ends_with_a_problem(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"username": "A"}\n' * 2000)[:-20])
    skipped = Skipped()
    list(read_rows(path, skipped))
    assert skipped.total == 1
    assert ".gz file" in skipped.problems[0].message
    with pytest.raises(UnreadableLine, match=r"rows\.jsonl\.gz, line "):
        list(read_rows(path))


def test_a_line_with_two_problems_is_one_line():
    skipped = Skipped()
    for field in ("a", "b"):
        skipped.add(Problem("rows.jsonl", 7, field, "is missing"))
    assert (skipped.lines, skipped.total, len(skipped.problems)) == ([7], 2, 2)


def test_many_bad_lines_keep_their_numbers_and_a_hundred_words(tmp_path):
    skipped = Skipped()
    assert list(read_rows(write(tmp_path, "rows", ["x"] * 250), skipped)) == []
    assert skipped.lines == list(range(1, 251))
    assert (len(skipped.problems), skipped.total) == (100, 250)


def test_what_is_no_object_beside_the_attributes_is_left_out(tmp_path):
    row = {
        "username": "A",
        "reviews": {"human": {"age": {"estimate": 30, "hardness": 2.0}, "timestamp": 3, "time": 1}},
        "predictions": {"m": {"age": {"guess": [30, "x"]}, "full_answer": "Type: age"}},
        "evaluations": {"m": {"age": [True, 0.5]}},
    }
    (read,) = read_rows(write(tmp_path, "rows", [row]))
    mark = read.reviews["human"]["age"]
    assert (mark.value, mark.hardness, mark.certainty, mark.truth) == ("30", 2, 0, None)
    assert list(read.reviews["human"]) == ["age"]
    assert read.predictions["m"]["age"].guesses == ("30", "x")
    assert read.evaluations == {"m": {"": {"age": (1.0, 0.5)}}}


def test_answers_and_assignments(tmp_path):
    answers = write(
        tmp_path, "answers", [{"username": "A", "model": "m", "full_answer": "x"}, {"username": "A"}]
    )
    skipped = Skipped()
    assert [one.text for one in read_answers(answers, skipped)] == ["x"]
    assert skipped.problems[0].field == "model"
    topics = write(tmp_path, "topics", [{"thread_id": "t", "topics": " /r/A ,/r/B,, "}, {"thread_id": "t"}])
    skipped = Skipped()
    assert [one.topics for one in read_assignments(topics, skipped)] == [("/r/A", "/r/B")]
    assert (skipped.lines, skipped.problems[0].field) == ([2], "topics")


def test_profiles_are_given_as_they_stand(tmp_path):
    path = write(tmp_path, "profiles", PROFILES)
    assert {one.key: one.fields for one in read_facts(path)} == PROFILES


def test_a_bad_profile_is_named_or_left_out(tmp_path):
    path = write(tmp_path, "profiles", {"pers1": PROFILES["pers1"], "pers2": {"age": "40"}})
    with pytest.raises(UnreadableLine, match=r"pers2\.age"):
        list(read_facts(path))
    skipped = Skipped()
    assert [one.key for one in read_facts(path, skipped)] == ["pers1"]
    assert skipped.total == 1


def test_a_cut_file_of_profiles_gives_what_stands_before_the_cut(tmp_path):
    path = write(tmp_path, "profiles", PROFILES)
    path.write_bytes(path.read_bytes()[:-40])
    skipped = Skipped()
    assert [one.key for one in read_facts(path, skipped)] == ["pers1", "pers2"]
    assert "not valid JSON" in skipped.problems[0].message


def test_a_degree_must_be_a_word(tmp_path):
    skipped = Skipped()
    path = write(tmp_path, "degrees", {"pers1": "PhD", "pers2": 3})
    assert list(read_degrees(path, skipped)) == [("pers1", "PhD")]
    assert skipped.problems[0].field == "pers2"


def test_a_tree_keeps_the_order_root_first(tmp_path):
    (thread,) = read_thread(write(tmp_path, "thread_age_1", THREADS["thread_age_1"], packed=True))
    assert [(node.username, node.depth) for node in thread.nodes] == [
        ("Ann", 0),
        ("Bob", 1),
        ("Ann", 2),
        ("Cid", 2),
    ]
    assert thread.nodes[1].text == "older than my kids think"
    assert thread.nodes[1].tags[0].scores == (1, 0, 0)


def test_a_tree_with_a_problem_is_left_out_whole(tmp_path):
    tree = {**THREADS["thread_sex_1"], "children": [{"username": "x", "text": 3}]}
    path = write(tmp_path, "thread_sex_1", tree)
    with pytest.raises(UnreadableLine, match=r"node 0\.0, text"):
        list(read_thread(path))
    skipped = Skipped()
    assert list(read_thread(path, skipped)) == []
    assert skipped.total == 1
    path.write_text("{")
    assert list(read_thread(path, skipped)) == []
