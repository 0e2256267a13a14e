"""The twelve published models on one board: every accuracy as expected."""

import json
from functools import cache

import pytest

from evaluation.exchange.released_rows import read_rows
from evaluation.models import ProfileLabel, Scoring, Verdict
from evaluation.services import boards
from tests.evaluation.test_metrics_accuracy_published import MODELS
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory, ScoringFactory
from tests.factories.simulation import CorpusFactory, ProfileFactory
from tests.published import FOLDER, needs_published_data

pytestmark = [pytest.mark.django_db, pytest.mark.published]
NAMES = {
    "top1": "top1",
    "half": "top1_half_credit",
    "less_precise": "top1_less_precise_counts",
    "top3": "top3",
    "profiles": "top1_profile_macro",
    "attributes": "top1_attribute_macro",
}


@cache
def rows_of(model):
    """(author, attribute, hardness, certainty, scores) of a published evaluation."""
    found = []
    for row in read_rows(FOLDER / "predictions" / model / "evaluated.jsonl.gz"):
        marks = row.reviews["human_evaluated"]
        for kinds in row.evaluations.values():
            for attribute, scores in kinds["human_evaluated"].items():
                mark = marks[attribute]
                found.append((row.username, attribute, mark.hardness, mark.certainty, scores))
    return found


def loaded(corpus):
    """All evaluated files as verdicts against one label set."""
    labels = LabelSetFactory(corpus=corpus)
    keys = {row[:4] for model in MODELS for row in rows_of(model)}
    profiles = {
        name: ProfileFactory(corpus=corpus, username=name) for name in sorted({key[0] for key in keys})
    }
    made = ProfileLabel.objects.bulk_create(
        ProfileLabel(
            label_set=labels,
            profile=profiles[name],
            attribute=attribute,
            value="said",
            hardness=hardness,
            certainty=certainty or None,
        )
        for name, attribute, hardness, certainty in sorted(keys)
    )
    known = {(one.profile.username, one.attribute): one for one in made}
    for model in sorted(MODELS):
        run = PredictionRunFactory(corpus=corpus, name=model, model=model)
        scoring = ScoringFactory(prediction_run=run, label_set=labels, mode=Scoring.RECORDED)
        scored = {row[:2]: row[4] for row in rows_of(model)}
        Verdict.objects.bulk_create(
            Verdict(
                scoring=scoring,
                label=label,
                profile=label.profile,
                attribute=label.attribute,
                hardness=label.hardness,
                certainty=label.certainty,
                outcome="answered" if key in scored else Verdict.NOT_ASKED,
                scores=list(scored.get(key, ())),
                rungs=["recorded"] * len(scored.get(key, ())),
            )
            for key, label in known.items()
        )
    return labels


@needs_published_data
def test_a_board_of_the_evaluated_files_has_the_expected_numbers():
    labels = loaded(corpus := CorpusFactory())
    board = boards.count(
        corpus,
        {"label_set": labels.public_id, "mode": "recorded", "min_certainty": 3, "min_hardness": 1},
    )
    expected = json.loads((FOLDER / "expected.json").read_text())["models"]
    assert {one.name for one in board.entries} == MODELS
    for entry in board.entries:
        wanted = expected[entry.name]["evaluated"]
        found = entry.overall["top1"].asked
        assert (found.n, found.clusters) == (wanted["n_items"], wanted["n_profiles_with_items"])
        assert found.right == wanted["correct_top1"]
        for measure, name in NAMES.items():
            assert entry.overall[measure].asked.value == pytest.approx(wanted[name], abs=1e-6), (
                entry.name,
                name,
            )
        for groups, key in (
            (entry.by_attribute, "by_attribute"),
            (entry.by_hardness, "by_hardness"),
            (entry.by_certainty, "by_certainty"),
        ):
            assert set(groups["top1"]) == set(wanted[key])
            for name, cell in groups["top1"].items():
                assert cell.n == wanted[key][name]["n"]
                assert cell.value == pytest.approx(wanted[key][name]["top1"], abs=1e-6)
    assert board.pairs["top1"].of == 66
    assert 0 < board.pairs["top1"].excluding < 66
    values = [one.overall["top1"].asked.value for one in board.entries]
    assert values == sorted(values, reverse=True)
