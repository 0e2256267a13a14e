"""The adapter to Presidio, with a stand-in that has its documented interface."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from evaluation.domain.masking import Category, Span, Style, mask
from evaluation.domain.masking_presidio import (
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
    with pytest.raises(MaskerMissing, match=r"pip install '\.\[presidio\]'"):
        engine()


@pytest.fixture
def heard(monkeypatch):
    """Stand-ins of what Presidio brings along: what they were told, in order."""
    told = []

    def extractor(**given):
        told.append(("suffixes", given))
        return "offline"

    suffixes = SimpleNamespace(TLD_EXTRACTOR="asks the network", TLDExtract=extractor)
    spacy = SimpleNamespace(is_package=lambda name: name == "en_core_web_sm")

    def provider(*, nlp_configuration):
        told.append(("model", nlp_configuration["models"][0]["model_name"]))
        return SimpleNamespace(create_engine=lambda: "nlp")

    def analyzer(**given):
        told.append(("engine", suffixes.TLD_EXTRACTOR, given))
        return StandIn([])

    engines = SimpleNamespace(NlpEngineProvider=provider)
    presidio = SimpleNamespace(AnalyzerEngine=analyzer, nlp_engine=engines)
    for name, module in {
        "tldextract": SimpleNamespace(tldextract=suffixes),
        "tldextract.tldextract": suffixes,
        "spacy": SimpleNamespace(util=spacy),
        "spacy.util": spacy,
        "presidio_analyzer": presidio,
        "presidio_analyzer.nlp_engine": engines,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    return told


def test_the_best_model_that_is_installed_is_taken_and_nothing_is_fetched(heard):
    assert isinstance(engine(), StandIn)
    assert heard == [
        ("suffixes", {"cache_dir": None, "suffix_list_urls": ()}),
        ("model", "en_core_web_sm"),
        ("engine", "offline", {"nlp_engine": "nlp", "supported_languages": ["en"]}),
    ]


def test_a_language_model_that_is_not_there_is_not_fetched(heard, monkeypatch):
    monkeypatch.setattr(sys.modules["spacy.util"], "is_package", lambda name: False)
    with pytest.raises(MaskerMissing, match="no language model"):
        engine()
    assert [what for what, *_ in heard] == ["suffixes"], "no engine was made, which would have fetched it"


@pytest.mark.parametrize("error", [OSError, SystemExit])
def test_an_engine_that_does_not_load_says_how_to_install_it(heard, monkeypatch, error):
    def broken(**_):
        raise error("no model")

    monkeypatch.setattr(sys.modules["presidio_analyzer"], "AnalyzerEngine", broken)
    with pytest.raises(MaskerMissing, match="no language model"):
        engine()


def test_the_version_is_that_of_the_package():
    assert installed_version() == "unknown" or installed_version()[0].isdigit()


def test_the_real_engine_finds_a_name_and_a_place():
    """With the extra installed; else skipped."""
    pytest.importorskip("presidio_analyzer", reason="pip install '.[presidio]'")
    found = PresidioMasker(engine()).spans("I am Anna Keller from Zurich.")
    assert {one.category for one in found} >= {Category.PERSON, Category.LOCATION}
