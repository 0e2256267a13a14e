"""The plain layout, our own exports, and what a release holds come in as they are."""

import json

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from annotation.exchange.dataset import import_paths
from annotation.exchange.export import stream
from annotation.models import Annotation, AttributeLabel, Suggestion
from simulation.models import Comment, Corpus, Profile
from tests.annotation.exchange.conftest import counts, said
from tests.annotation.exchange.samples import guess, label, lines, profile, review, row
from tests.annotation.exchange.tables import table

pytestmark = pytest.mark.django_db


def comment(number=0, parent=None, **fields):
    return {
        "external_id": f"c{number}",
        "thread_id": "t1",
        "parent_id": parent,
        "author": f"pers{number}",
        "username": f"Author{number}",
        "text": f"Sentence {number}.",
        "created_at": "2026-05-31T12:00:00Z",
        "source": "real",
        "guesses": [],
        **fields,
    }


def said_by(model, feature="age", **fields):
    asked = {"reasoning": "Says so.", "model": model, "prompt_hash": "ab12"}
    guesses = {"feature": feature, "guesses": ["30", "31"], "hardness": "direct", "certainty": 5}
    return {**guesses, **asked, **fields}


def test_comments_of_the_plain_layout_are_stored(take):
    rows = [comment(profile=profile("Author0")), comment(1, "c0", guesses=[said_by("judge-1")])]
    report = take("plain.jsonl", rows)
    assert report.ok
    root, reply = Comment.objects.order_by("sequence")
    assert (reply.external_id, reply.parent, reply.depth) == ("c1", root, 1)
    assert root.extra == {"source": "real", "created_at": "2026-05-31T12:00:00Z"} | root.extra
    assert Profile.objects.get().facts["age"] == 41
    suggestion = Suggestion.objects.get()
    assert (suggestion.tagger, suggestion.guesses, suggestion.hardness) == ("judge-1", ["30", "31"], 1)
    assert suggestion.extra["reasoning"] == "Says so."
    assert suggestion.extra["prompt_hash"] == "ab12"
    assert counts(take("plain.jsonl", rows)) == (0, 0, 2, 0)


def test_several_models_may_guess_the_same_attribute(take, exported):
    guesses = [said_by("judge-1"), said_by("judge-2"), guess()]
    take("plain.jsonl", [comment(guesses=guesses)])
    assert sorted(Suggestion.objects.values_list("tagger", "attribute")) == [
        ("imported", "occupation"),
        ("judge-1", "age"),
        ("judge-2", "age"),
    ]
    assert [one.get("model") for one in exported()[0]["guesses"]] == ["judge-1", "judge-2", None]
    report = take("plain.jsonl", [comment(guesses=[said_by("judge-1"), said_by("judge-1")])])
    assert "has been guessed in guesses[0]" in said(report)[0]


def test_a_model_that_a_later_file_does_not_mention_keeps_its_suggestions(take):
    take("plain.jsonl", [comment(guesses=[said_by("judge-1"), said_by("judge-1", "sex")])])
    take("plain.jsonl", [comment(guesses=[said_by("judge-2")])])
    assert Suggestion.objects.filter(tagger="judge-1").count() == 2
    take("plain.jsonl", [comment(guesses=[said_by("judge-1")])])
    assert Suggestion.objects.get(tagger="judge-1").attribute == "age"


@pytest.mark.parametrize("name", ["", "x" * 101, 5])
def test_a_model_has_a_name_or_none(take, name):
    report = take("plain.jsonl", [comment(guesses=[said_by(name)])])
    assert report.ok is (name == "")


def test_problems_say_external_id(take):
    rows = [comment(), comment(), comment(1, external_id=5), comment(2, created_at="noon", source="both")]
    assert said(take("plain.jsonl", rows)) == [
        "plain.jsonl, line 2, external_id: “c0” stands in line 1 already; every comment has its own",
        "plain.jsonl, line 3, external_id: must be text in quotes, not 5",
        'plain.jsonl, line 4, created_at: must be a time as 2026-05-31T12:00:00Z, not "noon"',
        'plain.jsonl, line 4, source: must be “real” or “synthetic”, not "both"',
    ]


def test_the_source_is_seen_after_a_round_trip_too(take, exported):
    take("plain.jsonl", [comment()])
    (given,) = exported()
    assert (given["source"], given["created_at"]) == ("real", "2026-05-31T12:00:00Z")
    Corpus.objects.update(name="before")
    take("back.jsonl", [given])
    assert Comment.objects.get(corpus__name="harbour").extra["source"] == "real"
    assert exported() == [given]


def labels_of(corpus):
    mine = AttributeLabel.objects.filter(annotation__comment__corpus__name=corpus)
    return sorted(mine.values_list("attribute", "state", "value"))


@pytest.mark.parametrize("layout", ["synthpai", "jsonl"])
def test_an_export_comes_back_in(take, exported, layout):
    sure = review(age=label("41", 2, 4), sex=label("", 0, 0))
    take("rows.jsonl", [row(guesses=[guess()], reviews={"human": sure}), row(1, "c0")])
    labels = labels_of("harbour")
    given, published = exported(layout), exported()
    Corpus.objects.update(name="before")
    report = take("back.jsonl", given)
    assert report.ok, said(report)
    assert labels_of("harbour") == labels
    assert Annotation.objects.filter(reviewer="human", comment__corpus__name="harbour").count() == 2
    assert [(one["id"], one["parent_id"], one["text"], one["guesses"]) for one in exported()] == [
        (one["id"], one["parent_id"], one["text"], one["guesses"]) for one in published
    ]
    assert exported(layout) == given


def test_the_table_of_labels_gives_its_comments(take):
    take("rows.jsonl", [row(text="=SUM(1)"), row(1, "c0", reviews={})])
    content = "".join(stream(corpus=Corpus.objects.get(), layout="csv", reviewed_only=False))
    Corpus.objects.update(name="before")
    report = take("labels.csv", content)
    assert report.ok, said(report)
    assert counts(report)[0] == 2
    assert Comment.objects.get(external_id="c0", corpus__name="harbour").text == "=SUM(1)"
    assert "7 further rows of the same comments" in report.warnings[0]


def test_profiles_may_stand_one_a_line(take):
    rows = [
        {"id": "pers1", "username": "Gull", "facts": {"age": 41, "sex": "female"}, "style": "Short."},
        {"id": "pers2", "username": "Tern", "age": 30, "sex": None, "mood": "grey"},
    ]
    report = take("profiles.jsonl", rows)
    assert report.ok
    assert counts(report, "profiles")[0] == 2
    assert Profile.objects.get(external_id="pers1").facts == {"age": 41, "sex": "female"}
    tern = Profile.objects.get(external_id="pers2")
    assert (tern.facts, tern.extra["mood"]) == ({"age": 30}, "grey")
    bad = lines(rows[0], rows[0], {**rows[1], "age": "old"}, 5) + "{broken\n"
    told = said(take("profiles.jsonl", bad))
    assert "profiles.jsonl, line 2, id: stands in line 1 already; every profile has its own" in told
    assert len(told) == 5


def test_a_folder_of_a_release_means_its_profiles_and_comments(write, take, exported):
    write("release/synthpai.jsonl", [row(), row(1, "c0")])
    write("release/profiles.jsonl", [{"id": "pers0", "username": "Author0", **profile("Author0")}])
    write("release/comments.jsonl", [row()])
    folder = write("release/manifest.json", json.dumps({"files": {}})).parent
    report = import_paths(paths=[folder], corpus_name="harbour")
    assert [one.file for one in report.files] == ["profiles.jsonl", "synthpai.jsonl"]
    assert counts(report) == (2, 0, 0, 0)


def test_a_release_without_profiles_comes_back_in(write):
    write("release/synthpai.jsonl", [row()])
    write("release/profiles.jsonl", b"")
    folder = write("release/manifest.json", json.dumps({"files": {}})).parent
    report = import_paths(paths=[folder], corpus_name="harbour")
    assert [(one.file, one.outcome) for one in report.files] == [("synthpai.jsonl", "imported")]


def released(number=0, parent=None, **fields):
    """A row of a release's table of comments."""
    return {
        "id": f"c{number}",
        "thread_id": "t1",
        "parent_id": parent,
        "author": f"pers{number}",
        "username": f"Author{number}",
        "text": f"Sentence {number}.",
        "depth": int(parent is not None),
        "topic": "",
        "created_at": None,
        "source": None,
        "state": "active",
        **fields,
    }


def test_the_comments_of_a_release_bring_nothing_that_the_rows_say_already(take):
    report = take("comments.jsonl", [released(), released(1, "c0", source="real", topic="age")])
    assert report.ok
    root, reply = Comment.objects.order_by("sequence")
    assert root.extra == {}
    assert reply.extra == {"source": "real", "fields": {"topic": "age"}, "parent_id": "c0"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_tables_of_a_release_need_no_mapping(take, tmp_path, ending):
    rows = [released(text="'=1+1" if ending == "csv" else "=1+1"), released(1, "c0")]
    if ending == "csv":
        cells = [["" if cell is None else cell for cell in one.values()] for one in rows]
        report = take("comments.csv", table(cells, list(rows[0])))
    else:
        parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "comments.parquet")
        report = import_paths(paths=[tmp_path / "comments.parquet"], corpus_name="harbour")
    assert report.ok, said(report)
    assert list(Comment.objects.order_by("sequence").values_list("text", "depth")) == [
        ("=1+1", 0),
        ("Sentence 1.", 1),
    ]
    assert Comment.objects.get(external_id="c0").extra == {}
