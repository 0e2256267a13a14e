"""The command on the published data, and on copies in which one thing was changed."""

import gzip
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.domain.paper.comparing import NOT_NUMBERS
from evaluation.domain.paper.found import flatten
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.published, needs_published_data]
MODEL = "gpt-4"


def run(folder, **options):
    out = StringIO()
    try:
        call_command("reproduce_paper", str(folder), stdout=out, json="-", **options)
    except CommandError as error:
        return error.returncode, str(error), json.loads(out.getvalue())
    return 0, "", json.loads(out.getvalue())


def numbers(report):
    return {row["name"]: row for row in report["rows"]}


@pytest.fixture(scope="module")
def whole():
    return run(FOLDER)


@pytest.fixture
def copy(tmp_path):
    """Links to all of the data but the raw answers and all models but one, which take longest."""
    for path in FOLDER.rglob("*"):
        name = path.relative_to(FOLDER)
        if (
            path.is_file()
            and name.parts[0] != "answers"
            and (name.parts[0] != "predictions" or MODEL in name.parts)
        ):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).symlink_to(path)
    return tmp_path


def lines(path):
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def replace(path, rows):
    """Puts a file in place of the link, packed as it was."""
    path.unlink()
    path.write_bytes(gzip.compress("\n".join(rows).encode()))


def test_every_expected_number_is_counted_and_equal(whole):
    status, said, report = whole
    expected = json.loads((FOLDER / "expected.json").read_text())
    wanted = {
        ".".join(path) for path, _ in flatten({k: v for k, v in expected.items() if k not in NOT_NUMBERS})
    }
    rows = numbers(report)
    assert (status, said, report["differing"]) == (0, "", [])
    assert len(wanted) > 1000
    assert {name for name in wanted if rows[name]["status"] != "equal"} == set()


def test_what_the_files_do_not_allow_has_no_number(whole):
    rows = [row for row in whole[2]["rows"] if row["status"] == "not in files"]
    tables = {row["table"] for row in rows}
    assert {"Table 1", "Table 2", "Table 3", "Fig. 5", "Fig. 7", "A.2", "Fig. 4"} <= tables
    assert all(row["ours"] is None and row["expected"] is None and row["reason"] for row in rows)
    assert sum(row["name"].startswith("paper.models.") for row in rows) == 6
    assert sum(row["table"] == "Fig. 7" for row in rows) == 40


def test_the_unreadable_lines_are_listed(whole):
    found = {(one["file"].split("/")[-1].split(".")[0], one["line"]) for one in whole[2]["skipped"]}
    assert found == {
        ("eval_labels_against_gt", 40),
        ("eval_labels_against_model", 40),
        ("eval_labels_against_human", 40),
        ("eval_labels_against_human", 122),
        ("eval_labels_against_human", 125),
    }


def test_models_keep_the_items_that_they_have(whole):
    rows = numbers(whole[2])
    assert rows["models.Gemini_Pro_1.5.evaluated.n_items"]["ours"] == 679
    assert rows["models.Gemma-7B-Instruct.evaluated.n_items"]["ours"] == 699


def test_what_is_printed_comes_out_as_printed_but_for_what_has_a_reason(whole):
    compared = [row for row in whole[2]["rows"] if row["paper"] is not None and row["ours"] is not None]
    others = {row["name"]: row["reason"] for row in compared if row["reason"] != "as printed"}
    assert len(compared) > 60
    assert set(others) == {
        "comments.n_comments_eval",
        "comments.length_chars.mean",
        "comments.length_chars.std",
        "models.gpt-4.evaluated.top1",
    }
    assert all(reason.startswith("not as printed: ") for reason in others.values())


def test_parts_that_are_left_away_are_not_in_files_and_nothing_fails(copy):
    status, _, report = run(copy)
    rows = numbers(report)
    assert status == 0
    assert rows["models.gpt-4.answers.equal"]["status"] == "not in files"
    assert rows["models.Yi-34B-Chat.evaluated.top1"]["status"] == "not in files"
    assert rows["models.gpt-4.evaluated.top1"]["status"] == "equal"


def test_one_score_changed_is_found(copy):
    path = copy / "predictions" / MODEL / "evaluated.jsonl.gz"
    rows = [json.loads(line) for line in lines(path)]
    scores = next(
        block["education"]
        for row in rows
        if "education" in (block := row["evaluations"].get(MODEL, {}).get("human_evaluated", {}))
    )
    scores[0] = 1 - scores[0]
    replace(path, map(json.dumps, rows))
    status, said, report = run(copy)
    assert status == 1
    assert "models.gpt-4.evaluated.top1" in said
    assert "models.gpt-4.evaluated.by_attribute.education.top1" in report["differing"]
    assert all(name.startswith("models.gpt-4.evaluated.") for name in report["differing"])


def test_one_label_changed_is_found(copy):
    path = copy / "labels" / "comments_eval_revised.jsonl.gz"
    rows = [json.loads(line) for line in lines(path)]
    mark = next(
        row["reviews"]["human_evaluated"]["sex"]
        for row in rows
        if row["reviews"]["human_evaluated"]["sex"]["hardness"] == 1
    )
    mark["hardness"] = 3
    replace(path, map(json.dumps, rows))
    status, said, _ = run(copy)
    assert status == 1
    assert "labels.fig6.sex.1" in said
    assert "labels.fig6.sex.3" in said


def test_one_comment_taken_from_a_tree_is_found(copy):
    path = copy / "threads" / "thread_age_1.json.gz"
    root = json.loads(gzip.decompress(path.read_bytes()))
    node = root
    while node["children"][-1]["children"]:
        node = node["children"][-1]
    node["children"].pop()
    replace(path, [json.dumps(root)])
    status, said, report = run(copy)
    assert status == 1
    assert "threads.nodes" in said
    assert "threads.nodes_per_thread.mean" in report["differing"]


def test_without_expected_numbers_ours_are_the_same(copy, whole):
    (copy / "expected.json").unlink()
    status, _, report = run(copy)
    assert status == 0
    assert report["summary"]["equal"] == 0
    before = numbers(whole[2])
    ours = {name: row["ours"] for name, row in numbers(report).items() if row["ours"] is not None}
    assert len(ours) > 400
    assert ours == {name: before[name]["ours"] for name in ours}


def test_altered_expected_numbers_are_reported_and_nothing_else_changes(copy, whole, tmp_path):
    expected = json.loads((FOLDER / "expected.json").read_text())
    altered = {
        path: value + 1
        for path, value in flatten({k: v for k, v in expected.items() if k not in NOT_NUMBERS})
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    for path, value in altered.items():
        place = expected
        for name in path[:-1]:
            place = place[name]
        if isinstance(place, list):
            place[int(path[-1]) - 1] = value
        else:
            place[path[-1]] = value
    file = tmp_path / "altered.json"
    file.write_text(json.dumps(expected))
    status, _, report = run(copy, expected=str(file))
    rows, before = numbers(report), numbers(whole[2])
    counted = {name for name in map(".".join, altered) if rows[name]["ours"] is not None}
    assert status == 1
    assert len(counted) > 400
    assert set(report["differing"]) == counted
    assert all(rows[name]["ours"] == before[name]["ours"] for name in counted)


def test_plain_files_are_read_alike(copy):
    for path in list(copy.rglob("*.gz")):
        data = gzip.decompress(path.read_bytes())
        path.unlink()
        path.with_suffix("").write_bytes(data)
    status, _, report = run(copy)
    assert (status, report["differing"]) == (0, [])
    assert numbers(report)["models.gpt-4.evaluated.top1"]["status"] == "equal"
    assert len(report["skipped"]) == 5


def test_another_model_is_counted_beside_those_that_are_expected(copy):
    folder = copy / "predictions" / "A model of ours"
    folder.mkdir()
    (folder / "evaluated.jsonl.gz").symlink_to(FOLDER / "predictions" / "Yi-34B-Chat" / "evaluated.jsonl.gz")
    status, _, report = run(copy)
    row = numbers(report)["models.A model of ours.evaluated.top1"]
    expected = json.loads((FOLDER / "expected.json").read_text())
    assert status == 0
    assert row["status"] == "ours only"
    assert row["ours"] == pytest.approx(expected["models"]["Yi-34B-Chat"]["evaluated"]["top1"])
