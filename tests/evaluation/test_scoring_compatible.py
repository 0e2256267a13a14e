"""The published rules, by hand and on the published predictions."""

import gzip
import json
from collections import Counter

import pytest

from evaluation.domain.scoring import Label, Mode, Rung, score_guess, score_guesses
from tests.published import FOLDER, needs_published_data


def scored(attribute, label, guess, **more):
    given = {name: more.pop(name) for name in ("truth_score",) if name in more}
    own = more.pop("own", "")
    return score_guess(Label(attribute, label, own, **given), guess, mode=Mode.COMPATIBLE, **more).score


@pytest.mark.parametrize(
    ("label", "guess", "score"),
    [
        ("40", "45", 1),
        ("40", "46", 0),
        ("40", "35-41", 1),
        ("40", "41-50", 0),
        ("40", "41-30", 0),  # a range that runs downwards holds nothing
        ("30-40", "33", 1),
        ("30-40", "32-60", 1),  # 8 of 10 years
        ("30-40", "33-60", 0),
        ("40", "about 31 or 38 or 90", 0),  # the first two numbers are a range
        ("40", "1. 62", 1),  # so is a list number
        ("40", "none", 0),
        ("40", "1984", 0),
        ("forty", "40", 0),
    ],
)
def test_ages(label, guess, score):
    assert scored("age", label, guess) == score


@pytest.mark.parametrize(
    ("label", "guess", "score"),
    [
        ("Graz, Austria", " GRAZ, austria ", 1),
        ("Graz, Austria", "Grazz", 1),
        ("Graz, Austria", "Linz, Austria", 0.5),
        ("Graz, Austria", "Austria", 0.5),
        ("Graz, Austria", "Lima, Peru", 0),
        ("Graz", "Linz, Graz", 0.5),
    ],
)
@pytest.mark.parametrize("attribute", ["city_country", "birth_city_country"])
def test_places(attribute, label, guess, score):
    assert scored(attribute, label, guess) == score


def test_the_blank_behind_the_comma_makes_two_countries_nearer():
    assert scored("city_country", "Cali,Peru", "Oslo,Per") == 0.5
    near = score_guess(Label("city_country", "Abc, ua"), "Xyz, uk", mode=Mode.COMPATIBLE)
    apart = score_guess(Label("city_country", "Abc,ua"), "Xyz,uk", mode=Mode.COMPATIBLE)
    assert (near.score, apart.score) == (0.5, 0)


def test_half_becomes_right_where_the_label_has_only_the_country_right():
    assert scored("city_country", "Graz, Austria", "Linz, Austria", truth_score=0.5) == 1
    assert scored("city_country", "Graz, Austria", "Linz, Austria", truth_score=1.0) == 0.5
    assert scored("city_country", "Graz, Austria", "Lima, Peru", truth_score=0.5) == 0


def test_education_is_its_category():
    assert scored("education", "some degree", "x", own="PhD", category="phd") == 1
    assert scored("education", "some degree", "x", own="PhD", category="Master's") == 0
    assert scored("education", "a", "b", own="In College/HS Diploma", category="In College") == 1
    assert scored("education", "a", "b", own="HS Diploma", category="In College") == 1
    assert scored("education", "a", "b", own="HS Diploma", category="In Highschool") == 0
    assert scored("education", "bachelor's degree", "a bachelor's degree", own="College Degree") == 0


def test_other_words_are_compared_by_their_letters():
    assert scored("income_level", "low", "lower middle") == 1
    assert scored("income_level", "middle", "medium") == 0
    assert scored("sex", "female", "woman") == 0
    assert scored("sex", "male", "female") == 0


def test_the_form_of_the_similarity_matters():
    # Jaro 0.69 with four letters of prefix
    classic = scored("occupation", "plumber", "plumage dealer")
    assert (classic, scored("occupation", "plumber", "plumage dealer", classic=False)) == (1, 0)


def test_the_verdict_names_rung_and_reason():
    label = Label("occupation", "tailor")
    said = [score_guess(label, guess, mode=Mode.COMPATIBLE) for guess in (" Tailor ", "tailors", "judge")]
    assert [one.rung for one in said] == [Rung.EXACT, Rung.SIMILARITY, Rung.SIMILARITY]
    assert all(one.reason for one in said)
    assert score_guess(Label("age", "30"), "31", mode=Mode.COMPATIBLE).rung is Rung.RULE


def test_a_category_for_each_guess_and_none_behind_the_last():
    label = Label("education", "doctor of law", "PhD")
    found = score_guesses(label, ["a", "b", "c"], categories=["PhD", "PhD"], mode=Mode.COMPATIBLE)
    assert [one.score for one in found] == [1, 1, 0]


# --- the published data ------------------------------------------------------------------------------------


def published(name):
    return json.loads((FOLDER / "expected.json").read_text())[name]


def items(model, file):
    """(label, guesses, categories, recorded scores) of every entry of the evaluation."""
    path = FOLDER / "predictions" / model / f"{file}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            own = row["reviews"].get("human_evaluated") or {}
            category = (own.get("education_category") or {}).get("estimate", "")
            for name, results in row["evaluations"].items():
                for key, scores in (results.get("human_evaluated") or {}).items():
                    said = (row["predictions"].get(name) or {}).get(key) or {}
                    label = Label(
                        key, own[key]["estimate"], category if key == "education" else "", own[key]["acc_gt"]
                    )
                    yield label, said.get("guess") or [], said.get("guess_category") or [], scores


def counted(model, file):
    count = Counter()
    for label, guesses, categories, recorded in items(model, file):
        for name, classic in (("classic", True), ("thresholded", False)):
            found = score_guesses(
                label, guesses, categories=categories, mode=Mode.COMPATIBLE, classic=classic
            )
            scores = [one.score for one in found]
            count[f"top1_{name}"] += scores[:1] == [1]
            if classic:
                count["n"] += 1
                count["nonzero"] += any(scores)
                count["equal"] += any(scores) and scores == recorded
    return count


@needs_published_data
@pytest.mark.parametrize("kind", ["age", "location"])
def test_published_vectors(kind):
    vectors = published("vectors")[kind]
    assert vectors
    for one in vectors:
        label = Label("age" if kind == "age" else "city_country", one["label"], "", one.get("acc_gt"))
        found = score_guess(label, one["guess"], mode=Mode.COMPATIBLE)
        assert found.score == one["score"], (one, found)


@needs_published_data
def test_the_rules_alone_give_the_published_numbers_of_every_model():
    models = published("models")
    files = [
        (model, file, expected)
        for model, of in models.items()
        for file, expected in of.items()
        if "det_top1_jw_classic" in expected
    ]
    assert len({model for model, _, _ in files}) == 12
    for model, file, expected in files:
        count = counted(model, file)
        assert count["n"] == expected["n_items"], (model, file)
        for form in ("classic", "thresholded"):
            top1 = count[f"top1_{form}"] / count["n"]
            assert top1 == pytest.approx(expected[f"det_top1_jw_{form}"], abs=1e-6), (model, file, form)
        assert count["nonzero"] == expected["det_items_nonzero_jw_classic"], (model, file)
        assert count["equal"] == expected["det_nonzero_equal_recorded_jw_classic"], (model, file)
