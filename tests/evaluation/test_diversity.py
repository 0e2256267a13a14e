"""Lengths, threads, words, likeness and groups: by hand, by other implementations, on the published data."""

import json
import random
from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from sklearn.feature_extraction.text import TfidfVectorizer

from evaluation.domain.paper.records import Node, Thread
from evaluation.exchange.released_rows import read_assignments, read_rows
from evaluation.exchange.released_trees import read_facts, read_thread
from evaluation.metrics.diversity import QUANTILES, DiversityTally, spread
from evaluation.metrics.diversity_groups import (
    birthplace_countries,
    overlap,
    profile_tables,
    table,
    topic_tables,
)
from evaluation.metrics.diversity_likeness import ONE_AUTHOR, TOO_FEW, LikenessTally, likeness
from evaluation.metrics.diversity_words import Distinct, Mattr, RichnessTally
from tests.published import FOLDER, needs_published_data


def node(key, parent, author, text, depth):
    return Node(key, parent, author, author, text, depth)


THREAD = Thread(
    "thread_age_1",
    (
        node("a", None, "tilda", "Who else forgets their keys?", 0),
        node("b", "a", "bragg", "me, me, me", 1),
        node("c", "b", "tilda", "keys!", 2),
        node("d", "a", "okoro", "Never.", 1),
    ),
)


@given(some.lists(some.integers(0, 9), min_size=1, max_size=30))
def test_quantiles_and_moments_are_those_of_numpy(numbers):
    found = spread(Counter(numbers))
    assert [found.quantiles[q] for q in QUANTILES] == pytest.approx(np.quantile(numbers, QUANTILES))
    assert found.mean == pytest.approx(np.mean(numbers))
    assert found.std == pytest.approx(np.std(numbers, ddof=1) if len(numbers) > 1 else 0)
    assert (found.low, found.high, found.median) == (min(numbers), max(numbers), np.median(numbers))


def test_the_spread_of_nothing():
    found = spread(Counter())
    assert (found.n, found.mean, found.median, found.quantiles) == (0, None, None, {})


def test_a_thread():
    tally = DiversityTally(seed=1, window=3)
    tally.take_thread(THREAD)
    tally.take_thread(Thread("empty", ()))
    found = tally.diversity()
    assert found.texts == 4
    assert (found.characters.low, found.characters.high) == (5, 28)
    assert found.words.mean == pytest.approx((5 + 3 + 1 + 1) / 4)
    assert (found.per_author.n, found.per_author.mean) == (3, pytest.approx(4 / 3))
    assert (found.texts_per_thread.n, found.texts_per_thread.mean, found.authors_per_thread.mean) == (1, 4, 3)
    assert found.depths == {0: 1, 1: 2, 2: 1}
    assert found.trees["nodes"] == 4
    assert found.trees["children_per_reply_histogram"] == {"0": 2, "1": 1}
    # me me me | keys keys: who else forgets their keys me never = 7 types of 10 words
    assert (found.richness.words, found.richness.types) == (10, 7)
    assert found.richness.type_token_ratio == pytest.approx(0.7)
    assert found.likeness.authors == 3


def test_single_texts_have_no_threads():
    tally = DiversityTally(seed=1)
    tally.take_text("keys", "tilda")
    found = tally.diversity()
    assert (found.texts, found.trees, found.depths, found.texts_per_thread.n) == (1, {}, {}, 0)


def test_a_corpus_of_nothing():
    found = DiversityTally(seed=1).diversity()
    assert (found.texts, found.richness.mattr, found.likeness.value) == (0, None, None)
    assert found.richness.distinct == {1: None, 2: None, 3: None}


def test_distinct_by_hand():
    tally = RichnessTally(window=2)
    tally.take(["a", "b", "a", "b"])
    tally.take(["a", "b"])
    found = tally.richness()
    assert found.distinct == {1: 2 / 6, 2: 2 / 4, 3: 2 / 2}
    assert found.is_exact


def test_the_window_moves_on_from_text_to_text_and_sees_every_word():
    tally = RichnessTally(window=2)
    tally.take(["a", "a"])
    tally.take(["b"])
    assert tally.richness().mattr == pytest.approx((1 / 2 + 2 / 2) / 2)


def test_mattr_by_hand():
    # windows of three of a b a a c: 2, 2, 2 types of 3
    one = Mattr(3)
    for word in "abaac":
        one.add(word)
    assert one.value() == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 3)
    assert Mattr(3).value() is None


@given(some.text(alphabet="abcd", max_size=40), some.integers(1, 6))
def test_mattr_by_its_definition(words, window):
    one = Mattr(window)
    for word in words:
        one.add(word)
    windows = [words[i : i + window] for i in range(len(words) - window + 1)]
    expected = np.mean([len(set(each)) / window for each in windows]) if windows else None
    assert one.value() == (None if expected is None else pytest.approx(expected))


def test_different_things_are_counted_exactly_up_to_the_bound_and_nearly_beyond():
    few, many = Distinct(1000), Distinct(1000)
    for number in range(1500):
        few.add(str(number % 900))
    assert (few.count(), few.is_exact) == (900, True)
    for number in range(50_000):
        many.add(str(number % 20_000))
    assert not many.is_exact
    assert many.count() == pytest.approx(20_000, rel=0.1)
    assert len(many._hashes) <= 2000


@pytest.mark.parametrize(
    "make", [lambda: Distinct(1), lambda: Mattr(0), lambda: LikenessTally(seed=1, size=1)]
)
def test_impossible_bounds_are_refused(make):
    with pytest.raises(ValueError):
        make()


WORDS = ["goat", "bus", "keys", "rain", "soup", "never", "always", "tin"]
some_texts = some.lists(some.lists(some.sampled_from(WORDS), min_size=1, max_size=6), min_size=2, max_size=8)


@given(some_texts)
def test_the_mean_cosine_is_that_of_all_pairs_by_scikit_learn(texts):
    vectors = TfidfVectorizer(analyzer=lambda text: text).fit_transform(texts).toarray()
    pairs = [float(vectors[i] @ vectors[j]) for i, j in combinations(range(len(texts)), 2)]
    found = likeness(texts, range(len(texts)))
    assert found.value == pytest.approx(np.mean(pairs), abs=1e-9)
    assert found.low <= found.value + 1e-12
    assert found.high >= found.value - 1e-12


def test_ends_of_likeness():
    assert likeness([["a"], ["b"]], [1, 2]).value == 0
    same = likeness([["a", "b"]] * 3, [1, 2, 3])
    assert (same.value, same.low, same.high) == (pytest.approx(1), pytest.approx(1), pytest.approx(1))
    assert likeness([["a"]], [1]).words == TOO_FEW
    one = likeness([["a"], ["a"]], [1, 1])
    assert (one.value, one.low, one.words) == (pytest.approx(1), None, ONE_AUTHOR)
    with pytest.raises(ValueError, match="2 texts but 1 authors"):
        likeness([["a"], ["b"]], [1])


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng = random.Random(5)
    weights = [1 / (place + 1) for place in range(40)]

    def corpus(n):
        return [rng.choices(range(40), weights, k=8) for _ in range(n)]

    truth = likeness([list(map(str, text)) for text in corpus(4000)], range(4000)).value
    held = 0
    for _ in range(150):
        found = likeness([list(map(str, text)) for text in corpus(80)], range(80))
        held += found.low <= truth <= found.high
    assert held >= 0.86 * 150


def test_texts_of_one_author_count_as_one_cluster():
    rng = random.Random(3)
    texts, authors = [], []
    for author in range(12):
        favourite = rng.sample(WORDS, 2)
        for _ in range(6):
            texts.append(rng.choices(favourite, k=4))
            authors.append(author)
    by_author, by_text = likeness(texts, authors), likeness(texts, range(len(texts)))
    assert by_author.high - by_author.low > 1.3 * (by_text.high - by_text.low)


def test_the_sample_is_seeded_and_even():
    def drawn(seed):
        tally = LikenessTally(seed=seed, size=10)
        for number in range(100):
            tally.take([str(number)], number)
        return sorted(int(author) for _, author in tally._kept)

    assert drawn(1) == drawn(1) != drawn(2)
    means = [np.mean(drawn(seed)) for seed in range(300)]
    assert np.mean(means) == pytest.approx(49.5, abs=2.5)


def test_a_table_by_hand():
    found = table({"b": 1, "a": 1, "c": 2, "d": 0}, missing=3)
    assert [(one.name, one.count, one.share) for one in found.groups] == [
        ("c", 2, 0.5),
        ("a", 1, 0.25),
        ("b", 1, 0.25),
    ]
    assert (found.n, found.missing) == (4, 3)
    assert found.entropy == pytest.approx(1.5)
    assert found.evenness == pytest.approx(1.5 / log2(3))
    assert found.simpson == pytest.approx(1 - 2 / 12)
    assert found.effective == pytest.approx(2**1.5)
    assert found.groups[0].interval.low < 0.5 < found.groups[0].interval.high


def test_tables_of_one_group_and_of_none():
    one = table({"a": 5})
    assert (one.entropy, one.evenness, one.simpson, one.effective) == (0, None, 0, 1)
    assert table({"a": 1}).simpson is None
    none = table({}, missing=2)
    assert (none.n, none.missing, none.groups, none.entropy) == (0, 2, (), None)
    with pytest.raises(ValueError):
        table({"a": -1})


def test_tables_of_profiles():
    profiles = [
        {"age": 22, "sex": "female", "city_country": "Graz, Austria", "birth_city_country": "Oslo, Norway"},
        {"age": 71, "sex": "male", "city_country": "Wien, Austria", "birth_city_country": "Graz, Austria"},
        {"sex": "female"},
    ]
    found = profile_tables(profiles)
    assert [(one.name, one.count) for one in found["sex"].groups] == [("female", 2), ("male", 1)]
    assert (found["age"].n, found["age"].missing) == (2, 1)
    assert [(one.name, one.count) for one in found["city_country"].groups] == [("Austria", 2)]
    born = birthplace_countries(profiles)
    assert ([one.name for one in born.groups], born.missing) == (["Austria", "Norway"], 1)
    assert overlap(profiles)["pairs"] == 3


def test_tables_of_topics():
    found = topic_tables(
        [("age", ["/r/Tea ", "/r/tea", "/r/Rain"]), ("age", ["/r/tea"]), ("age", []), ("sex", [])]
    )
    assert [(one.name, one.count) for one in found["age"].groups] == [("/r/tea", 2), ("/r/rain", 1)]
    assert (found["age"].missing, found["sex"].n, found["sex"].missing) == (1, 0, 1)


published = pytest.mark.published


@pytest.fixture(scope="module")
def expected():
    return json.loads((FOLDER / "expected.json").read_text())


@published
@needs_published_data
def test_table_1_of_the_published_comments(expected):
    tally = DiversityTally(seed=1)
    for row in read_rows(FOLDER / "labels" / "comments_eval.jsonl.gz"):
        for text in row.comments:
            tally.take_text(text, row.username)
    found, wanted = tally.diversity(), expected["comments"]
    for mine, theirs in ((found.characters, "length_chars"), (found.per_author, "per_profile")):
        numbers = {
            "n": mine.n,
            "mean": mine.mean,
            "std": mine.std,
            "median": mine.median,
            "min": mine.low,
            "max": mine.high,
        }
        assert numbers == pytest.approx(wanted[theirs], abs=1e-9)
    assert found.texts == wanted["n_comments_eval"]
    assert found.richness.is_exact
    assert found.likeness.low < found.likeness.value < found.likeness.high


@published
@needs_published_data
def test_the_published_trees(expected):
    tally = DiversityTally(seed=1)
    for path in sorted((FOLDER / "threads").iterdir()):
        for thread in read_thread(path):
            tally.take_thread(thread)
    found, wanted = tally.diversity(), expected["threads"]
    assert {str(depth): count for depth, count in found.depths.items()} == wanted["depth_histogram"]
    for mine, theirs in (
        (found.texts_per_thread, "nodes_per_thread"),
        (found.authors_per_thread, "authors_per_thread"),
    ):
        numbers = {
            "n": mine.n,
            "mean": mine.mean,
            "std": mine.std,
            "median": mine.median,
            "min": mine.low,
            "max": mine.high,
        }
        assert numbers == pytest.approx(wanted[theirs], abs=1e-9)
    for name in set(found.trees) & set(wanted) - {"root_authors"}:
        assert found.trees[name] == pytest.approx(wanted[name], abs=1e-9), name


@published
@needs_published_data
def test_the_published_profiles_and_topics(expected):
    profiles = [one.fields for one in read_facts(FOLDER / "profiles.json.gz")]
    tables, wanted = profile_tables(profiles), expected["profiles"]
    for key in ("sex", "income_level"):
        assert {one.name: one.count for one in tables[key].groups} == wanted[key]
    together = dict(wanted["relationship_status"])
    together["in a relationship"] += together.pop("in relationship")
    assert {one.name: one.count for one in tables["relationship_status"].groups} == together
    assert all(one.n + one.missing == 300 for one in tables.values())
    assert len(birthplace_countries(profiles).groups) == wanted["countries"]["birth_city_country"]
    assert overlap(profiles)["counts"] == expected["fig3_profile_overlap"]["counts"]
    threads = [
        (one.thread.removeprefix("thread_").rpartition("_")[0], one.topics)
        for one in read_assignments(FOLDER / "topic_to_thread.jsonl")
    ]
    topics, given_ = topic_tables(threads), expected["topics"]["topic_to_thread"]
    assert {target: len(one.groups) for target, one in topics.items()} == given_["unique_per_target"]
    for target, top in given_["top3_per_target"].items():
        counts = sorted((one.count for one in topics[target].groups), reverse=True)
        assert counts[:3] == [count for _, count in top]
