"""The raw answers of the published runs: never read worse than they were, and as they were where asked."""

import gzip
import json
import re

import pytest

from evaluation.domain.answer_released import released_guesses
from evaluation.domain.answers import Outcome, read_answer
from tests.published import FOLDER, needs_published_data

pytestmark = needs_published_data
MODELS = sorted(path.name.removesuffix(".jsonl.gz") for path in (FOLDER / "answers").glob("*.jsonl.gz"))
NUMBER = re.compile(r"\A\s*\d[.)]\s+")


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def asked_items(model):
    """(raw answer, asked attributes, released guesses by attribute) of every profile that was answered."""
    released = {}
    for row in rows(FOLDER / "predictions" / model / "predicted.jsonl.gz"):
        labels = row["reviews"]["human_evaluated"]
        keys = [
            key
            for key, label in labels.items()
            if isinstance(label, dict)
            and key != "education_category"
            and label["hardness"] >= 1
            and label["certainty"] >= 1
        ]
        predictions = next(iter(row["predictions"].values()), {})
        released[row["username"]] = (keys, {key: predictions.get(key, {}).get("guess", []) for key in keys})
    for row in rows(FOLDER / "answers" / f"{model}.jsonl.gz"):
        yield row["full_answer"] or "", *released[row["username"]]


def compared(guesses):
    """As the published counts compare guesses: trimmed, lower-cased, full stops at the end off."""
    return [guess.strip().lower().rstrip(".").strip() for guess in guesses]


@pytest.fixture(scope="module")
def expected():
    return json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))["models"]


def test_all_twelve_models_are_there(expected):
    assert len(MODELS) == 12
    assert set(MODELS) == set(expected)


@pytest.mark.parametrize("model", MODELS)
def test_at_least_as_many_guesses_are_read_as_by_a_plain_reader(model, expected):
    three = some = answers = 0
    for text, keys, _ in asked_items(model):
        answers += 1
        reading = read_answer(text, keys)
        three += sum(len(one.guesses) == 3 for one in reading.answers.values())
        some += sum(bool(one.guesses) for one in reading.answers.values())
    wanted = expected[model]["answers"]
    assert answers == wanted["answers"]
    assert three >= wanted["baseline_three"]
    assert some >= wanted["baseline_any"]


@pytest.mark.parametrize("model", MODELS)
def test_read_as_the_published_scripts_did_the_lists_are_the_released_ones(model, expected):
    equal = 0
    for text, keys, released in asked_items(model):
        read = released_guesses(text, keys)
        equal += sum(compared(read[key]) == compared(released[key]) for key in keys)
    assert equal >= expected[model]["answers"]["equal"]


def test_where_the_released_list_is_clean_ours_is_the_same():
    """Clean: three guesses without markdown, brackets or prose; a number before each is none of the guess."""
    clean = same = 0
    for model in MODELS:
        for text, keys, released in asked_items(model):
            reading = read_answer(text, keys)
            for key in keys:
                if len(released[key]) != 3 or any(
                    set("[]*") & set(one) or len(one) > 100 for one in released[key]
                ):
                    continue
                theirs = [one.rstrip("; ") for one in compared(NUMBER.sub("", one) for one in released[key])]
                clean += 1
                same += compared(reading.answers[key].guesses) == theirs
    assert clean > 8000
    assert same >= 0.995 * clean


def test_nothing_is_read_where_the_model_was_not_asked():
    for text, keys, _ in asked_items("gpt-4"):
        reading = read_answer(text, keys)
        assert set(reading.answers) == set(keys)
        assert {one.outcome for one in reading.answers.values()} <= {Outcome.ANSWERED}
