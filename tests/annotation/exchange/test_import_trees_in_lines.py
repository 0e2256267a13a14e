"""Many thread trees in one file, one a line."""

import pytest

from annotation.exchange import files
from annotation.exchange.layouts import Layout, layout_of
from annotation.models import Suggestion
from simulation.models import Comment, Profile, Thread
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import guess, lines, node, profile, row

pytestmark = pytest.mark.django_db


def tree(name="thread_age_1", *replies, **fields):
    return {"thread_id": name, **node("Gull", *replies, **fields)}


def stored():
    names = (
        "external_id",
        "parent__external_id",
        "depth",
        "position",
        "text",
        "extra",
        "thread__target_phrase",
    )
    return sorted(Comment.objects.values_list(*names), key=lambda one: one[0])


def test_each_line_is_a_thread(take):
    report = take("threads.jsonl", [tree("a", node("Tern", node("Auk"))), tree("b")])
    assert report.ok
    assert (counts(report)[0], counts(report, "threads")[0]) == (4, 2)
    assert [one[0] for one in stored()] == ["a/0", "a/0.0", "a/0.0.0", "b/0"]
    assert set(Thread.objects.values_list("external_id", "source")) == {("a", "tree"), ("b", "tree")}


@pytest.mark.parametrize("name", ["thread_id", "name", "external_id"])
def test_one_file_a_tree_and_one_line_a_tree_mean_the_same_comments(take, name):
    root = node("Gull", node("Tern", guesses=[guess()]), guess_feature="age", mood="grey")
    take("thread_age_1.json", root)
    before = stored()
    again = take("threads.jsonl", [{name: "thread_age_1", **root}, tree("other")])
    assert again.ok
    assert counts(again) == (1, 0, 2, 0)
    assert [one for one in stored() if one[0].startswith("thread_age_1")] == before
    assert counts(take("thread_age_1.json", root)) == (0, 0, 2, 0)
    assert Suggestion.objects.count() == 1


def test_a_changed_line_changes_what_differs(take):
    take("threads.jsonl", [tree("a", node("Tern")), tree("b")])
    report = take("threads.jsonl.gz", [tree("a", node("Tern", text="other")), tree("b"), tree("c")])
    assert counts(report) == (1, 1, 2, 0)


def test_profiles_on_nodes_are_taken(take):
    take("threads.jsonl", [tree("a", profile=profile("Gull"), author="pers7"), tree("b", author="pers7")])
    assert Profile.objects.get().external_id == "pers7"
    assert Comment.objects.filter(profile__external_id="pers7").count() == 2


def test_an_author_whose_profile_comes_later_is_found_at_the_end(take, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 1)
    report = take(
        "threads.jsonl", [tree("a", author="pers7"), tree("b", profile=profile("Gull"), author="pers7")]
    )
    assert not report.warnings
    assert Comment.objects.filter(profile__external_id="pers7").count() == 2


def test_groups_of_trees_are_written_one_after_the_other(take, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 2)
    trees = [tree(f"t{number}", node("Tern"), node("Auk")) for number in range(7)]
    assert counts(take("threads.jsonl", trees))[0] == 21
    assert list(Comment.objects.order_by("sequence").values_list("external_id", flat=True)[:4]) == [
        "t0/0",
        "t0/0.0",
        "t0/0.1",
        "t1/0",
    ]
    assert counts(take("threads.jsonl", trees)) == (0, 0, 21, 0)


def test_a_faulty_line_is_named_and_nothing_is_imported(take):
    content = lines(tree("a"), tree("a"), node("Gull", node("Tern")), tree("c", node("Tern", text=5)))
    report = take("threads.jsonl", content + "{broken\n")
    assert said(report)[:3] == [
        "threads.jsonl, line 2, thread_id: “a” stands in line 1 already; every thread has its own",
        "threads.jsonl, line 3, thread_id: is missing",
        "threads.jsonl, line 4, node 0.0, text: must be text in quotes, not 5",
    ]
    assert said(report)[3].startswith("threads.jsonl, line 5: not valid JSON")
    assert not Comment.objects.exists()


def test_a_first_line_of_a_megabyte_is_still_a_tree(take, write):
    long = tree("a", *[node("Tern", text="word " * 100) for _ in range(4000)])
    path = write("threads.jsonl", [long, tree("b")])
    assert path.stat().st_size > 2 << 20
    assert layout_of(path) is Layout.TREES
    assert counts(take("threads.jsonl", [long, tree("b")]))[0] == 4002


def test_a_tree_that_is_too_deep_is_refused_with_what_to_do(take):
    deep = '{"thread_id": "a", "username": "A", "text": "x", "children": [' * 10_000 + "]}" * 10_000
    (problem,) = take("threads.jsonl", lines(tree("b")) + deep).problems
    assert problem.line == 2
    assert "write deeper threads as rows" in problem.message
    assert not Comment.objects.exists()


def test_rows_and_trees_are_told_apart(write):
    assert layout_of(write("a.jsonl", [tree()])) is Layout.TREES
    assert layout_of(write("a.jsonl", [tree("a", node())])) is Layout.TREES
    assert layout_of(write("a.jsonl", [{"external_id": "a", **node()}])) is Layout.TREES
    assert layout_of(write("a.jsonl", [row(children=["c2"])])) is Layout.LINES
    plain = {"external_id": "c1", "thread_id": "t", "text": "x"}
    assert layout_of(write("a.jsonl", [plain])) is Layout.LINES
    assert layout_of(write("a.txt", lines(tree("a", node()), tree("b")))) is Layout.TREES
