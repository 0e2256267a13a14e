"""Texts as vectors: what an embedder is, and WordLlama as one, an optional extra that needs no network.

WordLlama's interface as documented (0.4.0): `WordLlama.load(cache_dir=, disable_download=)` gives a model,
whose `embed(texts, batch_size=, return_np=False)` gives a list of numbers for each text. The package carries
its default model (l2_supercat, 256 numbers a text, 16 MB) and the tokenizer of it, which `load()` alone does
not find: it looks for a folder `tokenizer` where there is `tokenizers`, and would download. The package's own
folder as the cache leads it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

PACKAGE = "wordllama"
INSTALL = "pip install '.[embedder]'"
AT_ONCE = 8
"""Texts that the model reads at once: it fills all up to the longest, so many would take memory."""


class EmbedderMissing(Exception):
    """The package or its model is not installed; the message says how to install it."""


class Embedder(Protocol):
    """Turns texts into vectors. The same name and version give the same vectors for the same texts."""

    @property
    def name(self) -> str:
        """Stands in the report beside the numbers."""

    @property
    def version(self) -> str:
        """Changes whenever any text may get another vector."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in their order, all of one length; zeros for a text it knows nothing of."""


@cache
def model() -> Any:
    """WordLlama's model of the package, loaded once (a second, some 60 MB); nothing is downloaded.

    Raises EmbedderMissing where the package or its files are not there.
    """
    try:
        package: Any = import_module(PACKAGE)
    except ImportError as error:
        raise EmbedderMissing(f"{PACKAGE} is not installed: {INSTALL}") from error
    try:
        return package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
    except OSError as error:
        raise EmbedderMissing(f"{PACKAGE} is installed without its model: {INSTALL}") from error


def installed_version() -> str:
    """Version of the installed package; "not installed" where it is not there."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "not installed"


@dataclass(frozen=True)
class WordLlamaEmbedder:
    """An embedder with WordLlama's model: a text is the mean of the vectors of its tokens."""

    model: Any
    name: str = PACKAGE
    version: str = field(default_factory=installed_version)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """256 numbers for each text; zeros for an empty one."""
        if not texts:
            return []
        found: list[list[float]] = self.model.embed(list(texts), batch_size=AT_ONCE, return_np=False)
        return found
