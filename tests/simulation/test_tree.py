"""The reply tree: order, roots, the path to a target, and how it is drawn at any depth."""

from dataclasses import dataclass

from simulation.domain import tree


@dataclass
class Row:
    pk: int
    parent_id: int | None
    position: int = 0


ROWS = [Row(5, 2, 1), Row(1, None), Row(2, 1, 0), Row(3, 1, 1), Row(4, 2, 0), Row(9, 8)]
MARKS = {"list": "(", "end_list": ")", "end_node": "", "fold": "[", "end_fold": "]"}


def keys(nodes):
    return [node.comment.pk for node in nodes]


def drawn(steps):
    """The steps as text: nested lists in ( ), folds in [ ]."""
    return "".join(f" {step.node.comment.pk}" if step.kind == "node" else MARKS[step.kind] for step in steps)


def chain(length):
    return tree.build(Row(number, number - 1 if number else None) for number in range(length))


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
    assert root.next.next.is_target
    assert keys(root.next.folded) == [4]


def test_focus_on_something_else_finds_nothing():
    assert tree.focus(tree.build(ROWS), 77) is None


def test_whole_trees_are_drawn_as_nested_lists():
    assert drawn(tree.steps(tree.build(ROWS))) == " 1( 2( 4 5) 3) 9"


def test_around_a_target_the_path_is_drawn_open_and_the_rest_folded():
    assert drawn(tree.steps_to_target(tree.focus(tree.build(ROWS), 5))) == " 1([ 3] 2([ 4] 5))"


def test_every_list_and_node_that_opens_closes_again():
    for root, target in ((chain(40)[0], 33), (tree.build(ROWS)[0], 2)):
        found = tree.focus([root], target)
        for steps in (list(tree.steps([root])), list(tree.steps_to_target(found))):
            kinds = [step.kind for step in steps]
            for kind in ("node", "list", "fold"):
                assert kinds.count(kind) == kinds.count(f"end_{kind}")


def test_a_thread_of_any_depth_is_drawn_without_running_out_of_stack():
    deep = chain(5000)
    assert len(keys(deep[0].walk())) == 5000
    assert len([step for step in tree.steps(deep) if step.kind == "node"]) == 5000
    assert len(list(tree.steps_to_target(tree.focus(deep, 4999)))) > 5000


def test_below_twelve_levels_replies_stand_below_each_other_and_say_so():
    steps = [step for step in tree.steps(chain(20)) if step.kind in ("node", "list")]
    assert sum(step.kind == "list" for step in steps) == tree.INDENTS
    assert [step.node.comment.pk for step in steps if step.flat] == list(range(13, 20))
