"""The classifier of `realism`: folds of whole groups, scores out of fold, the features that tell most.

scikit-learn is imported where it is used: it takes a second and a hundred megabytes, and few processes need
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
WORD = r"(?u)\b\w[\w'’]*\b"


@dataclass(frozen=True)
class Model:
    """`least` texts must hold a feature; at most so many of each kind of feature are kept, the most frequent
    ones; `strength` is the inverse of the regularisation (C)."""

    least: int = 2
    most_words: int = 50_000
    most_characters: int = 100_000
    strength: float = 1.0


class Feature(NamedTuple):
    """A word or two ("word") or three to five characters ("characters"), the texts of each kind that hold it,
    and how much it parts the kinds: its weight times the difference of the means, in log odds."""

    kind: str
    text: str
    synthetic: int
    real: int
    contribution: float


class Leak(RuntimeError):
    """A group is on both sides of a fold."""


class NoFeatures(ValueError):
    """The texts have nothing in common that could be learned."""


def folds_of(kinds: Bools, groups: Ints, folds: int, seed: int) -> Ints:
    """The fold of each text, from 0. Whole groups, both kinds in every fold as evenly as they can be."""
    parts = np.full(kinds.size, -1, dtype=np.int64)
    for kind, shift in ((False, 0), (True, 1)):
        rng = np.random.default_rng((seed, shift))
        names, sizes = np.unique(groups[kinds == kind], return_counts=True)
        order = rng.permutation(names.size)
        order = order[np.argsort(-sizes[order], kind="stable")]
        load = np.zeros(folds)
        count = np.zeros(folds)
        for place in order:
            part = int(np.lexsort((count, load))[0])
            parts[groups == names[place]] = part
            load[part] += sizes[place]
            count[part] += 1
    return parts


def splits(parts: Ints, groups: Ints) -> Iterator[tuple[Ints, Ints]]:
    """(places to fit on, places to score) of each fold. Raises Leak where a group is on both sides."""
    for part in np.unique(parts):
        fit, score = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        if np.intersect1d(groups[fit], groups[score]).size:
            raise Leak("a group is on both sides of a fold")
        yield fit, score


def scores_of(
    texts: Sequence[str], kinds: Bools, groups: Ints, parts: Ints, model: Model, seed: int
) -> Floats:
    """Log odds of "synthetic" for each text by the model that was fitted without its fold.

    Raises Leak, and NoFeatures where the texts that a model is fitted on have no feature in common.
    """
    scores = np.zeros(len(texts))
    for fit, score in splits(parts, groups):
        features = Features(model)
        matrix = features.learn([texts[place] for place in fit])
        classifier = _fitted(matrix, kinds[fit], model, seed)
        scores[score] = classifier.decision_function(features.of([texts[place] for place in score]))
    return scores


class Features:
    """TF-IDF of words and of characters, learned from texts, side by side."""

    def __init__(self, model: Model) -> None:
        vectorizer = import_module("sklearn.feature_extraction.text").TfidfVectorizer
        self._stack = import_module("scipy.sparse").hstack
        self._parts: dict[str, Any] = {
            "word": vectorizer(
                ngram_range=(1, 2),
                token_pattern=WORD,
                min_df=model.least,
                max_features=model.most_words,
                sublinear_tf=True,
            ),
            "characters": vectorizer(
                analyzer="char_wb",
                ngram_range=(3, 5),
                min_df=model.least,
                max_features=model.most_characters,
                sublinear_tf=True,
            ),
        }

    def learn(self, texts: Sequence[str]) -> Any:
        """Learns the features and their weights; the matrix of these texts. Raises NoFeatures."""
        found = []
        for kind, part in list(self._parts.items()):
            try:
                found.append(part.fit_transform(texts))
            except ValueError as error:
                if "vocabulary" not in str(error) and "no terms" not in str(error):
                    raise
                del self._parts[kind]
        if not found:
            raise NoFeatures("no feature stands in enough texts")
        return self._stack(found, format="csr")

    def of(self, texts: Sequence[str]) -> Any:
        """The matrix of other texts by what was learned."""
        return self._stack([part.transform(texts) for part in self._parts.values()], format="csr")

    def names(self) -> list[tuple[str, str]]:
        """Kind and text of every column."""
        return [(kind, str(n)) for kind, part in self._parts.items() for n in part.get_feature_names_out()]


def _fitted(matrix: Any, kinds: Bools, model: Model, seed: int) -> Any:
    classifier = import_module("sklearn.linear_model").LogisticRegression(
        C=model.strength, class_weight="balanced", solver="liblinear", random_state=seed
    )
    return classifier.fit(matrix, kinds)


def telling(
    texts: Sequence[str], kinds: Bools, model: Model, seed: int, most: int
) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """Up to `most` features that speak for "synthetic" and for "real" in a model of all texts.

    Strongest first, of equal ones in order of the alphabet; `contribution` is positive on both sides.
    """
    learned = Features(model)
    features = learned.learn(texts)
    classifier = _fitted(features, kinds, model, seed)
    mean = {kind: np.asarray(features[kinds == kind].mean(axis=0)).ravel() for kind in (True, False)}
    held = {kind: np.asarray((features[kinds == kind] > 0).sum(axis=0)).ravel() for kind in (True, False)}
    contribution = classifier.coef_[0] * (mean[True] - mean[False])
    side = np.sign(classifier.coef_[0])
    names = learned.names()
    found = []
    for sign in (1.0, -1.0):
        places = [place for place in np.flatnonzero(side == sign) if contribution[place] > 0]
        places.sort(key=lambda place: (-round(float(contribution[place]), 12), names[place][1]))
        found.append(
            tuple(
                Feature(
                    names[place][0],
                    names[place][1],
                    int(held[True][place]),
                    int(held[False][place]),
                    float(contribution[place]),
                )
                for place in places[:most]
            )
        )
    return found[0], found[1]
