"""How comments are dealt: exact shares, the same again from the same seed, the same in SQL as in Python."""

import random
import re

import pytest
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.dealing import blind_count, blind_places, shuffle_key
from annotation.models import Item, Slot, Tally
from annotation.services import filling, queues
from simulation.models.identity import ALPHABET
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, ThreadFactory


@given(n=st.integers(0, 400), percent=st.integers(0, 100), seed=st.integers(0, 2**53))
def test_the_blind_share_is_exact_and_the_same_again(n, percent, seed):
    places = list(blind_places(n, percent, seed))
    assert len(places) == round(n * percent / 100) == blind_count(n, percent)
    assert places == sorted(set(places))
    assert all(1 <= place <= n for place in places)
    assert places == list(blind_places(n, percent, seed))


def test_every_place_is_as_likely_to_be_blind():
    hits = [0] * 20
    for seed in range(2000):
        for place in blind_places(20, 25, seed):
            hits[place - 1] += 1
    assert min(hits) > 420
    assert max(hits) < 580


def test_a_share_beyond_all_is_refused():
    with pytest.raises(ValueError, match="percent"):
        list(blind_places(10, 101, 1))


@pytest.fixture
def thread(corpus):
    thread = ThreadFactory(corpus=corpus)
    for number in range(30):
        CommentFactory(thread=thread, external_id=f"c{number}", sequence=number, text=f"Bus number {number}.")
    return thread


def order_of(queue):
    return list(queue.items.order_by("position").values_list("comment__external_id", flat=True))


def make(corpus, name="round 1", **ways):
    return queues.create(by=None, corpus=corpus, name=name, **ways)


@pytest.mark.database
def test_a_queue_has_an_item_and_its_slots_for_each_comment(corpus, thread):
    queue = make(corpus, people_per_item=3)
    assert order_of(queue) == [f"c{number}" for number in range(30)]
    assert list(queue.items.values_list("position", flat=True)) == list(range(1, 31))
    assert queue.slots.filter(state=Slot.OPEN).count() == 90
    assert set(queue.slots.values_list("number", flat=True)) == {1, 2, 3}
    assert not queue.slots.exclude(position=F("item__position")).exists()
    assert Tally.objects.get(queue=queue, person=None).slots == 90


def test_ids_are_random_and_of_the_same_signs_as_everywhere(corpus, thread):
    queue = make(corpus)
    ids = set(queue.items.values_list("public_id", flat=True))
    assert len(ids) == 30
    assert all(re.fullmatch(f"[{ALPHABET.decode()}]{{12}}", one) for one in ids)
    assert len({sign for one in ids for sign in one}) == 32


@pytest.mark.database
def test_a_shuffled_order_follows_from_the_seed_alone(corpus, thread):
    names = [f"c{number}" for number in range(30)]
    queue = make(corpus, order="random", seed=7)
    assert order_of(queue) == sorted(names, key=lambda name: shuffle_key(7, name))
    assert order_of(make(corpus, "again", order="random", seed=7)) == order_of(queue)
    assert order_of(make(corpus, "other", order="random", seed=8)) != order_of(queue)
    assert order_of(queue) != names


@pytest.mark.database
def test_the_blind_items_are_those_that_the_seed_draws(corpus, thread):
    queue = make(corpus, blind_percent=20, seed=11)
    blind = list(queue.items.filter(blind=True).values_list("position", flat=True))
    assert blind == list(blind_places(30, 20, 11))
    assert len(blind) == 6
    assert make(corpus, "all", blind_percent=100).items.filter(blind=True).count() == 30
    assert not make(corpus, "none").items.filter(blind=True).exists()


def test_the_least_certain_suggestion_comes_first_and_what_has_none_last(corpus, thread):
    by_id = {comment.external_id: comment for comment in corpus.comments.all()}
    SuggestionFactory(comment=by_id["c5"], certainty=4)
    SuggestionFactory(comment=by_id["c9"], certainty=2)
    SuggestionFactory(comment=by_id["c7"], certainty=5)
    SuggestionFactory(comment=by_id["c7"], attribute="sex", guesses=["female"], certainty=1)
    # A later suggestion for the same attribute is the one that is shown.
    SuggestionFactory(comment=by_id["c9"], certainty=5, tagger="new")
    assert order_of(make(corpus, order="unsure"))[:4] == ["c7", "c5", "c9", "c0"]
    older = make(corpus, "older", order="unsure", tagger="imported")
    assert order_of(older)[:4] == ["c7", "c9", "c5", "c0"]


def test_a_filter_chooses_and_withdrawn_comments_stay_out(corpus, thread):
    corpus.comments.filter(external_id="c3").update(state="withdrawn")
    chosen = make(corpus, comments=CommentFilter(text="number 3 or 4"))
    assert order_of(chosen) == ["c4"]
    assert chosen.filter == {"q": "number 3 or 4"}
    assert len(order_of(make(corpus, "both", comments=CommentFilter(state="both")))) == 29


def test_other_comments_than_were_counted_make_no_queue(corpus, thread):
    with pytest.raises(queues.Changed) as now:
        make(corpus, expected=29)
    assert now.value.size == 30


def test_after_a_large_fill_the_planner_is_told(
    corpus, thread, monkeypatch, django_capture_on_commit_callbacks, django_assert_num_queries
):
    monkeypatch.setattr(filling, "LARGE", 30)
    with django_capture_on_commit_callbacks() as callbacks:
        make(corpus)
    assert callbacks == [filling.analyze]
    with django_assert_num_queries(2):
        filling.analyze()
    assert Item.objects.count() == 30


def test_the_number_of_queries_does_not_grow_with_the_comments(corpus, thread, django_assert_num_queries):
    with django_assert_num_queries(10):
        make(corpus, blind_percent=10, people_per_item=2)
    rng = random.Random(1)
    for number in range(40):
        CommentFactory(thread=thread, sequence=rng.randrange(1000), text=f"More {number}")
    with django_assert_num_queries(10):
        make(corpus, "more", blind_percent=10, people_per_item=2)
