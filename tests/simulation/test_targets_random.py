"""Mode random: a sample of all comments, redrawn until the limits hold, and never for ever."""

import random
from collections import Counter

import pytest

from simulation.domain import targets
from simulation.domain.parameters import Parameters
from simulation.domain.rounds import simulate_structure
from simulation.domain.seeds import generator
from simulation.domain.targets import Choice, Pool, Written, sigma, softmax

ROOT = Written("root", None, "Olive", 0)
RANDOM = Parameters(mode="random")


def star(replies, *, author="other"):
    """A root with so many replies."""
    return [ROOT, *(Written(f"c{number}", "root", f"{author} {number}", 1) for number in range(replies))]


def choose(written, parameters=RANDOM, *, agent="A", seed=0, with_root=True):
    rng = generator(seed, "target")
    return Pool(written).choose(agent, parameters, with_root=with_root, rng=rng)


def test_what_is_drawn_was_not_written_or_answered_by_the_agent():
    written = [ROOT, Written("a", "root", "A", 1), Written("b", "root", "B", 1), Written("c", "b", "C", 2)]
    drawn = {choose(written, seed=seed).target for seed in range(60)}
    assert drawn == {"b", "c"}


def test_a_low_score_has_a_chance_that_mode_top_does_not_give_it():
    """Twenty replies of others score 1.5, two to a comment of the agent 2.67: top never gets to the rest."""
    written = [*star(20), Written("own", "root", "A", 1)]
    written += [Written(f"d{number}", "own", f"B{number}", 2) for number in range(2)]
    few = Parameters(sampled=2, max_children=50)
    top = {choose(written, few, seed=seed, with_root=False).target for seed in range(60)}
    assert top == {"d0", "d1"}
    at_random = {
        choose(
            written, Parameters(mode="random", sampled=2, max_children=50), seed=seed, with_root=False
        ).target
        for seed in range(60)
    }
    assert len(at_random) > 10


def test_the_whole_pool_as_sample_is_drawn_with_the_softmax_of_the_scores():
    written = [ROOT, Written("b", "root", "B", 1), Written("c", "b", "C", 2)]
    expected = dict(zip(["root", "b", "c"], softmax([2.0, 1.5, 4 / 3]), strict=True))
    draws = Counter(choose(written, seed=seed).target for seed in range(4000))
    for key, share in expected.items():
        assert draws[key] / 4000 == pytest.approx(share, abs=0.03)
    choice = choose(written, seed=1)
    assert choice.probability == pytest.approx(expected[choice.target])
    assert choice.score == sigma(Pool(written).paths[choice.target], "A")


def test_the_limits_hold_as_long_as_one_comment_is_within():
    written = [*star(30), Written("deep", "c0", "D", 2)]
    parameters = Parameters(mode="random", max_depth=5, max_children=30, sampled=5)
    for seed in range(60):
        choice = choose(written, parameters, seed=seed)
        assert choice.target != "root"
        assert not choice.fallback


def test_where_no_comment_is_within_the_limits_mode_top_decides_at_once(monkeypatch):
    """The published rule draws for ever here."""
    monkeypatch.setattr(targets, "MOST_REDRAWS", 0)
    written = star(4)
    parameters = Parameters(mode="random", max_depth=1, max_children=1)
    for seed in range(20):
        expected = choose(written, Parameters(max_depth=1, max_children=1), seed=seed)
        assert choose(written, parameters, seed=seed) == expected
        assert expected.fallback


def test_the_redraws_have_an_end_and_mode_top_decides_then():
    """One comment of 401 is within the limits and hardly ever in a sample of one."""

    class Stubborn(random.Random):
        draws = 0

        def sample(self, population, k):
            self.draws += 1
            return ["root"]

    written = star(400)
    parameters = Parameters(mode="random", sampled=1, max_children=400)
    rng = Stubborn(1)
    choice = Pool(written).choose("A", parameters, with_root=True, rng=rng)
    assert rng.draws == targets.MOST_REDRAWS
    assert isinstance(choice, Choice)
    assert choice.target == "c0"


def test_nothing_to_answer_is_none():
    assert choose([ROOT, Written("a", "root", "A", 1)], with_root=False) is None


@pytest.mark.parametrize("sampled", [1, 3, 10])
def test_a_whole_thread_ends_and_depends_on_its_seed_alone(sampled):
    agents = [f"agent {number}" for number in range(8)]
    parameters = Parameters(mode="random", sampled=sampled, max_depth=3, max_children=2)
    first = simulate_structure(agents, parameters, seed=3, thread=1)
    assert first == simulate_structure(agents, parameters, seed=3, thread=1)
    assert first != simulate_structure(agents, parameters, seed=4, thread=1)
    assert len(first) > 5
    assert first != simulate_structure(agents, Parameters(max_depth=3, max_children=2), seed=3, thread=1)
