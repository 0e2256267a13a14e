"""Paper, expected and ours side by side: statuses, tolerances, reasons; and the report made of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.paper.comparing import (
    BadTolerance,
    Status,
    Tolerances,
    compare,
    rounds_to,
    tally,
)
from evaluation.domain.paper.found import Found
from evaluation.domain.paper.summaries import Counts, population_std, summary, tallied
from evaluation.domain.paper.tables import in_order, table_of
from evaluation.exchange.paper_html import pieces
from evaluation.exchange.paper_report import Report, as_json, lines


def one(rows, name):
    (row,) = [row for row in rows if row.name == name]
    return row


def counted(**numbers):
    return Found(numbers)


def test_a_count_must_be_the_same_and_a_mean_nearly():
    found = counted(comments={"n_comments_eval": 10, "length_chars": {"mean": 2.0000005}})
    rows = compare(found, {"comments": {"n_comments_eval": 11, "length_chars": {"mean": 2}}})
    count, mean = one(rows, "comments.n_comments_eval"), one(rows, "comments.length_chars.mean")
    assert (count.status, count.tolerance, count.expected, count.ours) == (Status.DIFFERS, 0, 11, 10)
    assert count.reason == "-1"
    assert (mean.status, mean.tolerance, mean.table) == (Status.EQUAL, 1e-6, "Table 1")


@pytest.mark.parametrize(("ours", "status"), [(0.506, "equal"), (0.494, "equal"), (0.5061, "differs")])
def test_the_rules_alone_have_a_tolerance_of_their_own(ours, status):
    found = counted(models={"M": {"evaluated": {"det_top1_jw_classic": ours, "top1": ours}}})
    rows = compare(found, {"models": {"M": {"evaluated": {"det_top1_jw_classic": 0.5, "top1": 0.5}}}})
    assert one(rows, "models.M.evaluated.det_top1_jw_classic").status == status
    assert one(rows, "models.M.evaluated.top1").status == Status.DIFFERS


def test_the_expected_numbers_may_bring_their_tolerances():
    expected = {"anonymised": {"comments": 12}, "tolerance": {"counts": 2}}
    assert compare(counted(anonymised={"comments": 10}), expected)[0].status == Status.EQUAL
    assert compare(counted(anonymised={"comments": 9}), expected)[0].status == Status.DIFFERS
    assert Tolerances.of(expected) == Tolerances(2, 1e-6, 0.006)


@pytest.mark.parametrize("wrong", [-1, "0", True, None])
def test_a_tolerance_that_is_no_number_is_refused(wrong):
    with pytest.raises(BadTolerance, match="tolerance"):
        compare(counted(), {"tolerance": {"counts": wrong}})


def test_without_an_expected_number_there_is_ours_only():
    (row,) = compare(counted(anonymised={"comments": 10}))[:1]
    assert (row.status, row.expected, row.ours, row.tolerance) == (Status.OURS_ONLY, None, 10, None)


def test_what_was_not_met_is_zero_among_counts_and_a_difference():
    found = counted(threads={"depth_histogram": Counts({"0": 1}), "nodes_per_thread": {"n": 1}})
    expected = {"threads": {"depth_histogram": {"0": 1, "9": 4}, "nodes_per_thread": {"max": 3}}}
    rows = compare(found, expected)
    bin9, most = one(rows, "threads.depth_histogram.9"), one(rows, "threads.nodes_per_thread.max")
    assert (bin9.status, bin9.ours) == (Status.DIFFERS, 0)
    assert (most.status, most.ours) == (Status.DIFFERS, None)
    assert "nothing of this name" in most.reason


def test_a_part_without_its_files_is_not_in_files_and_has_no_number():
    found = counted(models={"M": {}})
    found.missing["comments",] = "there is no file x"
    expected = {"comments": {"n": 1}, "models": {"Gone": {"evaluated": {"top1": 1}}}, "tea": {"cups": 2}}
    rows = compare(found, expected)
    for name in ("comments.n", "models.Gone.evaluated.top1", "tea.cups"):
        row = one(rows, name)
        assert (row.status, row.ours, row.tolerance) == (Status.NOT_IN_FILES, None, None)
        assert row.reason
    assert one(rows, "comments.n").reason == "there is no file x"


def test_numbers_of_the_parser_may_be_passed_but_not_missed():
    expected = {"models": {"M": {"answers": {"equal": 5, "baseline_three": 5, "asked": 5}}}}
    more = counted(models={"M": {"answers": {"equal": 6, "baseline_three": 5, "asked": 6}}})
    assert [row.status for row in compare(more, expected)[:3]] == ["equal", "equal", "differs"]
    less = counted(models={"M": {"answers": {"equal": 4, "baseline_three": 4, "asked": 5}}})
    assert [row.status for row in compare(less, expected)[:3]] == ["differs", "differs", "equal"]


def test_lists_and_words_are_compared_whole_but_labels_cell_by_cell():
    found = counted(
        topics={"top": [["/r/a", 2]]}, labels={"fig6": {"age": {"1": 0, "2": 7}}}, flags={"yes": True}
    )
    expected = {
        "topics": {"top": [["/r/a", 3]]},
        "labels": {"fig6": {"age": [0, 8]}},
        "flags": {"yes": 1},
    }
    rows = compare(found, expected)
    assert one(rows, "topics.top").status == Status.DIFFERS
    assert one(rows, "labels.fig6.age.1").status == Status.EQUAL
    assert one(rows, "labels.fig6.age.2").status == Status.DIFFERS
    assert one(rows, "flags.yes").status == Status.DIFFERS


def test_definitions_and_vectors_are_no_numbers():
    assert compare(counted(), {"source": "x", "definitions": {"a": "b"}, "vectors": {"age": [1]}}) == compare(
        counted()
    )


def test_the_printed_number_never_changes_the_status():
    found = counted(labels={"fig6": {"age": {"1": 3}}})
    paper = {"figure6_profile_level_hardness_1_to_5": {"age": [4]}}
    row = one(compare(found, {"labels": {"fig6": {"age": [3]}}}, paper), "labels.fig6.age.1")
    assert (row.status, row.paper, row.reason, row.table) == (Status.EQUAL, 4, "not as printed", "Fig. 6")
    paper["figure6_profile_level_hardness_1_to_5"]["age"] = [3]
    assert one(compare(found, None, paper), "labels.fig6.age.1").reason == "as printed"


def test_a_share_is_compared_with_a_printed_percentage():
    found = counted(models={"gpt-4": {"evaluated": {"by_attribute": {"age": {"n": 36, "top1": 25 / 36}}}}})
    paper = {"table4_gpt4": {"age": {"accuracy": 69.4, "delta": -8.9}}}
    rows = compare(found, None, paper)
    row = one(rows, "models.gpt-4.evaluated.by_attribute.age.top1")
    assert (row.table, row.paper, row.percent, row.reason) == ("Table 4", 69.4, True, "as printed")
    delta = one(rows, "paper.table4_gpt4.age.delta")
    assert (delta.status, delta.ours, delta.paper) == (Status.NOT_IN_FILES, None, -8.9)


def test_what_no_file_allows_is_said_without_a_number():
    rows = compare(counted(threads={"threads": 93}))
    absent = {row.table: row for row in rows if row.status is Status.NOT_IN_FILES}
    assert {"Table 1", "Table 2", "Table 3", "Table 4", "Fig. 4", "Fig. 5", "Fig. 7", "A.2"} <= set(absent)
    assert all(row.ours is None and row.reason for row in absent.values())
    assert one(rows, "paper.table1.profiles_per_thread.mean").reason == (
        "printed from 103 trees; 93 are among these files"
    )
    assert sum(row.table == "Fig. 7" for row in rows) == 40


def test_with_all_trees_the_rows_over_trees_are_ours():
    found = counted(threads={"threads": 103, "profiles_per_thread": {"mean": 34.469}})
    rows = compare(found, None, {"table1": {"profiles_per_thread": {"mean": 34.47}}})
    row = one(rows, "threads.profiles_per_thread.mean")
    assert (row.table, row.reason) == ("Table 1", "as printed")
    assert not [row for row in rows if row.name == "paper.table1.profiles_per_thread.mean"]


def test_models_of_the_paper_without_files_are_named():
    found = counted(models={"a": {}})
    found.model_ids["a"] = {"gpt-4"}
    rows = compare(found, None, {"models": {"GPT-4": "gpt-4-0613", "Other": "other-1"}})
    assert [row.name for row in rows if row.name.startswith("paper.models")] == ["paper.models.Other"]


@pytest.mark.parametrize(
    ("number", "text", "same"),
    [
        (26.0733, "26.07", True),
        (26.075, "26.07", False),
        (26.075, "26.08", True),
        (106.4377, "106.43", False),
        (75.6866, "76", True),
        (74.5, "74", True),
        (74.5, "75", True),
        (32.7004, "32.7", True),
        (32.76, "32.7", False),
    ],
)
def test_printed_precision(number, text, same):
    assert rounds_to(number, text) is same


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=60))
def test_a_summary_of_a_tally_is_that_of_the_numbers(numbers):
    found = summary(tallied(numbers))
    assert found["n"] == len(numbers)
    assert found["mean"] == pytest.approx(np.mean(numbers))
    assert found["median"] == np.median(numbers)
    assert (found["min"], found["max"]) == (min(numbers), max(numbers))
    assert population_std(tallied(numbers)) == pytest.approx(np.std(numbers))
    if len(numbers) > 1:
        assert found["std"] == pytest.approx(np.std(numbers, ddof=1))


def test_a_summary_of_nothing_is_empty():
    assert summary(tallied([])) == {}
    assert population_std(tallied([])) is None


def test_tables_come_in_the_order_of_the_paper():
    assert in_order(["M: x", "Thread trees", "Table 4", "Fig. 3", "Table 4"]) == [
        "Table 4",
        "Fig. 3",
        "Thread trees",
        "M: x",
    ]
    assert table_of(("models", "M", "answers", "asked")) == "M: answers read anew"
    assert table_of(("models", "M", "evaluated", "top1")) == "Fig. 4"


def reported(found, expected):
    return Report(Path("data"), compare(found, expected), [], [], 1.5, 2**20)


def test_long_tables_are_summed_up_but_what_differs_is_shown():
    numbers = {f"x{place}": 1 for place in range(30)}
    report = reported(counted(profiles=numbers), {"profiles": {**numbers, "x7": 2}})
    short = "\n".join(lines(report))
    assert "A.3: 36 numbers: 29 equal, 1 differs, 6 not in files" in short
    assert "profiles.x7" in short
    assert "profiles.x8" not in short
    assert "profiles.x8" in "\n".join(lines(report, everything=True))
    assert as_json(report)["differing"] == ["profiles.x7"]
    assert tally(report.rows)[Status.DIFFERS] == 1


def test_the_html_stands_alone_and_escapes_what_it_shows():
    evil = "<script>alert(1)</script>"
    report = reported(
        counted(models={evil: {"answers": {"asked": 1}}}), {"models": {evil: {"answers": {"asked": 2}}}}
    )
    page = "".join(pieces(report))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "prefers-color-scheme: dark" in page
    assert "http" not in page
    assert "These differ beyond the tolerance" in page
