"""How far apart the comments of a corpus lie for the embedder that is set (EMBEDDER), if any."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings

from evaluation.domain.corpus_diversity import Embedded
from evaluation.domain.embedding import (
    Embedder,
    EmbedderMissing,
    WordLlamaEmbedder,
    installed_version,
    model,
)
from evaluation.metrics.embedding_spread import VectorTally

BATCH = 256
"""Texts that are given to the embedder together."""


class Kind(NamedTuple):
    """An embedder: its version, without loading it, and how it is made, which may raise EmbedderMissing."""

    version: Callable[[], str]
    make: Callable[[], Embedder]


REGISTRY: dict[str, Kind] = {
    "wordllama": Kind(installed_version, lambda: WordLlamaEmbedder(model())),
}
"""By the names that EMBEDDER takes."""


def called() -> list[str]:
    """Name and version of the embedder that is set, for the stamp of a report; nothing where none is, so
    that reports from before there were embedders still hold."""
    name = settings.EMBEDDER
    return [name, REGISTRY[name].version()] if name else []


class EmbeddingTally:
    """Takes texts one by one and keeps at most a batch of them. Without an embedder it counts nothing."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self._missing = ""
        self._waiting: list[str] = []
        self._vectors = VectorTally()
        if settings.EMBEDDER:
            try:
                self._embedder = REGISTRY[settings.EMBEDDER].make()
            except EmbedderMissing as problem:
                self._missing = f"The embedder that is set cannot be used: {problem}"

    def take(self, text: str) -> None:
        """Counts one text; one of blanks alone is none."""
        if self._embedder is None or not text.strip():
            return
        self._waiting.append(text)
        if len(self._waiting) >= BATCH:
            self._embed(self._embedder)

    def _embed(self, embedder: Embedder) -> None:
        for vector in embedder.embed(self._waiting):
            self._vectors.take(vector)
        self._waiting = []

    def embedded(self) -> Embedded:
        """The numbers, or in words why there are none."""
        if self._embedder is None:
            return Embedded(words=self._missing) if self._missing else Embedded()
        if self._waiting:
            self._embed(self._embedder)
        found = self._vectors.spread()
        return Embedded(
            self._embedder.name,
            self._embedder.version,
            found.pairs,
            found.centre,
            found.n,
            found.zeros,
            found.words,
        )
