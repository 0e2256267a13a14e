"""Several votes make one verdict: the rule by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.votes import VOTES, decided, enough, is_split

VOTE = st.sampled_from([1.0, 0.5, 0.0, None])
BALLOTS = st.sampled_from(VOTES).flatmap(lambda n: st.lists(VOTE, min_size=n, max_size=n))


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ([1.0], 1.0),
        ([None], None),
        ([1.0, 1.0, 0.0], 1.0),
        ([1.0, 0.5, 0.0], 0.0),
        ([1.0, 0.5, None], 0.5),
        ([1.0, None, None], None),
        ([1.0, 1.0, 0.5, 0.5, 0.0], 0.5),
        ([1.0, 1.0, 0.5, 0.0, None], 1.0),
        ([1.0, 1.0, None, None, None], None),
    ],
)
def test_by_hand(votes, verdict):
    assert decided(votes) == verdict


@given(BALLOTS)
def test_a_verdict_was_given_and_none_was_given_more_often(votes):
    found, readable = decided(votes), [vote for vote in votes if vote is not None]
    assert (found is None) is not enough(len(readable), len(votes))
    if found is not None:
        times = votes.count(found)
        assert times > 0
        for other in set(readable) - {found}:
            assert votes.count(other) < times or (votes.count(other) == times and other > found)


@given(BALLOTS, st.randoms(use_true_random=False))
def test_the_order_of_the_votes_is_nothing(votes, chance):
    mixed = list(votes)
    chance.shuffle(mixed)
    assert (decided(mixed), is_split(mixed)) == (decided(votes), is_split(votes))


@given(st.sampled_from(VOTES), VOTE)
def test_unanimous_votes_are_what_one_would_be(n, vote):
    assert decided([vote] * n) == decided([vote]) == vote
    assert not is_split([vote] * n)


@given(BALLOTS)
def test_a_vote_for_the_verdict_never_turns_it(votes):
    if (found := decided(votes)) is not None:
        for place in range(len(votes)):
            assert decided([*votes[:place], found, *votes[place + 1 :]]) == found
