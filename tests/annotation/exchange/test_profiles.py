"""A file of profiles becomes rows, and only what differs is written."""

import json

import pytest

from annotation.exchange import upsert, upsert_profiles
from simulation.models import Comment, Profile
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import profile, row

pytestmark = pytest.mark.django_db


def test_profiles_are_stored_with_their_facts_as_they_came(take):
    report = take("profiles.json", {"pers1": profile(mood="calm"), "pers2": profile("Gull", age=30)})
    assert report.ok
    assert counts(report, "profiles") == (2, 0, 0, 0)
    stored = Profile.objects.get(external_id="pers1")
    assert stored.username == "PaperLantern"
    assert stored.facts["age"] == 41
    assert stored.facts["income"] == " 24 thousand euros"
    assert stored.style.startswith("Writing style")
    assert stored.extra == {"mood": "calm"}
    assert stored.version == 1


@pytest.mark.parametrize("encode", [json.dumps, lambda value: json.dumps(json.dumps(value))])
def test_a_profile_may_be_encoded_as_text_once_or_twice(take, encode):
    assert take("profiles.json.gz", {"pers1": encode(profile())}).ok
    assert Profile.objects.get().facts["age"] == 41


def test_twice_changes_nothing(take):
    take("profiles.json", {"pers1": profile()})
    assert counts(take("profiles.json", {"pers1": profile()}), "profiles") == (0, 0, 1, 0)
    assert Profile.objects.get().version == 1


def test_a_changed_profile_gets_a_new_version(take):
    take("profiles.json", {"pers1": profile(), "pers2": profile("Gull")})
    report = take("profiles.json", {"pers1": profile(age=42), "pers2": profile("Gull")})
    assert counts(report, "profiles") == (0, 1, 1, 0)
    stored = Profile.objects.get(external_id="pers1")
    assert (stored.facts["age"], stored.version) == (42, 2)


def test_a_profile_without_style_and_username_is_taken_under_its_id(take, exported):
    bare = {"age": 20, "sex": "male"}
    assert take("profiles.json", {"pers7": bare}).ok
    assert Profile.objects.get().username == "pers7"
    take("a.jsonl", [row(author="pers7", username="pers7", profile=None)])
    take("b.jsonl", [row(1, author="pers7", username="pers7", profile=bare)])
    assert [one["profile"] for one in exported()] == [None, bare]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"pers0": profile("Tern"), "pers1": 5},
            "profiles.json, line 1, pers1: must be an object with the author's attributes, not 5",
        ),
        ({"pers1": "{"}, "profiles.json, line 1, pers1: is text that is not JSON"),
        ({"pers1": profile(age="41")}, 'line 1, pers1.age: must be a number without quotes, not "41"'),
        ({"pers1": profile(sex=["female"])}, 'line 1, pers1.sex: must be text or a number, not ["female"]'),
        ({"pers1": profile(style=5)}, "line 1, pers1.style: must be text in quotes, not 5"),
        (
            {"pers1": profile("x" * 101)},
            "line 1, pers1.username: has 101 characters; at most 100 are possible",
        ),
        ({"p" * 101: profile()}, "must have 1 to 100 characters"),
        (
            f'{{"pers1": {json.dumps(profile())},\n"pers2": {json.dumps(profile())}}}',
            "line 2, pers2.username: “PaperLantern” stands in line 1 already",
        ),
        (
            f'{{"pers1": {json.dumps(profile())},\n"pers1": {json.dumps(profile("Gull"))}}}',
            "line 2, pers1: the id stands in line 1 already",
        ),
        ('{"pers1": {"age": 1},\n"pers2": {"age": 2]}', "line 2: not valid JSON at column 19"),
        ('{"pers1": {"age": 1},\n"pers2": {"sex": "\\u0000"}}', "line 2, pers2.sex: holds a NUL character"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(take, content, problem):
    report = take("profiles.json", content)
    assert problem in said(report)[0]
    assert not report.ok
    assert not Profile.objects.exists()


def test_a_username_that_belongs_to_another_profile_of_the_corpus_is_refused(take):
    take("profiles.json", {"pers1": profile()})
    report = take("profiles.json", {"pers2": profile(), "pers3": profile("Gull")})
    assert said(report) == [
        "profiles.json, line 1, pers2.username: “PaperLantern” is pers1 in this corpus;"
        " a username is one author's"
    ]
    assert counts(report, "profiles") == (0, 0, 0, 1)
    assert Profile.objects.count() == 1


def test_an_author_who_has_been_forgotten_meanwhile_is_looked_up_again(take, monkeypatch):
    monkeypatch.setattr(upsert.batches, "__defaults__", (2,))
    monkeypatch.setattr(upsert_profiles, "REMEMBERED", 1)
    rows = [row(0, username="Gull", author="p", profile=None), *(row(number) for number in range(1, 8))]
    rows[1] = row(1, username="Gull", author="p")
    first, second = take("rows.jsonl", rows), take("rows.jsonl", rows)
    assert first.warnings == second.warnings == ()
    assert counts(second) == (0, 0, 8, 0)
    assert Comment.objects.get(external_id="c0").profile.username == "Gull"


def test_authors_that_contradict_each_other_are_refused_the_first_time_too(take):
    rows = [
        row(0, username="A", author="p"),
        row(1, username="B", author="p"),
        row(2, username="B", author="q"),
    ]
    rows[2]["profile"] = rows[1]["profile"]
    rows[1]["profile"] = None
    for _ in range(2):
        (problem,) = said(take("rows.jsonl", rows))
        assert "rows.jsonl, line 2, author: in this corpus p is “A”, and “B” is q" in problem
