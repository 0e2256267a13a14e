"""A corpus on its way out: three layouts, people under pseudonyms, some hundred comments at a time."""

import csv
import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.exchange import chunks
from annotation.exchange.export import file_name, record, snapshot, stream
from annotation.exchange.plain import COLUMNS
from annotation.models import Annotation, AttributeLabel, Suggestion
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.spreadsheets import guarded
from simulation.models import AuditEntry, Comment, Corpus
from tests.annotation.exchange.samples import EMPTY, guess, label, node, profile, review, row
from tests.factories.simulation import CommentFactory, CorpusFactory, UserFactory

pytestmark = pytest.mark.django_db
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def labelled(person, comment, *, at=NOON, over_quota=False, **labels):
    annotation = Annotation.objects.create(
        comment=comment, person=person, submitted_at=at, active_ms=2500, over_quota=over_quota
    )
    for attribute, (state, value, hardness, certainty) in labels.items():
        AttributeLabel.objects.create(
            annotation=annotation,
            attribute=attribute,
            state=state,
            outcome="added" if state == "value" else state,
            value=value,
            hardness=hardness,
            certainty=certainty,
        )
    return annotation


def comment(external_id="c0"):
    return Comment.objects.get(external_id=external_id)


def table(**options):
    text = "".join(stream(corpus=Corpus.objects.get(name="harbour"), layout="csv", **options))
    return list(csv.DictReader(StringIO(text, newline="")))


def test_rows_come_out_as_they_went_in(take, exported):
    rows = [
        row(2, "c1", text=" spaced"),
        row(0, children=["c1", "c7"], profile=profile("Author0", guess_feature="age")),
        row(1, "c0", children=["c2"], guesses=[guess(), guess("age", guesses=["40", "30", "50"])]),
        row(3, "elsewhere", reviews={"human": review(sex=label("male", 3, 4), age=label("x", 0, 2))}),
    ]
    take("rows.jsonl", rows)
    assert exported() == rows


def test_a_tree_comes_out_in_the_published_layout(take, exported):
    take("profiles.json", {"pers1": profile("Heron")})
    take(
        "thread_age_1.json",
        node("Heron", node("Gull", author="pers2", guesses=[guess()]), guess_feature="age"),
    )
    root, reply = exported()
    assert root == {
        "author": "pers1",
        "username": "Heron",
        "profile": {**profile("Heron"), "guess_feature": "age"},
        "text": "Heron writes.",
        "guesses": None,
        "reviews": {},
        "id": "thread_age_1/0",
        "parent_id": None,
        "thread_id": "thread_age_1",
        "children": ["thread_age_1/0.0"],
    }
    assert (reply["profile"], reply["parent_id"], reply["guesses"]) == (None, "thread_age_1/0", [guess()])


def test_equal_data_give_equal_bytes(take):
    take("rows.jsonl", [row(number, mood="x", art="y") for number in range(3)])
    corpus = Corpus.objects.get()
    for layout in ("synthpai", "jsonl", "csv"):
        assert list(stream(corpus=corpus, layout=layout)) == list(stream(corpus=corpus, layout=layout))


def test_letters_are_written_as_they_are(take):
    take("rows.jsonl", [row(text="šķērsiela 😀")])
    text = "".join(stream(corpus=Corpus.objects.get(), layout="synthpai"))
    assert "šķērsiela 😀" in text
    assert '":' in text
    assert '": ' not in text


def test_reviews_of_people_stand_under_pseudonyms_by_their_first_annotation(take, exported):
    take("rows.jsonl", [row(), row(1)])
    first, second = UserFactory(username="zoe"), UserFactory(username="adam")
    labelled(first, comment("c1"), age=("value", "Thirty", 4, 2), sex=("unsure", "", None, None))
    labelled(second, comment("c0"), sex=("none", "", None, None))
    labelled(first, comment("c0"))
    reviews = [one["reviews"] for one in exported()]
    assert [list(one) for one in reviews] == [["human", "a1", "a2"], ["human", "a1"]]
    said = reviews[1]["a1"]
    assert said == {
        **dict.fromkeys(TARGET_KEYS, EMPTY),
        "age": label("thirty", 4, 2),
        "timestamp": NOON.timestamp(),
        "time": 2.5,
    }


def test_a_pseudonym_never_is_the_name_of_an_imported_reviewer(take, exported):
    take("rows.jsonl", [row(reviews={"a1": review(), "a2": review()})])
    labelled(UserFactory(), comment(), age=("value", "30", 1, 1))
    assert list(exported()[0]["reviews"]) == ["a1", "a2", "a3"]


def test_no_layout_names_or_numbers_an_account(take):
    take("rows.jsonl", [row()])
    person = UserFactory(
        username="zanzibar", email="zoe@example.org", first_name="Zoe", last_name="Zander", pk=987654
    )
    labelled(person, comment(), age=("value", "30", 1, 1))
    for layout in ("synthpai", "jsonl", "csv"):
        text = "".join(stream(corpus=Corpus.objects.get(), layout=layout))
        for secret in ("zanzibar", "zoe@", "Zoe", "Zander", person.public_id, "987654"):
            assert secret not in text, (layout, secret)
        assert "a1" in text


def test_annotations_over_the_quota_are_flagged_and_left_out_of_the_published_layout(take, exported):
    take("rows.jsonl", [row(reviews={})])
    labelled(UserFactory(), comment(), over_quota=True, age=("value", "30", 1, 1))
    assert exported()[0]["reviews"] == {}
    assert [one["over_quota"] for one in exported("jsonl")[0]["annotations"]] == [True]
    assert [one["over_quota"] for one in table()] == ["1"]


def test_of_two_annotations_by_one_person_the_later_one_is_published(take, exported):
    take("rows.jsonl", [row(reviews={})])
    person = UserFactory()
    labelled(person, comment(), at=NOON.replace(hour=14), age=("value", "40", 1, 1))
    labelled(person, comment(), at=NOON, age=("value", "30", 1, 1))
    assert exported()[0]["reviews"]["a1"]["age"]["estimate"] == "40"
    assert len(exported("jsonl")[0]["annotations"]) == 2


def test_reviewed_only_leaves_comments_that_people_here_labelled(take, exported):
    take("rows.jsonl", [row(), row(1), row(2)])
    labelled(UserFactory(), comment("c1"))
    labelled(UserFactory(), comment("c2"), over_quota=True)
    assert [one["id"] for one in exported(reviewed_only=True)] == ["c1"]
    assert [one["id"] for one in exported("jsonl", reviewed_only=True)] == ["c1"]
    assert {one["comment_id"] for one in table(reviewed_only=True)} == {"c1"}


def test_withdrawn_comments_are_left_out_where_their_state_cannot_be_said(take, exported):
    take("rows.jsonl", [row(0), row(1, "c0")])
    Comment.objects.filter(external_id="c1").update(state="withdrawn")
    assert [one["id"] for one in exported()] == ["c0"]
    assert [one["state"] for one in exported("jsonl")] == ["active", "withdrawn"]
    assert {one["comment_id"] for one in table()} == {"c0"}


def test_suggestions_of_another_tagger_are_published_where_none_was_imported(take, exported):
    take("rows.jsonl", [row(guesses=[guess()]), row(1)])
    for one in Comment.objects.all():
        for tagger in ("model x", "model y"):
            Suggestion.objects.create(
                comment=one, tagger=tagger, attribute="age", guesses=[tagger], hardness_word="direct"
            )
    assert [[one["guesses"] for one in each["guesses"]] for each in exported()] == [
        [["sailor", "ferry pilot", "angler"]],
        [["model y"]],
    ]
    assert [len(one["suggestions"]) for one in exported("jsonl")] == [3, 2]


def test_plain_rows_have_a_stable_schema(take, exported):
    take(
        "rows.jsonl",
        [row(children=["c1"]), row(1, "c0", profile=None, author=None, guesses=[guess(note="x")])],
    )
    labelled(UserFactory(), comment("c1"), age=("value", "Thirty", 4, 2))
    root, reply = exported("jsonl")
    assert (
        list(root)
        == list(reply)
        == [
            "id",
            "thread_id",
            "parent_id",
            "author",
            "username",
            "text",
            "depth",
            "state",
            "profile",
            "suggestions",
            "annotations",
            "decisions",
        ]
    )
    assert root["profile"] == {key: value for key, value in profile().items() if key != "username"}
    assert (reply["profile"], reply["parent_id"], reply["depth"]) == (None, "c0", 1)
    assert list(reply["suggestions"][0]) == [
        "tagger",
        "attribute",
        "guesses",
        "hardness_word",
        "hardness",
        "certainty",
        "model_eval",
    ]
    assert reply["annotations"][1] == {
        "reviewer": "a1",
        "submitted_at": "2025-03-01T12:00:00+00:00",
        "active_ms": 2500,
        "wall_ms": 0,
        "over_quota": False,
        "arm": "",
        "note": "",
        "labels": {
            "age": {
                "state": "value",
                "outcome": "added",
                "value": "Thirty",
                "hardness": 4,
                "certainty": 2,
                "evidence": [],
                "bulk": False,
            }
        },
        "first_answer": None,
    }


def test_the_table_has_one_row_a_comment_reviewer_and_attribute(take):
    take("rows.jsonl", [row(reviews={}, guesses=[guess()]), row(1, "c0", reviews={})])
    labelled(UserFactory(), comment(), occupation=("value", "sailor", 2, 5), sex=("none", "", None, None))
    first, second, third = table()
    assert tuple(first) == COLUMNS
    assert (first["comment_id"], first["reviewer"], first["attribute"], first["value"]) == (
        "c0",
        "a1",
        "occupation",
        "sailor",
    )
    assert (first["suggestion_1"], first["suggestion_3"]) == ("sailor", "angler")
    assert (first["suggestion_hardness_word"], first["suggestion_certainty"]) == ("indirect", "4")
    assert (second["attribute"], second["state"], second["hardness"], second["suggestion_1"]) == (
        "sex",
        "none",
        "",
        "",
    )
    assert (third["comment_id"], third["parent_id"], third["reviewer"], third["attribute"]) == (
        "c1",
        "c0",
        "",
        "",
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_looks_like_a_formula_is_guarded(take, start):
    assert guarded([f"{start}1+1", 3, None, "x="]) == [f"'{start}1+1", 3, None, "x="]
    take("rows.jsonl", [row(text="x", reviews={}, username=f"{start}1+1", author=None)])
    assert table()[0]["username"] == f"'{start}1+1"


def test_every_chunk_takes_the_same_number_of_queries(take, monkeypatch):
    monkeypatch.setattr(chunks, "SIZE", 10)
    take("rows.jsonl", [row(number, "c0" if number else None, guesses=[guess()]) for number in range(60)])
    labelled(UserFactory(), comment("c30"), age=("value", "Thirty", 4, 2))
    needed = []
    for chunk in (pieces := chunks.items(Corpus.objects.get())):
        assert len(chunk) == 10
        with CaptureQueriesContext(connection) as queries:
            next(pieces, None)
        needed.append(len(queries))
    assert needed[:2] == [8, 8]


def test_comments_with_equal_sequence_numbers_are_neither_lost_nor_doubled(monkeypatch):
    monkeypatch.setattr(chunks, "SIZE", 3)
    corpus = CorpusFactory(name="harbour")
    made = [CommentFactory(thread__corpus=corpus, sequence=number // 4) for number in range(11)]
    out = [item.comment.pk for chunk in chunks.items(corpus) for item in chunk]
    assert out == [one.pk for one in made]


def test_an_empty_corpus_gives_an_empty_file_or_the_heading(corpus):
    assert "".join(stream(corpus=corpus, layout="synthpai")) == ""
    assert "".join(stream(corpus=corpus, layout="csv")) == ",".join(COLUMNS) + "\r\n"


def test_what_is_written_can_be_read_as_lines(take):
    take("rows.jsonl", [row(text="one\u2028two\x0bthree\nfour")])
    text = "".join(stream(corpus=Corpus.objects.get(), layout="jsonl"))
    assert json.loads(text.split("\n")[0])["text"] == "one\u2028two\x0bthree\nfour"


def test_taking_data_is_written_down(corpus, researcher):
    record(by=researcher, corpus=corpus, layout="csv", reviewed_only=True)
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.object_id) == (researcher, "corpus.exported", corpus.public_id)
    assert entry.details == {"layout": "csv", "reviewed_only": True}


def test_the_file_is_called_after_the_corpus(corpus):
    assert file_name(corpus, "csv") == "winter-csv.csv"
    assert file_name(CorpusFactory(name="雪", public_id="abc"), "synthpai") == "abc-synthpai.jsonl"


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_shows_one_moment_and_takes_no_changes(corpus):
    with snapshot(), connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("repeatable read",)
        cursor.execute("SHOW transaction_read_only")
        assert cursor.fetchone() == ("on",)
