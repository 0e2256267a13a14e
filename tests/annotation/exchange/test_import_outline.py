"""Who replies to whom, kept on the disk: the same memory however many rows there are."""

import tracemalloc

import pytest

from annotation.exchange.flat import read_rows
from annotation.exchange.outline import AT_ONCE, Outline, Stored
from annotation.exchange.problems import Problems
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import Given
from annotation.exchange.trees import read_trees
from tests.annotation.exchange.samples import lines, node

NAME = 300
"""Bytes that the name of a thread may take, with its line and its place in a table."""


def given(number, parent=None, **fields):
    row = {"external_id": f"c{number}", "thread_id": f"t{number // 50}", "username": "Gull", "text": "wet"}
    return Given(number + 1, {**row, "parent_id": None if parent is None else f"c{parent}", **fields})


def taken(rows):
    """The outline of rows, their records and what was wrong with them."""
    outline, problems = Outline(), Problems("rows.jsonl")
    records = list(read_rows(rows, problems, outline))
    return outline, records, problems


def settled(rows, stored=()):
    outline, records, problems = taken(rows)
    outline.keep_threads({record.thread: 1 for record in records})
    for number, ids in enumerate(outline.ids()):
        outline.keep_keys({name: number * AT_ONCE + place for place, name in enumerate(ids)}, set())
    outline.take_in(stored)
    outline.settle(problems)
    return outline, records, problems


def peak(work):
    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held


def test_a_row_before_its_parent_finds_it():
    outline, records, problems = settled([given(2, 1), given(1, 0), given(0)])
    outline.place(records)
    assert not problems.total
    assert [(one.external_id, one.parent, one.depth) for one in records] == [
        ("c2", "c1", 2),
        ("c1", "c0", 1),
        ("c0", None, 0),
    ]


def test_rows_below_comments_of_the_corpus_go_on_from_their_depth():
    above = [Stored("c8", "t0", "c9", ["x", "c0"], 8), Stored("c9", "t0", None, [], 9)]
    outline, records, _ = settled([given(0, 8)], above)
    known = outline.place(records)
    assert (records[0].parent, records[0].depth, records[0].position) == ("c8", 2, 1)
    assert known.keys["c8"] == 8
    assert outline.next_position(records[0]) == 2


def test_places_behind_known_siblings_are_given_in_order():
    outline, records, _ = settled([given(0, children=["c1"]), given(1, 0), given(2, 0), given(3, 0)])
    outline.place(records)
    assert [one.position for one in records] == [None, 0, None, None]
    assert [outline.next_position(records[place]) for place in (2, 3)] == [1, 2]


def test_several_circles_are_each_reported_once():
    rows = [given(0, 1), given(1, 0), given(2, 1), given(3, 4), given(4, 3), given(5)]
    _, _, problems = settled(rows)
    assert [one.message.partition(";")[0] for one in problems.shown] == [
        "the comment is a reply to itself: c0 → c1 → c0",
        "the comment is a reply to itself: c3 → c4 → c3",
    ]
    assert problems.invalid["comments"] == 4


def test_strangers_are_the_parents_that_no_row_is():
    outline, _, _ = taken([given(0, 7), given(1, 0), given(2, 7), given(3, 9)])
    assert list(outline.strangers()) == [["c7", "c9"]]


def test_a_file_that_changes_while_it_is_read_is_refused():
    outline, records, _ = settled([given(0), given(1)])
    with pytest.raises(Unreadable, match="has changed"):
        outline.place(records[::-1])


@pytest.mark.parametrize("deep", [1, 40])
def test_ten_times_the_rows_take_no_more_memory(deep):
    def work(count):
        rows = (given(number, number - 1 if number % 50 and deep > 1 else None) for number in range(count))
        outline, problems = Outline(), Problems("rows.jsonl")
        for _ in read_rows(rows, problems, outline):
            pass
        outline.settle(problems)
        assert not problems.total

    work(10)
    assert peak(lambda: work(20_000)) < 2 * peak(lambda: work(2000))


def test_ten_times_the_trees_take_no_more_memory_than_their_names(write):
    def held(count):
        trees = [{"thread_id": f"t{number}", **node("Gull", node(), node())} for number in range(count)]
        path = write("trees.jsonl", lines(*trees))
        del trees
        return peak(lambda: sum(1 for _ in read_trees(path, Problems("trees.jsonl"))))

    held(10)
    assert held(3000) < 2 * held(300) + 3000 * NAME
