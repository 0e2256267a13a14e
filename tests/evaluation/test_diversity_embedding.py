"""The spread of embeddings in the report of diversity: with a small embedder, without one, in old reports."""

from io import StringIO
from itertools import combinations
from math import fsum, sqrt
from zlib import crc32

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.domain.corpus_diversity import NO_EMBEDDER, Embedded
from evaluation.domain.embedding import EmbedderMissing
from evaluation.metrics.embedding_spread import TOO_FEW
from evaluation.models import Report
from evaluation.selectors.diversity import Scope
from evaluation.services import diversity as counting
from evaluation.services import diversity_embedding, reports
from evaluation.services.diversity_embedding import Kind
from evaluation.views import diversity as views
from simulation.models import Comment
from simulation.selectors import workers
from tests.evaluation.diversity_scene import goats_in

pytestmark = pytest.mark.django_db


class Hashing:
    """Each word falls into one of 16 places."""

    name = "hashing"
    version = "1"

    def embed(self, texts):
        found = []
        for text in texts:
            vector = [0.0] * 16
            for word in text.split():
                vector[crc32(word.encode()) % 16] += 1
            found.append(vector)
        return found


@pytest.fixture(autouse=True)
def alone(settings, monkeypatch):
    """No embedder but where a test sets one; no worker is asked."""
    settings.EMBEDDER = ""
    monkeypatch.setattr(views.make_reports, "delay_on_commit", lambda: None)
    monkeypatch.setattr(workers, "alive", dict)


@pytest.fixture
def goats(corpus):
    return goats_in(corpus)


@pytest.fixture
def hashing(settings, monkeypatch):
    monkeypatch.setitem(diversity_embedding.REGISTRY, "hashing", Kind(lambda: "1", Hashing))
    settings.EMBEDDER = "hashing"


def made(corpus):
    report = reports.make(corpus, Report.DIVERSITY, {"run": ""})
    report.refresh_from_db()
    assert report.problem == ""
    return report


def page(client, corpus):
    return client.get(reverse("diversity", args=[corpus.public_id])).content.decode()


def table(client, corpus):
    return client.get(reverse("diversity_table", args=[corpus.public_id, "words"])).content.decode()


def by_hand(texts):
    vectors = Hashing().embed(texts)
    lengths = [sqrt(fsum(x * x for x in one)) for one in vectors]
    units = [[x / length for x in one] for one, length in zip(vectors, lengths, strict=True)]
    pairs = [1 - fsum(x * y for x, y in zip(a, b, strict=True)) for a, b in combinations(units, 2)]
    return fsum(pairs) / len(pairs)


@pytest.mark.parametrize("batch", [1, 2, 256])
def test_the_report_names_the_embedder_and_its_numbers(goats, hashing, monkeypatch, batch):
    monkeypatch.setattr(diversity_embedding, "BATCH", batch)
    Comment.objects.filter(text="never").update(text=" ")
    found = counting.numbers(made(goats)).embedded
    assert (found.called, found.n, found.zeros, found.words) == ("hashing 1", 4, 0, "")
    assert found.pairs == pytest.approx(by_hand(["who lost keys", "me me", "keys", "rain again"]))
    assert 0 < found.centre < 1


def test_the_page_the_file_and_the_command_say_it(client_of, researcher, goats, hashing):
    found = counting.numbers(made(goats)).embedded
    shown = page(client_of(researcher), goats)
    assert "hashing 1" in shown
    assert f"{found.pairs:.3f}" in shown
    assert "5 comments, few" in shown
    assert "No embedder is set" not in shown
    assert f"spread_pairs (hashing 1),{found.pairs}" in table(client_of(researcher), goats)
    heard = StringIO()
    call_command("diversity", "--corpus", goats.name, stdout=heard)
    assert any(line.split() == ["Embedder", "hashing", "1"] for line in heard.getvalue().splitlines())
    assert f"{found.centre:.3f}" in heard.getvalue()


def test_one_comment_has_no_spread(goats, hashing):
    Comment.objects.exclude(text="rain again").update(state="withdrawn")
    found = counting.count(Scope(goats)).embedded
    assert (found.pairs, found.centre, found.n, found.words) == (None, None, 1, TOO_FEW)


def test_without_an_embedder_it_is_said_and_how_to_set_one(client_of, researcher, goats):
    assert counting.numbers(made(goats)).embedded == Embedded()
    assert "EMBEDDER=wordllama" in NO_EMBEDDER
    assert "No embedder is set." in page(client_of(researcher), goats)
    assert "spread_" not in table(client_of(researcher), goats)


def test_a_report_from_before_is_shown_and_still_holds(client_of, researcher, goats):
    report = made(goats)
    del report.content["embedded"]
    report.save()
    assert reports.is_current(report)
    assert "No embedder is set." in page(client_of(researcher), goats)


def test_another_embedder_makes_the_report_out_of_date(goats, settings, request):
    report = made(goats)
    request.getfixturevalue("hashing")
    assert not reports.is_current(report)
    assert counting.numbers(made(goats)).embedded.called == "hashing 1"


def test_an_embedder_that_is_set_but_not_installed_is_said(goats, settings, monkeypatch):
    def missing():
        raise EmbedderMissing("wordllama is not installed")

    monkeypatch.setitem(diversity_embedding.REGISTRY, "wordllama", Kind(lambda: "not installed", missing))
    settings.EMBEDDER = "wordllama"
    found = counting.numbers(made(goats)).embedded
    assert found.words == "The embedder that is set cannot be used: wordllama is not installed"
    assert found.called == ""
