"""The published data: the counts that a reader must find, and rows that come back as they were."""

import gzip
import json
from collections import Counter

import pytest

from annotation.exchange.dataset import import_paths
from annotation.models import Suggestion
from simulation.models import Comment
from tests.annotation.exchange.conftest import counts
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db, pytest.mark.published, needs_published_data]


def test_everything_is_found_and_a_second_time_changes_nothing():
    expected = json.loads((FOLDER / "expected.json").read_text())["threads"]
    report = import_paths(paths=[FOLDER], corpus_name="harbour")
    assert report.ok
    assert report.warnings == ()
    assert counts(report, "profiles") == (300, 0, 0, 0)
    assert counts(report, "threads") == (expected["threads"], 0, 0, 0) == (93, 0, 0, 0)
    assert counts(report) == (expected["nodes"], 0, 0, 0) == (7118, 0, 0, 0)
    assert counts(report, "suggestions") == (expected["tags"], 0, 0, 0) == (4228, 0, 0, 0)
    depths = Counter(str(depth) for depth in Comment.objects.values_list("depth", flat=True))
    assert depths == expected["depth_histogram"]
    assert Suggestion.objects.values("comment").distinct().count() == expected["tagged_nodes"] == 3184
    assert Counter(Suggestion.objects.values_list("attribute", flat=True)) == expected["tags_by_feature"]
    assert Counter(Suggestion.objects.values_list("hardness_word", flat=True)) == expected["tags_by_hardness"]
    assert not Comment.objects.filter(profile=None).exists()

    again = import_paths(paths=[FOLDER], corpus_name="harbour")
    assert {
        kind: (one.new, one.changed, one.invalid) for kind, one in again.tallies.items()
    } == dict.fromkeys(again.tallies, (0, 0, 0))
    assert [counts(again, kind)[2] for kind in ("profiles", "threads", "comments", "suggestions")] == [
        300,
        93,
        7118,
        4228,
    ]


def test_the_published_rows_come_back_row_by_row_and_field_by_field(exported):
    path = FOLDER / "synthpai_sample.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    report = import_paths(paths=[path], corpus_name="harbour")
    assert counts(report) == (len(rows), 0, 0, 0)
    out = exported()
    for given, written in zip(rows, out, strict=True):
        assert written == given
        assert list(written) == list(given)
    assert counts(import_paths(paths=[path], corpus_name="harbour")) == (0, 0, len(rows), 0)


def test_rows_that_name_no_thread_are_refused_line_by_line():
    path = FOLDER / "labels" / "synth_removed.jsonl.gz"
    report = import_paths(paths=[path], corpus_name="harbour")
    assert report.problem_count == 23
    assert {(one.field, one.message) for one in report.problems} == {("thread_id", "is missing")}


def test_a_file_of_another_kind_is_named_as_such():
    report = import_paths(paths=[FOLDER / "labels" / "comments_eval.jsonl.gz"], corpus_name="harbour")
    assert "what do its columns stand for? It has username, author, comments" in report.problems[0].message
