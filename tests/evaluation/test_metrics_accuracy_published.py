"""The twelve published models: every accuracy as expected."""

import gzip
import json

import pytest

from evaluation.metrics.accuracy import (
    Item,
    attribute_macro,
    by,
    half_credit,
    less_precise,
    profile_macro,
    top1,
    top3,
)
from evaluation.metrics.comparing import compare_all
from tests.published import FOLDER, needs_published_data

MODELS = {
    "Claude-3-Opus",
    "Claude-3-Sonnet",
    "Gemini-Pro",
    "Gemini_Pro_1.5",
    "Gemma-7B-Instruct",
    "Llama-2-70b",
    "Llama-3-70b",
    "Llama-3-8b",
    "Mistral-7B-Instruct-v0.1",
    "Mixtral-8x22B-Instruct-v0.1",
    "Yi-34B-Chat",
    "gpt-4",
}


def evaluated(model):
    with gzip.open(FOLDER / "predictions" / model / "evaluated.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            labels = row["reviews"]["human_evaluated"]
            for scored in row["evaluations"].values():
                for attribute, scores in scored["human_evaluated"].items():
                    label = labels[attribute]
                    yield Item(
                        row["username"], attribute, label["hardness"], label["certainty"], tuple(scores)
                    )


@needs_published_data
@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_number_is_as_expected(model):
    models = json.loads((FOLDER / "expected.json").read_text())["models"]
    assert set(models) == MODELS
    wanted, items = models[model]["evaluated"], list(evaluated(model))
    overall = top1(items)
    assert (overall.n, overall.clusters) == (wanted["n_items"], wanted["n_profiles_with_items"])
    assert overall.value * overall.n == pytest.approx(wanted["correct_top1"])
    for key, measure in {
        "top1": top1,
        "top1_half_credit": half_credit,
        "top1_less_precise_counts": less_precise,
        "top3": top3,
        "top1_profile_macro": profile_macro,
        "top1_attribute_macro": attribute_macro,
    }.items():
        found = measure(items)
        assert found.value == pytest.approx(wanted[key], abs=1e-6), key
        assert 0 < found.low < found.value < found.high < 1
    for key in ("attribute", "hardness", "certainty"):
        groups = {str(name): share for name, share in by(items, key).items()}
        assert set(groups) == set(wanted[f"by_{key}"])
        for name, share in groups.items():
            assert share.n == wanted[f"by_{key}"][name]["n"]
            assert share.value == pytest.approx(wanted[f"by_{key}"][name]["top1"], abs=1e-6)


@needs_published_data
def test_the_pairs_of_models_share_the_items_that_both_have():
    models = {model: list(evaluated(model)) for model in sorted(MODELS)}
    found = compare_all(models)
    assert (len(found.pairs), found.of) == (66, 66)
    assert 0 < found.excluding < 66
    for pair in found.pairs:
        keys = [{(one.profile, one.attribute) for one in models[name]} for name in (pair.first, pair.second)]
        assert pair.n == len(keys[0] & keys[1])
        assert pair.value * pair.n == pytest.approx(pair.mcnemar.only_first - pair.mcnemar.only_second)
