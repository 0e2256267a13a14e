"""The adapter to Presidio, with a stand-in that has its documented interface."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from evaluation.domain.masking import Category, Span, Style, mask
from evaluation.domain.masking_presidio import (
    LANGUAGE_MODEL,
    MaskerMissing,
    PresidioMasker,
    engine,
    installed_version,
)


@dataclass
class Result:
    entity_type: str
    start: int
    end: int
    score: float


class StandIn:
    def __init__(self, results, supported=("PERSON", "NRP", "US_SSN", "SHOE_SIZE")):
        self.results, self.supported, self.asked = results, supported, []

    def get_supported_entities(self, language):
        return list(self.supported)

    def analyze(self, text, language, entities):
        self.asked.append((text, language, entities))
        return self.results


def test_results_become_spans_of_our_categories():
    stand_in = StandIn(
        [Result("NRP", 10, 16, 0.85), Result("PERSON", 0, 5, 1.3), Result("US_SSN", 17, 20, 0.05)]
    )
    masker = PresidioMasker(stand_in, version="2.2")
    assert masker.spans("Tilda the Danish 123") == [
        Span(0, 5, Category.PERSON, 1.0),
        Span(10, 16, Category.PERSON_TYPE, 0.85),
        Span(17, 20, Category.NUMBER, 0.05),
    ]
    assert stand_in.asked == [("Tilda the Danish 123", "en", ["NRP", "PERSON", "US_SSN"])]
    assert mask("Tilda the Danish 123", masker, style=Style.CATEGORY).text == "<PERSON> the <PERSON_TYPE> 123"


def test_what_has_no_category_or_no_characters_is_left_out():
    results = [Result("SHOE_SIZE", 0, 2, 1), Result("PERSON", 3, 3, 1), Result("PERSON", 2, 9, 1)]
    assert PresidioMasker(StandIn(results)).spans("abcdef") == []


def test_an_empty_text_is_not_sent():
    stand_in = StandIn([])
    assert PresidioMasker(stand_in).spans("  ") == []
    assert stand_in.asked == []


def test_an_engine_that_finds_nothing_of_ours_is_refused():
    with pytest.raises(ValueError, match="language 'xx'"):
        PresidioMasker(StandIn([], supported=("SHOE_SIZE",)), language="xx").spans("abc")


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(MaskerMissing, match="pip install presidio-analyzer"):
        engine()


@pytest.mark.parametrize("error", [OSError, SystemExit])
def test_without_a_language_model_too(monkeypatch, error):
    def broken():
        raise error("no model")

    monkeypatch.setitem(sys.modules, "presidio_analyzer", SimpleNamespace(AnalyzerEngine=broken))
    with pytest.raises(MaskerMissing, match=r"no language model: .*spacy download"):
        engine()


@pytest.fixture
def heard(monkeypatch):
    """Stand-ins of what Presidio brings along: what they were told, in order."""
    told = []

    def extractor(**given):
        told.append(("suffixes", given))
        return "offline"

    suffixes = SimpleNamespace(TLD_EXTRACTOR="asks the network", TLDExtract=extractor)
    spacy = SimpleNamespace(is_package=lambda name: told.append(("model", name)) or name == LANGUAGE_MODEL)

    def made():
        told.append(("engine", suffixes.TLD_EXTRACTOR))
        return StandIn([])

    monkeypatch.setitem(sys.modules, "tldextract", SimpleNamespace(tldextract=suffixes))
    monkeypatch.setitem(sys.modules, "tldextract.tldextract", suffixes)
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(util=spacy))
    monkeypatch.setitem(sys.modules, "spacy.util", spacy)
    monkeypatch.setitem(sys.modules, "presidio_analyzer", SimpleNamespace(AnalyzerEngine=made))
    return told


def test_public_suffixes_are_those_that_are_installed(heard):
    engine()
    assert heard == [
        ("suffixes", {"cache_dir": None, "suffix_list_urls": ()}),
        ("model", "en_core_web_lg"),
        ("engine", "offline"),
    ]


def test_a_language_model_that_is_not_there_is_not_fetched(heard, monkeypatch):
    monkeypatch.setattr(sys.modules["spacy.util"], "is_package", lambda name: False)
    with pytest.raises(MaskerMissing, match="no language model"):
        engine()
    assert [what for what, _ in heard] == ["suffixes"], "no engine was made, which would have fetched it"


def test_with_the_package_its_engine_is_used(monkeypatch):
    made = StandIn([])
    monkeypatch.setitem(sys.modules, "presidio_analyzer", SimpleNamespace(AnalyzerEngine=lambda: made))
    assert PresidioMasker(engine()).engine is made
    assert installed_version() == "unknown" or installed_version()[0].isdigit()
