"""Algorithm 1: who answers what, when and how."""

import inspect
import json
import random
from collections import Counter
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.domain import rounds, targets
from simulation.domain.parameters import Parameters
from simulation.domain.rounds import Place, comment_weights, critics, next_turn, simulate_structure
from simulation.domain.seeds import generator
from simulation.domain.targets import Pool, Written, sigma, softmax
from tests.published import FOLDER, needs_published_data

SIGMA = [
    ("P", "A", 2.0),
    ("PB", "A", 1.5),
    ("PBC", "A", 4 / 3),
    ("PBCD", "A", 5 / 4),
    ("PBCDEF", "A", 1 + 1 / 6),
    ("PAB", "A", 8 / 3),
    ("PABC", "A", 9 / 4),
    ("PABAC", "A", 2.8),
    ("PBAC", "A", 9 / 4),
    ("PA", "A", 0.0),
    ("PBA", "A", 0.0),
    ("P", "P", 2.0),
    ("PB", "P", 1.5),
]
WEIGHTS = [
    (7, 0, 7),
    (7, 1, 6),
    (7, 2, 5),
    (7, 6, 1),
    (7, 7, 1),
    (7, 9, 1),
    (8, 0, 8),
    (10, 0, 10),
    (1, 1, 1),
]
EVER = Parameters(start_weight=10)

AGENTS = [f"agent {number}" for number in range(6)]
ROOT = [Written("root", None, "Olive", 0)]


def vectors(name):
    return json.loads((FOLDER / "expected.json").read_text())["vectors"][name]


def grow(agents, parameters, *, seed=1, thread=0, closed=lambda key: False):
    """A whole thread with the turns that made it."""
    written, turns, after = list(ROOT), [], None
    while True:
        shut = frozenset(comment.key for comment in written if closed(comment.key))
        turn = next_turn(written, agents, parameters, seed=seed, thread=thread, after=after, closed=shut)
        if turn is None:
            return written, turns
        depth = next(comment.depth for comment in written if comment.key == turn.target) + 1
        written.append(Written(f"c{len(written)}", turn.target, turn.agent, depth))
        turns.append(turn)
        after = turn.place


varied = st.builds(
    Parameters,
    rounds=st.integers(1, 4),
    actions=st.integers(1, 4),
    start_weight=st.integers(1, 10),
    profiles_asked=st.integers(1, 30),
    sampled=st.integers(1, 8),
    max_depth=st.integers(1, 4),
    max_children=st.integers(1, 4),
    p_critic=st.floats(0, 1),
    p_short=st.floats(0, 1),
)
crowds = st.integers(0, 8).map(
    lambda count: AGENTS[:count] + [f"more {number}" for number in range(count - 6)]
)


@pytest.mark.parametrize(("path", "agent", "score"), SIGMA)
def test_a_score_is_the_mean_over_the_path_to_the_comment(path, agent, score):
    assert sigma(list(path), agent) == pytest.approx(score)


@pytest.mark.published
@needs_published_data
def test_scores_are_the_published_ones():
    found = vectors("sigma")
    assert found
    for case in found:
        assert sigma(case["path_authors_root_first"], case["agent"]) == pytest.approx(case["score"])


def test_there_is_no_score_without_a_path():
    with pytest.raises(ValueError, match="path_authors_root_first"):
        sigma([], "A")


@pytest.mark.parametrize(("start", "round", "comment"), WEIGHTS)
def test_writing_loses_weight_each_round_and_keeps_the_last(start, round, comment):
    assert comment_weights(start=start, round=round) == (comment, 10 - comment)


@pytest.mark.published
@needs_published_data
def test_weights_are_the_published_ones():
    found = vectors("comment_weights")
    assert found
    for case in found:
        weights = comment_weights(start=case["start"], round=case["round"])
        assert weights == (case["comment"], case["abstain"])


def test_critics_are_drawn_with_replacement_from_the_kept_agents():
    drawn = critics(AGENTS, asked=35, p_critic=0.4, rng=random.Random(1))
    assert drawn <= set(AGENTS)
    assert len(drawn) >= 4  # fourteen draws among six
    assert len(critics(AGENTS, asked=2, p_critic=0.5, rng=random.Random(1))) == 1


def test_no_share_or_no_agents_mean_no_critics():
    assert critics(AGENTS, asked=35, p_critic=0.0, rng=random.Random(1)) == frozenset()
    assert critics(AGENTS, asked=2, p_critic=0.4, rng=random.Random(1)) == frozenset()
    assert critics([], asked=35, p_critic=0.4, rng=random.Random(1)) == frozenset()


@given(varied, crowds, st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_every_turn_keeps_the_rules(parameters, agents, seed):
    written, turns = grow(agents, parameters, seed=seed)
    by_key = {comment.key: comment for comment in written}
    for count, turn in enumerate(turns, start=1):
        before, target = written[:count], by_key[turn.target]
        assert target in before
        assert turn.agent == agents[turn.place.agent] == written[count].author != target.author
        assert (turn.target, turn.agent) not in {(comment.parent, comment.author) for comment in before}
        assert target.parent is not None or turn.place.round == 0
        if not turn.fallback:
            assert target.depth < parameters.max_depth
            assert sum(comment.parent == turn.target for comment in before) < parameters.max_children
        assert turn.score > 0
        assert 0 < turn.probability <= 1 + 1e-12
        assert turn.words == (parameters.short_words if turn.short else parameters.long_words)
        assert turn.place.round < parameters.rounds
        assert turn.place.action < parameters.actions
    places = [turn.place for turn in turns]
    assert places == sorted(set(places))


@given(varied, crowds, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_limits_drop_just_when_too_few_comments_are_within(parameters, agents, seed):
    written, turns = grow(agents, parameters, seed=seed)
    for count, turn in enumerate(turns, start=1):
        with_root = turn.place.round == 0
        found = Pool(written[:count]).candidates(turn.agent, parameters, with_root=with_root)
        within = [candidate for candidate in found if candidate.within]
        assert turn.fallback == (len(within) < parameters.sampled)
        pool = found if turn.fallback else within
        best = sorted((candidate.score for candidate in pool), reverse=True)[: parameters.sampled]
        assert turn.score in best
        assert turn.probability == pytest.approx(softmax(best)[best.index(turn.score)])


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20))
def test_probabilities_sum_to_1_in_the_order_of_the_scores(scores):
    chances = softmax(scores)
    assert sum(chances) == pytest.approx(1)
    assert all(
        one <= other
        for (a, one) in zip(scores, chances, strict=True)
        for (b, other) in zip(scores, chances, strict=True)
        if a <= b
    )


def test_of_equal_scores_the_earlier_written_are_kept():
    written = [*ROOT, *(Written(f"c{number}", "root", f"other {number}", 1) for number in range(9))]
    parameters = Parameters(sampled=4, max_children=20)
    drawn = {
        Pool(written).choose("A", parameters, with_root=False, rng=random.Random(seed)).target
        for seed in range(80)
    }
    assert drawn == {"c0", "c1", "c2", "c3"}


def test_targets_are_drawn_with_the_softmax_of_their_scores():
    written = [*ROOT, Written("a", "root", "A", 1), Written("b", "a", "B", 2), Written("c", "root", "C", 1)]
    expected = dict(zip(["root", "b", "c"], softmax([2.0, 8 / 3, 1.5]), strict=True))
    pool = Pool(written)
    pool.answered.clear()  # as if A had not answered the root, to have three candidates
    draws = Counter(
        pool.choose("A", Parameters(), with_root=True, rng=generator(1, number)).target
        for number in range(4000)
    )
    for key, chance in expected.items():
        assert draws[key] / 4000 == pytest.approx(chance, abs=0.03)


def test_a_thread_begins_with_its_root():
    for written in ([], [Written("a", "root", "A", 1)]):
        with pytest.raises(ValueError, match="root"):
            next_turn(written, AGENTS, Parameters(), seed=1, thread=0, after=None)


def test_the_same_arguments_give_the_same_thread_and_others_another():
    whole = grow(AGENTS, Parameters(), seed=3, thread=4)
    assert grow(AGENTS, Parameters(), seed=3, thread=4) == whole
    assert grow(AGENTS, Parameters(), seed=4, thread=4) != whole
    assert grow(AGENTS, Parameters(), seed=3, thread=5) != whole


def test_a_thread_goes_on_from_any_place_as_if_it_had_never_stopped():
    written, turns = grow(AGENTS, Parameters(), seed=3)
    for count in range(1, len(turns)):
        after = turns[count - 1].place
        again = next_turn(written[: count + 1], AGENTS, Parameters(), seed=3, thread=0, after=after)
        assert again == turns[count]


def test_every_agent_has_one_action_to_the_most_in_each_round():
    seen = Counter()
    for thread in range(60):
        for place in rounds._places(3, Parameters(rounds=1), seed=1, thread=thread, after=None):
            seen[thread, place.agent] += 1
    counts = Counter(seen.values())
    assert set(counts) == {1, 2, 3}
    assert min(counts.values()) > 35  # of 180, a third each


def test_nobody_to_answer_means_no_turn():
    assert grow([], Parameters()) == (ROOT, [])
    assert grow(["Olive"], EVER) == (ROOT, [])


def actions_of_first(parameters, *, seed):
    places = rounds._places(1, parameters, seed=seed, thread=0, after=None)
    return len(list(places))


def test_an_agent_without_candidates_passes_to_the_next_one():
    once = replace(EVER, rounds=1)
    seed = next(seed for seed in range(50) if actions_of_first(once, seed=seed) == 3)
    written, turns = grow(["A", "B"], once, seed=seed)
    assert [turn.agent for turn in turns].count("A") == 1  # only the root is not its own
    assert turns[1].agent == "B"
    assert written[1].parent == "root"


def test_after_the_last_place_the_thread_is_over():
    after = Place(1, len(AGENTS) - 1, 2)
    assert next_turn(ROOT, AGENTS, EVER, seed=1, thread=0, after=after) is None
    assert next_turn(ROOT, AGENTS, EVER, seed=1, thread=0, after=Place(9, 0, 0)) is None


def test_the_root_is_answered_in_the_first_round_only():
    roots = Counter()
    for thread in range(10):
        _, turns = grow(AGENTS, replace(EVER, rounds=3), thread=thread)
        roots.update(turn.place.round for turn in turns if turn.target == "root")
    assert set(roots) == {0}


def test_critics_hold_for_a_whole_round_and_are_drawn_again_for_the_next():
    sets = set()
    for thread in range(5):
        _, turns = grow(AGENTS, replace(EVER, rounds=3, profiles_asked=8), thread=thread)
        for round in range(3):
            told = {}
            for turn in turns:
                if turn.place.round == round:
                    assert told.setdefault(turn.agent, turn.critic) == turn.critic
            sets.add(frozenset(agent for agent, critic in told.items() if critic))
    assert len(sets) > 5


def test_short_and_long_are_drawn_in_their_shares():
    turns = [turn for thread in range(30) for turn in grow(AGENTS, EVER, thread=thread)[1]]
    share = sum(turn.short for turn in turns) / len(turns)
    assert share == pytest.approx(0.7, abs=0.06)
    assert {turn.words for turn in turns} == {(1, 10), (10, 50)}


def test_a_comment_is_within_the_limits_up_to_the_deepest_path_and_the_most_replies():
    chain = [*ROOT, *(Written(f"c{depth}", f"c{depth - 1}", f"B{depth}", depth) for depth in range(2, 7))]
    chain.insert(1, Written("c1", "root", "B1", 1))
    found = Pool(chain).candidates("A", Parameters(max_depth=5, max_children=1), with_root=True)
    assert [(one.key, one.within) for one in found if one.key in ("c4", "c5", "c6")] == [
        ("c4", False),  # has its one reply
        ("c5", False),  # six comments from the root
        ("c6", False),
    ]
    found = Pool(chain).candidates("A", Parameters(max_depth=5, max_children=2), with_root=True)
    assert [one.key for one in found if one.within] == ["root", "c1", "c2", "c3", "c4"]


def test_closed_comments_are_never_answered_yet_count_as_replies():
    _, turns = grow(AGENTS, EVER, closed=lambda key: key.endswith(("1", "3", "5")))
    assert turns
    assert not {turn.target for turn in turns} & {f"c{number}" for number in (1, 3, 5, 11, 13, 15)}
    written = [*ROOT, *(Written(f"c{number}", "root", f"B{number}", 1) for number in range(3))]
    pool = Pool(written, closed=frozenset({"c0", "c1", "c2"}))
    (root,) = pool.candidates("A", Parameters(), with_root=True)
    assert (root.key, root.within) == ("root", False)


def test_a_comment_can_be_answered_whatever_became_of_its_suggestions():
    """Upstream lost from the reply pool what the tagging model's answer could not be read for."""
    assert {field.name for field in fields(Written)} == {"key", "parent", "author", "depth"}
    for function in (next_turn, Pool.__init__, Pool.choose, Pool.candidates):
        assert not {"tags", "suggestions"} & set(inspect.signature(function).parameters)
    for module in (rounds, targets):
        assert not {"tags", "guesses", "Suggestion"} & set(vars(module))
    written = [*ROOT, Written("a", "root", "A", 1)]
    offered = Pool(written).candidates("B", Parameters(), with_root=True)
    assert [candidate.key for candidate in offered] == ["root", "a"]


def test_a_simulated_thread_has_a_root_and_replies_below_it():
    written = simulate_structure(AGENTS, Parameters(), seed=1, thread=0)
    assert written[0] == Written("0", None, "", 0)
    depths = {comment.key: comment.depth for comment in written}
    for position, comment in enumerate(written[1:], start=1):
        assert comment.key == str(position)
        assert int(comment.parent) < position
        assert comment.depth == depths[comment.parent] + 1
    assert simulate_structure(AGENTS, Parameters(), seed=1, thread=0) == written


def test_if_every_reply_is_lost_only_the_root_is_answered():
    written = simulate_structure(AGENTS, Parameters(), seed=1, thread=0, drop=1.0)
    assert {comment.parent for comment in written[1:]} == {"0"}
    assert len(written) <= 1 + len(AGENTS)
