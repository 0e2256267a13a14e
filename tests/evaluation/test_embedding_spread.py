"""The spread of vectors against all pairs by hand, and the adapter to WordLlama with a stand-in."""

import sys
from itertools import combinations
from math import fsum, nan, sqrt
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain import embedding
from evaluation.domain.embedding import AT_ONCE, EmbedderMissing, WordLlamaEmbedder, installed_version
from evaluation.metrics.embedding_spread import TOO_FEW, spread

NUMBERS = st.integers(-50, 50).map(lambda one: one / 4)
VECTORS = st.lists(st.lists(NUMBERS, min_size=3, max_size=3), max_size=12)


@pytest.fixture(autouse=True)
def nothing_loaded():
    embedding.model.cache_clear()
    yield
    embedding.model.cache_clear()


def length(one):
    return sqrt(fsum(x * x for x in one))


def distance(one, other):
    return 1 - fsum(x * y for x, y in zip(one, other, strict=True)) / (length(one) * length(other))


@given(VECTORS)
def test_it_is_the_mean_over_all_pairs(vectors):
    used = [one for one in vectors if any(one)]
    found = spread(vectors)
    assert (found.n, found.zeros) == (len(used), len(vectors) - len(used))
    if len(used) < 2:
        assert (found.pairs, found.centre, found.words) == (None, None, TOO_FEW)
        return
    pairs = [distance(one, other) for one, other in combinations(used, 2)]
    assert found.pairs == pytest.approx(fsum(pairs) / len(pairs), abs=1e-9)
    assert 0 <= found.pairs <= 2
    centre = [fsum(one) for one in zip(*[[x / length(v) for x in v] for v in used], strict=True)]
    if length(centre) > 1e-6:
        to_centre = fsum(distance(one, centre) for one in used) / len(used)
        assert found.centre == pytest.approx(to_centre, abs=1e-9)


@pytest.mark.parametrize(
    ("vectors", "pairs", "centre"),
    [
        ([[1, 0], [5, 0]], 0, 0),
        ([[1, 0], [0, 3]], 1, 1 - sqrt(0.5)),
        ([[1, 0], [-2, 0]], 2, 1),
        ([[1e-200, 0], [0, 1e200]], 1, 1 - sqrt(0.5)),
    ],
)
def test_by_hand(vectors, pairs, centre):
    found = spread(vectors)
    assert (found.pairs, found.centre) == (pytest.approx(pairs), pytest.approx(centre))


@pytest.mark.parametrize("vectors", [[], [[1, 2]], [[0, 0], [0, 0], [1, 0]]])
def test_fewer_than_two_directions_are_said_in_words(vectors):
    assert spread(vectors).pairs is None
    assert spread(vectors).words == TOO_FEW


@pytest.mark.parametrize("vectors", [[[1, 2], [1]], [[0, 0], [1]], [[nan, 1]], [[float("inf")]]])
def test_vectors_that_are_none_are_refused(vectors):
    with pytest.raises(ValueError, match="a vector"):
        spread(vectors)


def test_wordllama_is_asked_for_lists_a_few_at_once(monkeypatch, tmp_path):
    asked = []

    class Model:
        def embed(self, texts, *, batch_size, return_np):
            asked.append((texts, batch_size, return_np))
            return [[float(len(text)), 1.0] for text in texts]

    def load(*, cache_dir, disable_download):
        assert (cache_dir, disable_download) == (tmp_path, True)
        return Model()

    package = SimpleNamespace(WordLlama=SimpleNamespace(load=load), __file__=str(tmp_path / "__init__.py"))
    monkeypatch.setitem(sys.modules, "wordllama", package)
    embedder = WordLlamaEmbedder(embedding.model(), version="0.4")
    assert embedder.embed(("ab", "")) == [[2.0, 1.0], [0.0, 1.0]]
    assert embedder.embed([]) == []
    assert asked == [(["ab", ""], AT_ONCE, False)]


def test_without_the_package_or_its_model_it_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(EmbedderMissing, match=r"not installed: pip install '.\[embedder\]'"):
        embedding.model()

    def load(**_):
        raise FileNotFoundError("weights")

    package = SimpleNamespace(WordLlama=SimpleNamespace(load=load), __file__=str(tmp_path / "__init__.py"))
    monkeypatch.setitem(sys.modules, "wordllama", package)
    with pytest.raises(EmbedderMissing, match="without its model"):
        embedding.model()


def test_the_version_is_that_of_the_package(monkeypatch):
    assert installed_version()
    monkeypatch.setattr(embedding, "PACKAGE", "no-such-package-here")
    assert installed_version() == "not installed"
