"""The shape of threads in numbers, and the command that compares it with the published one."""

import gzip
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.structure import children_histogram, depth_histogram, total_variation
from simulation.domain.targets import Written
from simulation.management.commands import check_structure
from tests.published import FOLDER, needs_published_data

THREAD = [
    Written("root", None, "Olive", 0),
    Written("a", "root", "Fern", 1),
    Written("b", "root", "Moss", 1),
    Written("c", "a", "Moss", 2),
    Written("d", "a", "Reed", 2),
]

counted = st.dictionaries(st.integers(0, 8), st.integers(1, 50), min_size=1)


def test_replies_of_replies_are_counted_and_those_of_roots_are_not():
    assert children_histogram([THREAD, THREAD]) == {0: 6, 2: 2}


def test_depths_are_counted_from_the_root():
    assert depth_histogram([THREAD]) == {0: 1, 1: 2, 2: 2}


def test_nothing_to_count_gives_nothing():
    assert children_histogram([THREAD[:1]]) == {}
    assert depth_histogram([]) == {}


def test_the_distance_is_half_the_sum_of_the_differences_of_shares():
    assert total_variation({0: 1, 1: 1}, {0: 10}) == 0.5
    assert total_variation({0: 1}, {1: 1}) == 1
    assert total_variation({0: 3, 1: 1}, {0: 1, 1: 1, 2: 2}) == pytest.approx(0.5)


def test_no_distance_to_an_empty_histogram():
    with pytest.raises(ValueError, match="nothing was counted"):
        total_variation({0: 1}, {})


@given(counted, counted, st.integers(2, 9))
def test_the_distance_is_symmetric_between_0_and_1_and_blind_to_size(one, other, times):
    distance = total_variation(one, other)
    assert 0 <= distance <= 1 + 1e-12
    assert distance == pytest.approx(total_variation(other, one))
    assert total_variation(one, {key: count * times for key, count in one.items()}) == pytest.approx(0)


def node(author, *children):
    return {"author": author, "text": f"{author} likes tea", "guesses": [], "children": list(children)}


def save(folder, name, tree):
    (folder / "threads").mkdir(exist_ok=True)
    with gzip.open(folder / "threads" / f"{name}.json.gz", "wt") as file:
        json.dump(tree, file)


def run(*args, **options):
    out = StringIO()
    try:
        call_command("check_structure", *map(str, args), stdout=out, **options)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


@pytest.fixture
def folder(tmp_path):
    """Two small threads: a chain of four and a root with three replies."""
    save(tmp_path, "one", node("Olive", node("Fern", node("Moss", node("Reed")))))
    save(tmp_path, "two", node("Olive", node("Fern"), node("Moss"), node("Olive")))
    return tmp_path


@pytest.fixture
def _anything_goes(monkeypatch):
    monkeypatch.setattr(check_structure, "BOUNDS", {"children": 1.0, "depths": 1.0})


@pytest.mark.usefixtures("_anything_goes")
def test_the_command_prints_both_histograms_and_their_distances(folder):
    status, text, error = run(folder, seeds=2)
    assert (status, error) == (0, "")
    assert "2 published threads, each simulated 2 times" in text
    assert "replies to a reply" in text
    assert "comments per thread" in text
    assert text.count("distance") == 2


@pytest.mark.usefixtures("_anything_goes")
def test_the_command_reads_trees_as_they_are(folder):
    status, text, _ = run(folder, seeds=1, json=True)
    found = json.loads(text)
    assert status == 0
    assert found["released"] == {
        "children": {"0": 4, "1": 2},
        "depths": {"0": 2, "1": 4, "2": 1, "3": 1},
        "comments_per_thread": 4.0,
    }
    assert found["passed"] is True
    assert (found["threads"], found["seeds"]) == (2, 1)
    assert set(found["simulated_with_loss"]["distance"]) == {"children", "depths"}


def test_the_author_of_the_root_is_not_an_agent(folder, monkeypatch):
    asked = []
    simulate = check_structure.simulate_structure

    def spy(agents, *args, **named):
        asked.append(len(agents))
        return simulate(agents, *args, **named)

    monkeypatch.setattr(check_structure, "simulate_structure", spy)
    run(folder, seeds=1)
    assert asked == [3, 2, 3, 2]


def test_the_same_seeds_print_the_same_numbers(folder):
    assert run(folder, seeds=2, json=True) == run(folder, seeds=2, json=True)


def test_a_shape_too_far_away_ends_with_status_1_after_its_numbers(folder, monkeypatch):
    monkeypatch.setattr(check_structure, "BOUNDS", {"children": 0.0, "depths": 0.0})
    status, text, error = run(folder, seeds=1, json=True)
    assert status == 1
    assert json.loads(text)["passed"] is False
    assert "replies to a reply" in error
    status, text, _ = run(folder, seeds=1)
    assert (status, "TOO FAR" in text) == (1, True)


def test_the_folder_may_come_from_the_settings(folder, settings):
    settings.SYNTHPAI_DATA = str(folder)
    status, text, _ = run(seeds=1)
    assert status in (0, 1)
    assert "2 published threads" in text


def test_without_a_folder_the_status_is_2(settings):
    settings.SYNTHPAI_DATA = ""
    status, text, error = run()
    assert (status, text) == (2, "")
    assert "SYNTHPAI_DATA" in error


def test_a_folder_without_threads_gives_2(tmp_path):
    status, _, error = run(tmp_path)
    assert status == 2
    assert str(tmp_path) in error
    assert run(tmp_path / "missing")[0] == 2


def test_threads_without_replies_give_2(tmp_path):
    save(tmp_path, "one", node("Olive"))
    assert run(tmp_path)[::2] == (2, "The published threads have no replies to compare.")


def test_no_seeds_give_2(folder):
    assert run(folder, seeds=0)[0] == 2


@pytest.mark.parametrize("tree", [[], "tea", {"author": "Olive"}, {"author": "Olive", "children": 3}])
def test_a_tree_of_another_form_gives_2_and_names_the_file(folder, tree):
    save(folder, "three", tree)
    status, _, error = run(folder)
    assert status == 2
    assert "three.json.gz" in error


@pytest.mark.parametrize(
    "content", [b"", b"tea", gzip.compress(b'{"author"', mtime=0), gzip.compress(b"{}" * 99, mtime=0)[:-9]]
)
def test_a_broken_file_gives_2_and_names_the_file(folder, content):
    (folder / "threads" / "three.json.gz").write_bytes(content)
    status, _, error = run(folder)
    assert status == 2
    assert "three.json.gz" in error


@pytest.mark.published
@needs_published_data
def test_simulated_threads_have_the_published_shape():
    expected = json.loads((FOLDER / "expected.json").read_text())["threads"]
    status, text, error = run(FOLDER, seeds=2, json=True)
    assert (status, error) == (0, "")
    found = json.loads(text)
    assert found["released"]["children"] == expected["children_per_reply_histogram"]
    assert found["released"]["depths"] == expected["depth_histogram"]
    assert found["released"]["comments_per_thread"] == pytest.approx(expected["nodes_per_thread"]["mean"])
    assert found["simulated"]["distance"]["children"] <= 0.03
    assert found["simulated"]["distance"]["depths"] <= 0.12
    assert found["simulated_with_loss"]["distance"]["children"] <= 0.03
