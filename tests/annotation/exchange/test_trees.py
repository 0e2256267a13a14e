"""A thread as a tree becomes a thread, its comments and their suggestions."""

import json

import pytest

from annotation.models import AnnotationEvent, Suggestion
from simulation.models import Comment, Corpus, Thread
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import guess, label, node, profile, review

pytestmark = pytest.mark.django_db


def tree():
    inner = node("Gull", node("Tern", guesses=[guess(), guess("age", guesses=[40, 35, 50])]))
    return node("PaperLantern", node("Heron"), inner, guess_feature="age", author="pers0")


def test_a_tree_is_stored_in_its_order_with_ids_by_place(take):
    report = take("thread_age_1.json", tree())
    assert report.ok
    assert counts(report) == (4, 0, 0, 0)
    assert counts(report, "threads") == (1, 0, 0, 0)
    assert counts(report, "suggestions") == (2, 0, 0, 0)
    thread = Thread.objects.get()
    assert (thread.external_id, thread.source, thread.target_phrase) == ("thread_age_1", "tree", "age")
    stored = Comment.objects.order_by("sequence")
    assert [
        (
            one.external_id,
            one.username,
            one.parent and one.parent.external_id,
            one.depth,
            one.position,
            one.sequence,
        )
        for one in stored
    ] == [
        ("thread_age_1/0", "PaperLantern", None, 0, 0, 0),
        ("thread_age_1/0.0", "Heron", "thread_age_1/0", 1, 0, 1),
        ("thread_age_1/0.1", "Gull", "thread_age_1/0", 1, 1, 2),
        ("thread_age_1/0.1.0", "Tern", "thread_age_1/0.1", 2, 0, 3),
    ]


def test_text_is_trimmed_and_what_stood_around_it_is_kept(take):
    take("t.json", node(text="\t Rain. \n", guess_feature="age"))
    stored = Comment.objects.get()
    assert (stored.text, stored.extra) == ("Rain.", {"around": ["\t ", " \n"]})


def test_suggestions_keep_what_the_tagger_said(take):
    take("thread_age_1.json", tree())
    occupation, age = Suggestion.objects.order_by("position")
    assert (occupation.tagger, occupation.hardness_word, occupation.hardness) == ("imported", "indirect", 2)
    assert (occupation.certainty, occupation.model_eval) == (4, [0, 1, 0.5])
    assert (age.guesses, age.position) == ([40, 35, 50], 1)


def test_odd_but_harmless_suggestions_are_kept_as_they_are(take, exported):
    odd = guess(certainty=0, hardness="cryptic", note="x", guesses=["sailor"])
    bare = {"feature": "age", "guesses": ["40"]}
    take("t.json", node(guesses=[odd, bare]))
    stored, second = Suggestion.objects.order_by("position")
    assert (stored.certainty, stored.hardness, stored.hardness_word) == (None, None, "cryptic")
    assert (second.certainty, second.hardness_word, second.model_eval) == (None, "", None)
    assert exported()[0]["guesses"] == [odd, bare]


def test_sequence_numbers_go_on_from_file_to_file(take):
    take("a.json", tree())
    take("b.json", tree())
    assert list(Comment.objects.order_by("pk").values_list("sequence", flat=True)) == list(range(8))


def test_comments_are_linked_to_profiles_by_username(take):
    take("profiles.json", {"p9": profile("Heron")})
    report = take("thread_age_1.json", tree())
    assert Comment.objects.get(profile__external_id="p9").username == "Heron"
    assert report.warnings == (
        "3 comments whose author has no profile in the corpus (import the profiles, then this file again)",
    )
    assert report.ok


def test_profiles_that_come_later_are_linked_when_the_tree_is_imported_again(take):
    take("thread_age_1.json", tree())
    take("profiles.json", {"p9": profile("Heron")})
    assert counts(take("thread_age_1.json", tree())) == (0, 1, 3, 0)
    assert counts(take("thread_age_1.json", tree())) == (0, 0, 4, 0)


def test_a_profile_within_the_tree_is_stored_if_the_corpus_has_none(take, exported):
    root = node("Heron", author="p9", profile=profile("Heron", guess_feature="age"))
    root["children"] = [node("Heron", author="p9", profile=profile("Heron", age=42))]
    report = take("t.json", root)
    assert counts(report, "profiles") == (1, 0, 0, 0)
    assert [one["profile"] for one in exported()] == [root["profile"], root["children"][0]["profile"]]
    assert Thread.objects.get().target_phrase == "age"
    assert counts(take("t.json", root)) == (0, 0, 2, 0)


def test_nothing_of_a_node_is_lost(take, exported):
    root = node(
        "Heron", node("Gull", mood="calm", guess_feature="sex", id="x7"), guesses=None, guess_feature="age"
    )
    take("t.json", root)
    top, reply = Comment.objects.order_by("sequence")
    assert top.extra == {"around": [" ", " "], "guesses": None}
    assert reply.extra["fields"] == {"mood": "calm", "guess_feature": "sex", "id": "x7"}
    assert exported()[1]["mood"] == "calm"
    assert exported()[1]["id"] == "t/0.0"


def test_reviews_in_a_tree_are_taken_too(take, exported):
    root = node(reviews={"human": review(age=label("41", 2, 3))})
    report = take("t.json", root)
    assert counts(report, "labels") == (8, 0, 0, 0)
    assert AnnotationEvent.objects.count() == 1
    assert exported()[0]["reviews"] == root["reviews"]


def test_twice_changes_nothing_not_even_a_row_on_the_disk(take):
    take("thread_age_1.json", tree())
    before = list(Comment.objects.extra(select={"xmin": "xmin::text"}).values("pk", "xmin").order_by("pk"))
    report = take("thread_age_1.json.gz", tree())
    assert counts(report) == (0, 0, 4, 0)
    assert counts(report, "suggestions") == (0, 0, 2, 0)
    assert counts(report, "threads") == (0, 0, 1, 0)
    assert report.files[0].outcome == "unchanged"
    assert before == list(
        Comment.objects.extra(select={"xmin": "xmin::text"}).values("pk", "xmin").order_by("pk")
    )


def test_what_changed_is_brought_up_to_date(take):
    take("thread_age_1.json", tree())
    changed = tree()
    changed["guess_feature"] = "sex"
    changed["children"][0]["text"] = "Sun."
    changed["children"][1]["children"][0]["guesses"] = [guess(certainty=5), guess("sex")]
    report = take("thread_age_1.json", changed)
    assert counts(report) == (0, 1, 3, 0)
    assert counts(report, "threads") == (0, 1, 0, 0)
    assert counts(report, "suggestions") == (1, 2, 0, 0)  # one other, one gone
    assert Comment.objects.get(external_id="thread_age_1/0.0").text == "Sun."
    assert {(one.attribute, one.certainty) for one in Suggestion.objects.all()} == {
        ("occupation", 5),
        ("sex", 4),
    }
    assert counts(take("thread_age_1.json", changed), "suggestions") == (0, 0, 2, 0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"username": None}, "t.json, node 0.0, username: is missing"),
        ({"username": " "}, "t.json, node 0.0, username: is empty; give it a value"),
        ({"username": "x" * 101}, "node 0.0, username: has 101 characters"),
        ({"author": 5}, "node 0.0, author: must be text in quotes, not 5"),
        ({"text": None}, "node 0.0, text: is missing"),
        ({"text": 7}, "node 0.0, text: must be text in quotes, not 7"),
        ({"children": "none"}, 'node 0.0, children: must be a list of comments, not "none"'),
        ({"children": [5]}, "node 0.0.0: must be an object with a comment's fields, not 5"),
        ({"guesses": {}}, "node 0.0, guesses: must be null or a list, not {}"),
        ({"guesses": "none"}, "node 0.0, guesses: must be null or a list"),
        (
            {"guesses": [3]},
            "node 0.0, guesses[0]: must be an object with feature, guesses, hardness, certainty",
        ),
        (
            {"guesses": [guess("mood")]},
            'node 0.0, guesses[0].feature: "mood" is no known attribute; known are age',
        ),
        ({"guesses": [guess(), guess()]}, "guesses[1].feature: “occupation” has been guessed in guesses[0]"),
        (
            {"guesses": [guess(certainty=7)]},
            "guesses[0].certainty: must be a whole number from 0 to 5, not 7",
        ),
        (
            {"guesses": [guess(certainty="4")]},
            'guesses[0].certainty: must be a whole number from 0 to 5, not "4"',
        ),
        ({"guesses": [guess(hardness=2)]}, "guesses[0].hardness: must be a word such as “direct”, not 2"),
        ({"guesses": [guess(hardness="x" * 41)]}, "guesses[0].hardness: has 41 characters"),
        (
            {"guesses": [guess(guesses="a")]},
            'guesses[0].guesses: must be a list of values, best first, not "a"',
        ),
        ({"guesses": [guess(guesses=[{}])]}, "guesses[0].guesses[0]: must be text or a number, not {}"),
        (
            {"guesses": [guess(model_eval=["1"])]},
            'guesses[0].model_eval: must be a list of numbers, not ["1"]',
        ),
        (
            {"guesses": [guess(**{"(not given)": 1})]},
            "guesses[0].(not given): is no possible name",
        ),
        ({"profile": "{"}, "node 0.0, profile: is text that is not JSON"),
        ({"profile": {"age": "4"}}, "node 0.0, profile.age: must be a number without quotes"),
    ],
)
def test_what_is_wrong_is_named_with_the_node_and_nothing_is_stored(take, change, problem):
    report = take("t.json", node("PaperLantern", {**node("Heron"), **change}))
    assert problem in said(report)[0]
    assert report.tallies["comments"].invalid == 1
    assert not Comment.objects.exists()
    assert not Corpus.objects.exists()


def test_all_problems_are_counted_and_a_hundred_shown(take):
    report = take("t.json", node("PaperLantern", *(node(text=5, author=6) for _ in range(80))))
    assert report.problem_count == 160
    assert len(report.problems) == 100
    assert report.tallies["comments"].invalid == 80
    assert "… and 60 more problems, not shown." in list(report.lines())


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"author": "a",\n "text": }', "t.json, line 2: not valid JSON at column 10: Expecting value"),
        ('{"author": "a"} {"author": "b"}', "line 1: not valid JSON at column 17: something follows the end"),
        ('{"author": "\\ud800"}', "line 1, author: holds half of a surrogate pair"),
        (
            '{"text": "x", "children": [{"text": "\\u0000"}]}',
            "line 1, children[0].text: holds a NUL character",
        ),
        (b'{"author": "\xff"}', "line 1: column 13 is not UTF-8 (byte 0xff)"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab", "the .gz file ends too early"),
        ("{}", "node 0, username: is missing"),
    ],
)
def test_a_file_that_is_no_tree_is_named_with_line_and_column(take, content, problem):
    assert problem in said(take("t.json", content))[0]


def test_a_tree_that_is_too_deep_for_its_ids_is_refused(take):
    deep = node()
    for _ in range(100):
        deep = node("Gull", deep)
    assert "the tree is too deep" in said(take("thread.json", deep))[0]


def test_a_thread_that_came_as_rows_is_not_doubled_by_its_tree(take):
    take("rows.jsonl", json.dumps({"id": "a", "thread_id": "t", "username": "Gull", "text": "x"}))
    report = take("t.json", tree())
    assert "thread “t” is in this corpus as rows; a tree would double its comments" in said(report)[0]
    assert Comment.objects.count() == 1
