"""The reply tree: order, roots, and the path to a target."""

from dataclasses import dataclass

from simulation.domain import tree


@dataclass
class Row:
    pk: int
    parent_id: int | None
    position: int = 0


ROWS = [Row(5, 2, 1), Row(1, None), Row(2, 1, 0), Row(3, 1, 1), Row(4, 2, 0), Row(9, 8)]


def keys(nodes):
    return [node.comment.pk for node in nodes]


def test_replies_stand_in_their_order_whatever_the_rows_order():
    root = tree.build(ROWS)[0]
    assert keys(root.walk()) == [1, 2, 4, 5, 3]


def test_a_row_whose_parent_is_missing_is_a_root_of_its_own():
    assert keys(tree.build(ROWS)) == [1, 9]


def test_focus_opens_the_path_and_folds_the_rest():
    root = tree.focus(tree.build(ROWS), 5)
    assert root.comment.pk == 1
    assert root.next.comment.pk == 2
    assert keys(root.folded) == [3]
    target = root.next.next
    assert target.is_target
    assert keys(root.next.folded) == [4]


def test_focus_on_something_else_finds_nothing():
    assert tree.focus(tree.build(ROWS), 77) is None
