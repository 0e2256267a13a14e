"""Equal is not the same: a type that changes is a change, and comes back out."""

import pytest

from annotation.exchange.sameness import alike
from annotation.models import Suggestion
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import guess, label, profile, review, row


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (30, 30.0), ({"a": [0]}, {"a": [False]}), ([1, [2.0]], [1, [2]]), ({}, [])]
)
def test_other_types_are_not_the_same(one, other):
    assert not alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [({"a": 1, "b": [2.5, None]}, {"b": [2.5, None], "a": 1}), (-0.0, 0.0), ("x", "x")]
)
def test_order_of_keys_and_the_sign_of_zero_do_not_matter(one, other):
    assert alike(one, other)


@pytest.mark.django_db
def test_a_type_that_changed_is_taken_over_and_comes_back_out(take, exported):
    def rows(number, flag):
        odd = {"estimate": "30", "hardness": number, "certainty": 1}
        return [
            row(
                guesses=[guess(guesses=["x"], model_eval=[number])],
                flag=flag,
                reviews={"human": {"age": odd}},
            )
        ]

    for given in (rows(1, True), rows(1.0, 1)):
        report = take("rows.jsonl", given)
        back = exported()[0]
        assert repr(back["flag"]) == repr(given[0]["flag"])
        assert repr(back["guesses"][0]["model_eval"]) == repr(given[0]["guesses"][0]["model_eval"])
        assert repr(back["reviews"]["human"]["age"]) == repr(given[0]["reviews"]["human"]["age"])
    for kind in ("comments", "suggestions", "annotations"):
        assert counts(report, kind) == (0, 1, 0, 0), kind
    assert [type(one) for one in Suggestion.objects.get().model_eval] == [float]


@pytest.mark.django_db
def test_a_comments_own_profile_keeps_its_types(take, exported):
    rows = [row(0, username="Gull", profile=profile("Gull", age=30)), row(1, author="pers0", username="Gull")]
    rows[1]["profile"] = profile("Gull", age=30.0)
    take("rows.jsonl", rows)
    assert [repr(one["profile"]["age"]) for one in exported()] == ["30", "30.0"]


@pytest.mark.django_db
def test_a_profile_is_not_taken_for_checked_because_true_equals_one(take):
    rows = [row(0, username="Gull", profile=profile("Gull", age=1)), row(1, author="pers0", username="Gull")]
    rows[1]["profile"] = profile("Gull", age=True)
    assert said(take("rows.jsonl", rows)) == [
        "rows.jsonl, line 2, profile.age: must be text or a number, not true"
    ]


@pytest.mark.django_db
def test_the_same_types_are_the_same(take):
    rows = [
        row(guesses=[guess(model_eval=[0, 1.0])], reviews={"human": review(age=label("41", 2, 3))}, flag=2.0)
    ]
    take("rows.jsonl", rows)
    report = take("rows.jsonl", rows)
    assert all(tally.changed == tally.new == 0 for tally in report.tallies.values())
