"""The maskers that there are, by name: what each is, whether it can be used here, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from evaluation.domain.masking import Masker
from evaluation.domain.masking_presidio import INSTALL, PresidioMasker, engine, installed_version
from evaluation.domain.masking_rules import FormsMasker, RulesMasker


@dataclass(frozen=True)
class Kind:
    """One masker. `missing` says what has to be installed first, "" where it can be used; `make` takes the
    language of the corpus and may raise MaskerMissing."""

    name: str
    title: str
    words: str
    version: Callable[[], str]
    make: Callable[[str], Masker]
    missing: Callable[[], str] = lambda: ""

    @property
    def called(self) -> str:
        """Name and version, as the record of a masking has them."""
        return f"{self.name} {self.version()}"


def _presidio_missing() -> str:
    return "" if find_spec("presidio_analyzer") else INSTALL


REGISTRY: Mapping[str, Kind] = {
    one.name: one
    for one in (
        Kind(
            "rules",
            "Rules and word lists",
            "Made for English; needs nothing else, and gives the same answer every time.",
            lambda: RulesMasker().version,
            lambda language: RulesMasker(),
        ),
        Kind(
            "forms",
            "Forms alone",
            "Addresses, telephone numbers, dates, ages, amounts by their form: the least a masker does.",
            lambda: FormsMasker().version,
            lambda language: FormsMasker(),
        ),
        Kind(
            "presidio",
            "Microsoft Presidio",
            "A recogniser of names and patterns, with a language model of its own.",
            installed_version,
            lambda language: PresidioMasker(engine(), language),
            _presidio_missing,
        ),
    )
}
"""A new masker is an entry here."""


def kind_of(called: str) -> Kind | None:
    """The masker of a record such as “rules 1”, whatever its version; None for one that is not known."""
    return REGISTRY.get(called.split(" ")[0])
