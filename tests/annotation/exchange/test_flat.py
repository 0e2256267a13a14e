"""Rows of the flat layout become comments with suggestions and labels."""

import json

import pytest

from annotation.models import Annotation, AnnotationEvent, AttributeLabel
from simulation.models import Comment, Profile, Thread
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import EMPTY, guess, label, lines, node, profile, review, row

pytestmark = pytest.mark.django_db


def labels(**fields):
    return {"reviews": {"human": review(**fields)}}


def test_rows_are_stored_with_profiles_threads_suggestions_and_labels(take):
    report = take("rows.jsonl", [row(children=["c1"]), row(1, "c0", guesses=[guess()])])
    assert report.ok
    assert [counts(report, kind)[0] for kind in report.tallies] == [2, 1, 2, 1, 2, 16]
    root, reply = Comment.objects.order_by("sequence")
    assert (reply.parent, reply.depth, reply.position) == (root, 1, 0)
    assert (reply.author, reply.username, reply.profile.external_id) == ("pers1", "Author1", "pers1")
    assert Thread.objects.get().source == "flat"


@pytest.mark.parametrize(
    "encode", [lambda value: value, json.dumps, lambda value: json.dumps(json.dumps(value))]
)
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_the_profile_may_be_an_object_or_text(take, exported, name, encode):
    assert take(name, [row(profile=encode(profile("Author0")))]).ok
    assert Profile.objects.get().facts["age"] == 41
    assert exported()[0]["profile"] == profile("Author0")


def test_an_array_of_rows_and_rows_in_a_file_of_any_name_are_taken_too(take):
    assert counts(take("rows.json", json.dumps([row(), row(1)])))[0] == 2
    assert counts(take("rows.json", lines(row(), row(1))))[2] == 2
    assert counts(take("rows", lines(row())))[2] == 1


def test_children_may_come_before_their_parents(take):
    rows = [row(2, "c1"), row(1, "c0", children=["c2"]), row(0, children=["c1"])]
    assert take("rows.jsonl", rows).ok
    stored = {one.external_id: one for one in Comment.objects.all()}
    assert [(stored[f"c{number}"].depth, stored[f"c{number}"].sequence) for number in range(3)] == [
        (0, 2),
        (1, 1),
        (2, 0),
    ]
    assert stored["c2"].parent == stored["c1"]


@pytest.mark.parametrize("parent", ["gone", "root", ""])
def test_a_parent_that_is_not_there_is_kept_by_name_only(take, exported, parent):
    take("rows.jsonl", [row(1, parent)])
    stored = Comment.objects.get()
    assert (stored.parent, stored.depth) == (None, 0)
    assert exported()[0]["parent_id"] == parent


def test_a_parent_may_have_come_with_an_earlier_file(take):
    take("a.jsonl", [row(0), row(1, "c0", children=["c9", "c2"])])
    take("b.jsonl", [row(2, "c1")])
    reply = Comment.objects.get(external_id="c2")
    assert (reply.parent.external_id, reply.depth, reply.position) == ("c1", 2, 1)
    assert counts(take("b.jsonl", [row(2, "c1")])) == (0, 0, 1, 0)


def test_the_order_of_replies_is_that_of_the_list_of_children(take, exported):
    rows = [row(0, children=["c3", "absent", "c1"]), row(1, "c0"), row(2, "c0"), row(3, "c0")]
    take("rows.jsonl", rows)
    positions = (
        Comment.objects.filter(parent__isnull=False)
        .order_by("position")
        .values_list("external_id", "position")
    )
    assert list(positions) == [("c3", 0), ("c1", 2), ("c2", 3)]
    assert exported()[0]["children"] == ["c3", "absent", "c1", "c2"]


def test_a_child_that_two_rows_list_stands_where_its_own_parent_lists_it(take):
    rows = [row(0, children=["c1", "c2"]), row(1, "c0", children=["c1", "c2"]), row(2, "c1")]
    take("rows.jsonl", rows)
    assert Comment.objects.get(external_id="c2").position == 1
    assert Comment.objects.get(external_id="c1").position == 0


def test_the_phrase_of_the_topic_goes_to_the_thread_and_comes_back(take, exported):
    take("rows.jsonl", [row(profile=profile("Author0", guess_feature="age"))])
    assert Thread.objects.get().target_phrase == "age"
    assert Profile.objects.get().extra == {}
    assert exported()[0]["profile"]["guess_feature"] == "age"


def test_a_row_whose_profile_differs_keeps_its_own(take, exported):
    take("profiles.json", {"pers0": profile("Author0", age=40)})
    rows = [row(), row(1, author="pers0", username="Author0", profile=profile("Author0", age=40))]
    report = take("rows.jsonl", rows)
    assert counts(report, "profiles") == (0, 0, 1, 0)
    assert Profile.objects.get().facts["age"] == 40
    assert [one["profile"]["age"] for one in exported()] == [41, 40]
    assert "profile" in Comment.objects.get(external_id="c0").extra
    assert "profile" not in Comment.objects.get(external_id="c1").extra


def test_an_estimate_with_hardness_is_a_value_an_empty_one_without_is_none(take):
    take("rows.jsonl", [row(**labels(age=label("41", 2, 3)))])
    age = AttributeLabel.objects.get(attribute="age")
    assert (age.state, age.outcome, age.value, age.hardness, age.certainty) == (
        "value",
        "imported",
        "41",
        2,
        3,
    )
    sex = AttributeLabel.objects.get(attribute="sex")
    assert (sex.state, sex.outcome, sex.value, sex.hardness, sex.certainty) == (
        "none",
        "imported",
        "",
        None,
        None,
    )


@pytest.mark.parametrize("given", [label("sailor", 0, 4), label("", 3, 0)])
def test_a_prefill_that_nobody_touched_is_not_a_label(take, exported, given):
    rows = [row(**labels(occupation=given))]
    take("rows.jsonl", rows)
    stored = AttributeLabel.objects.get(attribute="occupation")
    assert (stored.state, stored.value) == ("untouched", given["estimate"])
    assert exported() == rows


def test_the_time_of_a_review_is_that_of_the_source(take):
    take("rows.jsonl", [row()])
    stored = Annotation.objects.get()
    assert (stored.reviewer, stored.person, stored.active_ms) == ("human", None, 3750)
    assert stored.submitted_at.timestamp() == 1712000000.25
    assert stored.extra == {"timestamp": 1712000000.25, "time": 3.75}


def test_events_tell_what_an_import_said(take):
    take("rows.jsonl", [row(**labels(age=label("41", 2, 3)))])
    event = AnnotationEvent.objects.get()
    assert (event.attribute, event.source, event.person, event.old) == ("age", "import", None, None)
    assert event.new == {
        "state": "value",
        "outcome": "imported",
        "value": "41",
        "hardness": 2,
        "certainty": 3,
    }


ODD_ROWS = [
    row(guesses=[]),
    row(guesses=[guess(certainty=0, model_eval=None, mood="x"), guess("sex", hardness=None)]),
    row(reviews=None),
    row(reviews={}),
    row(profile=None),
    row(profile={}),
    row(author=None, children=None),
    row(text="  spaced \n"),
    row(mood="calm", scores=[1, {"a": None}]),
    row(reviews={"human": review(timestamp=7, time=0), "second": review(note="late", age=label("41", 2, 3))}),
    row(reviews={"human": {"age": {"estimate": " 41", "hardness": "3", "certainty": 4.0, "acc_gt": 0.5}}}),
    row(reviews={"human": {"age": {"estimate": 41}, "sex": {}, "education_category": label("PhD", 1, 5)}}),
    row(reviews={"human": {"timestamp": None, "time": "later"}}),
    {key: value for key, value in row().items() if key in ("id", "thread_id", "username", "text")},
]


@pytest.mark.parametrize("one", ODD_ROWS)
def test_odd_rows_come_back_as_they_went_in(take, exported, one):
    assert take("rows.jsonl", [one]).ok
    assert exported() == [one]
    assert counts(take("rows.jsonl", [one])) == (0, 0, 1, 0)


def test_an_attribute_that_is_not_in_the_catalogue_is_kept_with_a_warning(take):
    report = take("rows.jsonl", [row(reviews={"human": {"ocupation": label("sailor", 1, 1)}})])
    assert report.warnings == ("1 reviews.<reviewer>.ocupation is no known attribute; it was kept as it is",)


def test_ages_are_text_in_the_published_layout(take, exported):
    take("rows.jsonl", [row(guesses=[guess("age", guesses=[40, 35, 50])])])
    assert exported()[0]["guesses"][0]["guesses"] == ["40", "35", "50"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None}, "rows.jsonl, line 2, id: is missing"),
        ({"id": 7}, "line 2, id: must be text in quotes, not 7"),
        ({"id": "x" * 201}, "line 2, id: has 201 characters; at most 200 are possible"),
        ({"thread_id": ""}, "line 2, thread_id: is empty"),
        ({"username": None}, "line 2, username: is missing"),
        ({"text": ["x"]}, 'line 2, text: must be text in quotes, not ["x"]'),
        ({"id": "c0"}, "line 2, id: “c0” stands in line 1 already"),
        ({"parent_id": 3}, "line 2, parent_id: must be null or the id of a comment in quotes, not 3"),
        ({"parent_id": "c1"}, "line 2, parent_id: the comment is a reply to itself: c1 → c1"),
        ({"parent_id": "c0", "thread_id": "other"}, "line 2, parent_id: “c0” is in thread “thread_age_1”"),
        ({"children": "c0"}, 'line 2, children: must be a list of ids in quotes, not "c0"'),
        ({"children": [1]}, "line 2, children: must be a list of ids in quotes, not [1]"),
        ({"guesses": [guess("mood")]}, "line 2, guesses[0].feature"),
        ({"profile": 5}, "line 2, profile: must be an object with the author's attributes, not 5"),
        ({"profile": "'age': 4"}, "line 2, profile: is text that is not JSON"),
        ({"profile": profile(age="4")}, "line 2, profile.age: must be a number without quotes"),
        (
            {"profile": profile("Author1", guess_feature="x" * 201)},
            "line 2, profile.guess_feature: has 201 characters",
        ),
        ({"reviews": []}, "line 2, reviews: must be an object, one entry a reviewer, not []"),
        (
            {"reviews": {"": review()}},
            'line 2, reviews: the reviewer\'s name "" must have 1 to 100 characters',
        ),
        (
            {"reviews": {"human": 3}},
            "line 2, reviews.human: must be an object, one entry an attribute, not 3",
        ),
        (
            labels(age="41"),
            "line 2, reviews.human.age: must be an object with estimate, hardness and certainty",
        ),
        (
            labels(age=label("41", 7, 1)),
            "line 2, reviews.human.age.hardness: must be a whole number from 0 to 5, not 7",
        ),
        (
            labels(age=label("41", 1, -1)),
            "line 2, reviews.human.age.certainty: must be a whole number from 0 to 5",
        ),
        (
            labels(age=label("41", 1.5, 1)),
            "reviews.human.age.hardness: must be a whole number from 0 to 5, not 1.5",
        ),
        (
            labels(age=label("41", True, 1)),
            "reviews.human.age.hardness: must be a whole number from 0 to 5, not true",
        ),
        (labels(age=label(["41"], 1, 1)), 'line 2, reviews.human.age.estimate: must be text, not ["41"]'),
        (labels(age=label("x" * 1001, 1, 1)), "reviews.human.age.estimate: has 1001 characters"),
        (labels(timestamp="now"), 'line 2, reviews.human.timestamp: must be seconds since 1970, not "now"'),
        (labels(timestamp=1e300), "line 2, reviews.human.timestamp: must be seconds since 1970"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_field_and_nothing_is_stored(take, change, problem):
    report = take("rows.jsonl", [row(), {**row(1), **change}])
    assert problem in said(report)[0]
    assert report.tallies["comments"].invalid == 1
    assert not Comment.objects.exists()
    assert not Profile.objects.exists()


def test_every_bad_line_is_reported_and_the_good_ones_are_checked_all_the_same(take):
    content = (
        b'{"broken": \n%s[]\n\xff\n{"id": NaN}\n{"id": "\\u0000"}\n' % lines(row(), row(text=5)).encode()
    )
    assert said(take("rows.jsonl", content)) == [
        "rows.jsonl, line 1: not valid JSON at column 11: Expecting value",
        "rows.jsonl, line 3, text: must be text in quotes, not 5",
        "rows.jsonl, line 3, id: “c0” stands in line 2 already; every comment has its own",
        "rows.jsonl, line 4: must be an object with a comment's fields, not []",
        "rows.jsonl, line 5: column 1 is not UTF-8 (byte 0xff); save the file as UTF-8",
        "rows.jsonl, line 6: NaN is not JSON; write null or leave the field out",
        "rows.jsonl, line 7, id: holds a NUL character (\\u0000), which cannot be stored; remove it",
    ]


def test_a_circle_of_parents_is_named_once(take):
    report = take("rows.jsonl", [row(0, "c2"), row(1, "c0"), row(2, "c1"), row(3, "c2")])
    assert said(report) == [
        "rows.jsonl, line 1, parent_id: the comment is a reply to itself: c0 → c2 → c1 → c0;"
        " correct one of these parents"
    ]
    assert report.tallies["comments"].invalid == 3


def test_a_circle_over_comments_of_the_corpus_is_found(take):
    take("a.jsonl", [row(0), row(1, "c0"), row(2, "c1")])
    report = take("b.jsonl", [row(0, "c2")])
    assert "the comment is a reply to itself: c0 → c2 → c1 → c0" in said(report)[0]
    assert Comment.objects.get(external_id="c0").parent is None


def test_a_parent_in_another_thread_of_the_corpus_is_refused(take):
    take("a.jsonl", [row(0)])
    report = take("b.jsonl", [row(1, "c0", thread_id="other")])
    assert "“c0” is in thread “thread_age_1”, this comment in “other”" in said(report)[0]


def test_an_id_that_another_thread_of_the_corpus_has_is_refused(take):
    take("a.jsonl", [row(0)])
    report = take("b.jsonl", [row(0, thread_id="other")])
    assert said(report) == [
        "b.jsonl, line 1, id: “c0” is in another thread of this corpus; correct id or thread_id"
    ]
    assert Thread.objects.count() == 1


def test_a_row_whose_author_and_username_are_two_people_is_refused(take):
    take("profiles.json", {"pers0": profile("Author0"), "pers1": profile("Author1")})
    report = take("rows.jsonl", [row(0, username="Author1", profile=None)])
    assert "in this corpus pers0 is “Author0”, and “Author1” is pers1" in said(report)[0]


def test_rows_for_a_thread_that_came_as_a_tree_are_refused(take):
    take("thread_age_1.json", node())
    assert (
        "is in this corpus as a tree; rows would double its comments" in said(take("rows.jsonl", [row()]))[0]
    )


def test_an_empty_block_of_a_reviewer_is_a_review_all_the_same(take, exported):
    take("rows.jsonl", [row(reviews={"human": {}})])
    assert Annotation.objects.count() == 1
    assert exported()[0]["reviews"] == {"human": {}}


def test_numbers_that_only_look_like_zero_are_kept(take, exported):
    odd = {**EMPTY, "hardness": 0.0}
    take("rows.jsonl", [row(**labels(sex=odd))])
    assert type(exported()[0]["reviews"]["human"]["sex"]["hardness"]) is float
