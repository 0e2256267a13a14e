"""The published sample: what is counted of its comments is what the file itself says."""

import gzip
import json
from collections import Counter

import pytest

from annotation.exchange.dataset import import_paths
from evaluation.selectors import quality_page
from evaluation.services import quality
from simulation.domain.attributes import TARGETS
from simulation.models import Corpus
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db, pytest.mark.published, needs_published_data]


@pytest.fixture
def sample():
    path = FOLDER / "synthpai_sample.jsonl.gz"
    assert import_paths(paths=[path], corpus_name="harbour").ok
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    return rows, quality.Labels().content(Corpus.objects.get(name="harbour"), {"queue": ""})


def reviews(rows):
    """(suggested, review) of every attribute of every comment."""
    for row in rows:
        suggested = {one["feature"] for one in row["guesses"] or []}
        for key in (one.key for one in TARGETS):
            yield key, key in suggested, row["reviews"]["human"][key]


def test_labels_by_attribute_and_hardness_are_those_of_the_file(sample):
    rows, content = sample
    said = Counter(
        (key, review["hardness"])
        for key, _, review in reviews(rows)
        if review["estimate"] and review["hardness"]
    )
    assert sum(said.values()) > 0
    counted = {one.name: one.counts for one in quality_page.comment_counts(content)}
    assert counted == {one.label: [said[one.key, mark] for mark in range(1, 6)] for one in TARGETS}


def test_model_against_person_is_that_of_the_file(sample):
    rows, content = sample
    said = Counter((suggested, bool(review["estimate"])) for _, suggested, review in reviews(rows))
    lines = [line for source in quality_page.sources(content) for line in source.margins]
    with_one = [line for line in lines if line.name == "Suggested"]
    without = [line for line in lines if line.name == "Not suggested"]
    assert sum(line.value + line.left for line in with_one) == said[True, True] > 0
    assert sum(line.value + line.left for line in without) == said[False, True]
    assert sum(line.none + line.untouched for line in without) == said[False, False]
    assert sum(line.none + line.untouched for line in with_one) == said[True, False]
