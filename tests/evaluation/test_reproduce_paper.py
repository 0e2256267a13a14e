"""The command on a tiny invented release: what it prints and writes, and its exit status."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.domain.paper.found import flatten
from evaluation.exchange.recounting import recount
from evaluation.exchange.released import find
from tests.evaluation.released_files import MODEL, predictions, release, write


def run(folder, **options):
    out = StringIO()
    call_command("reproduce_paper", str(folder), stdout=out, **options)
    return out.getvalue()


def refused(folder, **options):
    with pytest.raises(CommandError) as raised:
        run(folder, **options)
    return raised.value.returncode, str(raised.value)


@pytest.fixture
def folder(tmp_path):
    """An invented release with the numbers that it holds as the expected ones."""
    made = release(tmp_path / "data")
    write(made, "expected", recount(find(made)).found.numbers)
    return made


def test_equal_numbers_end_well(folder, tmp_path):
    target = tmp_path / "rows.json"
    printed = run(folder, json=str(target))
    report = json.loads(target.read_text())
    assert report["differing"] == []
    assert report["summary"]["equal"] == len(
        dict(flatten(json.loads((folder / "expected.json").read_text())))
    )
    assert "0 differs" not in printed
    assert "MiB of memory" in printed


def test_lines_that_cannot_be_read_are_listed(folder, tmp_path):
    target = tmp_path / "rows.json"
    said = "labels/eval_labels_against_human.jsonl, line 2: not valid JSON"
    assert f"Skipped: {said}" in run(folder, json=str(target), html=str(tmp_path / "report.html"))
    report = json.loads(target.read_text())
    assert [(one["file"], one["line"]) for one in report["skipped"]] == [(said.partition(",")[0], 2)]
    (bad,) = [one for one in report["files"] if one["skipped_lines"]]
    assert bad["skipped_lines"] == [2]
    assert said in (tmp_path / "report.html").read_text()


def test_names_of_files_and_models_are_text_in_the_html(folder, tmp_path):
    hostile = "<img src=x>"
    write(folder / "predictions" / hostile, "evaluated", predictions(scored=True))
    write(folder / "labels", "eval_labels_<b>", ["no json"])
    run(folder, html=str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert hostile not in page
    assert "<b>.jsonl" not in page
    assert "&lt;img src=x&gt;" in page


def test_one_changed_score_is_named(folder):
    rows = predictions(scored=True)
    rows[0]["evaluations"]["tiny-1"]["human_evaluated"]["sex"] = [0, 1]
    write(folder, f"predictions/{MODEL}/evaluated", rows)
    status, said = refused(folder)
    assert status == 1
    assert "models.Tiny.evaluated.top1" in said
    assert "models.Tiny.evaluated.by_attribute.sex.top1" in said
    assert "threads" not in said


def test_every_differing_number_is_in_the_json(folder, tmp_path):
    (folder / "threads" / "thread_age_1.json").unlink()
    status, said = refused(folder, json=str(tmp_path / "rows.json"))
    names = json.loads((tmp_path / "rows.json").read_text())["differing"]
    assert status == 1
    assert len(names) > 20
    assert f"{len(names)} numbers differ" in said
    assert f"and {len(names) - 20} more" in said


def test_altered_expected_numbers_are_reported_and_do_not_change_ours(folder, tmp_path):
    path = folder / "expected.json"
    expected = json.loads(path.read_text())
    expected["models"][MODEL]["evaluated"]["top3"] = 0.123
    expected["labels"]["fig6"]["age"]["2"] = 77
    path.write_text(json.dumps(expected))
    status, said = refused(folder, json=str(tmp_path / "rows.json"))
    rows = {row["name"]: row for row in json.loads((tmp_path / "rows.json").read_text())["rows"]}
    assert status == 1
    assert said.startswith("2 numbers differ")
    assert rows[f"models.{MODEL}.evaluated.top3"]["ours"] == 0.75
    assert rows["labels.fig6.age.2"]["ours"] == 1


def test_without_expected_numbers_ours_are_printed_whole(folder):
    (folder / "expected.json").unlink()
    printed = run(folder)
    assert "threads.depth_histogram.2" in printed
    assert f"models.{MODEL}.evaluated.top1_profile_macro" in printed
    assert " equal" not in printed


def test_other_files_may_be_named(folder, tmp_path):
    (folder / "expected.json").unlink()
    expected = write(tmp_path, "mine", {"profiles": {"n": 4}}, packed=True)
    paper = write(tmp_path, "printed", {"counts": {"profiles": 3}})
    status, said = refused(folder, expected=str(expected), paper=str(paper), json=str(tmp_path / "rows.json"))
    assert (status, "profiles.n" in said) == (1, True)
    rows = {row["name"]: row for row in json.loads((tmp_path / "rows.json").read_text())["rows"]}
    assert (rows["profiles.n"]["paper"], rows["profiles.n"]["ours"]) == (3, 3)


def test_json_on_the_standard_output_is_all_that_is_printed(folder):
    report = json.loads(run(folder, json="-"))
    assert {"seconds", "peak_memory_bytes", "summary", "rows", "files", "skipped"} <= set(report)
    assert report["peak_memory_bytes"] > 2**20


def test_all_prints_every_number(folder):
    assert "profiles.unique.income" not in run(folder)
    assert "profiles.unique.income" in run(folder, all=True)


def test_other_models_may_come_without_anything_else(tmp_path):
    write(tmp_path, "predictions/Mine/evaluated", predictions(scored=True))
    printed = run(tmp_path, json="-")
    rows = {row["name"]: row for row in json.loads(printed)["rows"]}
    assert rows["models.Mine.evaluated.top1"]["ours"] == 0.5
    assert rows["models.Mine.evaluated.top1"]["status"] == "ours only"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no such folder"),
        ({"notes": {}}, "holds none of the released files"),
        ({"labels/comments_eval_revised": ["x"]}, "line 1"),
        ({"predictions/M/other": ["{"]}, "can be read"),
        ({"profiles": {}, "expected": ["no object"]}, "expected"),
    ],
)
def test_what_cannot_be_used_is_wrong_usage(tmp_path, files, said):
    folder = tmp_path / "data"
    for name, value in files.items():
        path = write(folder, name, value)
        if name == "expected":
            path.rename(folder / "expected.json")
    status, words = refused(folder)
    assert status == 2
    assert said in words


def test_a_named_file_must_be_there(folder, tmp_path):
    status, words = refused(folder, expected=str(tmp_path / "gone.json"))
    assert (status, "gone.json" in words) == (2, True)


def test_a_report_that_cannot_be_written_is_wrong_usage(folder, tmp_path):
    status, words = refused(folder, html=str(tmp_path / "no" / "folder.html"))
    assert (status, "cannot be written" in words) == (2, True)


def test_a_tolerance_that_is_none_is_wrong_usage(folder):
    (folder / "expected.json").write_text('{"tolerance": {"counts": "none"}}')
    assert refused(folder)[0] == 2
