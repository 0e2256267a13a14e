"""The files of a release: what stands in them, that they are whole or not there, and nobody is named."""

import csv
import hashlib
import io
import json

import pyarrow.parquet as parquet
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.exchange.dataset import import_paths
from annotation.models import Annotation, Suggestion
from annotation.services import trash
from evaluation.domain.release_schema import TABLES
from evaluation.domain.releasing import Query
from evaluation.exchange.release_files import NothingToRelease, counts
from evaluation.exchange.release_tables import schema_of
from simulation.models import Comment, Corpus
from tests.annotation.exchange.samples import row
from tests.evaluation.release_scene import HOSTILE, Reviewed, hostile_corpus, lines, make, write_rows
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, ModelCallFactory, ProfileFactory
from tests.factories.tagging import check, tagging_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "release"


@pytest.fixture
def reviewed(tmp_path):
    return Reviewed(tmp_path)


def label_of(folder, comment, attribute):
    found = [
        one
        for one in lines(folder, "labels")
        if (one["comment_id"], one["attribute"]) == (comment, attribute)
    ]
    assert len(found) <= 1
    return found[0] if found else None


def test_every_table_is_there_in_three_forms_with_all_its_columns(reviewed, folder):
    manifest = make(reviewed.corpus, folder)
    for table in TABLES:
        told = lines(folder, table.name)
        read = parquet.read_table(folder / f"{table.name}.parquet")
        assert read.schema.equals(schema_of(table))
        assert read.to_pylist() == told
        for one in told:
            assert tuple(one) == table.names
        cells = list(
            csv.reader(io.StringIO((folder / f"{table.name}.csv").read_bytes().decode(), newline=""))
        )
        assert tuple(cells[0]) == table.names
        assert len(cells) == len(told) + 1
        assert manifest["counts"][table.name] == len(told)
    assert manifest["counts"]["comments"] == len(HOSTILE)
    assert manifest["counts"]["annotations"] > 80
    assert manifest["counts"]["labels"] > 20


def test_hostile_texts_come_through_every_form_unharmed(tmp_path, folder):
    make(hostile_corpus(tmp_path), folder)
    texts = list(Comment.objects.order_by("sequence").values_list("text", flat=True))
    assert texts == [text.strip() for text in HOSTILE]
    assert [one["text"] for one in lines(folder, "comments")] == texts
    assert parquet.read_table(folder / "comments.parquet")["text"].to_pylist() == texts
    assert [one["text"] for one in lines(folder, "synthpai")] == list(HOSTILE)
    table = csv.DictReader(io.StringIO((folder / "comments.csv").read_bytes().decode(), newline=""))
    for cell, text in zip(table, texts, strict=True):
        assert cell["text"] == (f"'{text}" if text[0] in "=@-" else text)


def test_lines_are_json_in_utf_8_and_end_in_line_feeds(tmp_path, folder):
    make(hostile_corpus(tmp_path), folder)
    for path in folder.glob("*.jsonl"):
        data = path.read_bytes()
        assert b"\r" not in data
        assert b"\x01" not in data
        assert not data or data.endswith(b"\n")


def test_the_manifest_has_every_file_with_its_digest(reviewed, folder):
    manifest = make(reviewed.corpus, folder, name="2026-12", licence="CC BY 4.0", title="Harbour talk")
    assert manifest == json.loads((folder / "manifest.json").read_text("utf-8"))
    there = {path.name for path in folder.iterdir()} - {"manifest.json"}
    assert set(manifest["files"]) == there
    assert {"README.md", "croissant.json", "metrics.json", "synthpai.jsonl", "labels.parquet"} < there
    for name, one in manifest["files"].items():
        data = (folder / name).read_bytes()
        assert (one["sha256"], one["bytes"]) == (hashlib.sha256(data).hexdigest(), len(data))
    assert manifest["files"]["labels.csv"]["rows"] == manifest["counts"]["labels"]
    assert (manifest["name"], manifest["licence"]) == ("2026-12", "CC BY 4.0")
    assert manifest["query"] == Query().to_json()


def test_labels_say_how_they_came_about(reviewed, folder):
    make(reviewed.corpus, folder)
    agreed = label_of(folder, "c2", "age")
    assert (agreed["value"], agreed["hardness"], agreed["certainty"]) == ("30", 3, 4)
    assert (agreed["basis"], agreed["people"], agreed["agreeing"], agreed["decided"]) == (
        "agreed",
        2,
        2,
        False,
    )
    decided = label_of(folder, "c4", "sex")
    assert (decided["value"], decided["basis"], decided["decided"]) == ("female", "decided", True)
    assert (decided["reason"], decided["note"]) == ("slip", None)
    assert label_of(folder, "c4", "age") is None  # one said 50, one said nothing: not agreed
    assert label_of(folder, "c4", "income_level")["state"] == "none"
    # One of two has answered, or the answer was known: the file's own reviewer is the last word.
    for comment in ("c5", "c7"):
        assert label_of(folder, comment, "age")["state"] == "none"
        assert label_of(folder, comment, "age")["people"] == 1


def test_imported_reviewers_alone_are_the_word_of_their_file(tmp_path, folder):
    make(hostile_corpus(tmp_path), folder)
    assert label_of(folder, "c1", "sex")["value"] == "male"
    assert label_of(folder, "c1", "sex")["people"] == 1
    assert label_of(folder, "c3", "sex") is None  # two reviewers differ
    age = label_of(folder, "c3", "age")  # one left a prefilled value untouched, which is no word of theirs
    assert (age["state"], age["people"], age["agreeing"]) == ("none", 1, 1)


def test_evidence_counts_code_points_and_names_comments_by_their_own_ids(reviewed, folder):
    make(reviewed.corpus, folder)
    quote = label_of(folder, "c2", "age")["evidence"]
    text = next(one["text"] for one in lines(folder, "comments") if one["id"] == "c2")
    assert [one["comment_id"] for one in quote] == ["c2"]
    assert text[quote[0]["start"] : quote[0]["end"]] == quote[0]["quote"] == "and"
    assert (
        parquet.read_table(folder / "labels.parquet")["evidence"].to_pylist()[
            [one["comment_id"] + one["attribute"] for one in lines(folder, "labels")].index("c2age")
        ]
        == quote
    )


def test_what_was_said_first_and_beyond_the_quota_is_beside_it(reviewed, folder):
    make(reviewed.corpus, folder)
    said = {
        (one["comment_id"], one["annotator"], one["attribute"]): one for one in lines(folder, "annotations")
    }
    first = said["c2", "a2", "age"]  # the file's own reviewer has a1
    assert (first["value"], first["first_state"], first["first_value"]) == ("30", "value", "25")
    assert said["c2", "a3", "age"]["first_state"] is None
    assert [one["over_quota"] for key, one in said.items() if key[0] == "c6" and key[2] == "sex"] == [
        False,
        False,
        True,
    ]
    assert said["c7", "a2", "age"]["gold"]
    assert said["c1", "human", "sex"]["queue"] is None
    assert said["c1", "human", "sex"]["submitted_at"] == "2024-04-01T19:33:20.250000Z"


@pytest.mark.parametrize(
    ("policy", "agreeing", "comment", "attribute", "found"),
    [
        ("agreeing", 2, "c2", "age", "30"),
        ("agreeing", 3, "c6", "sex", None),
        ("agreeing", 1, "c5", "age", None),  # one says 50, one says nothing is there
        ("agreeing", 2, "c4", "sex", "male"),
        ("agreeing", 3, "c4", "sex", None),
        ("single", None, "c4", "sex", "female"),
        ("single", None, "c5", "age", "50"),
        ("inherited", None, "c1", "occupation", "ferry pilot"),
        ("inherited", None, "c1", "age", None),  # the tag has no known hardness
        ("inherited", None, "c0", "age", None),
    ],
)
def test_policies(reviewed, folder, policy, agreeing, comment, attribute, found):
    Suggestion.objects.filter(comment__external_id="c1", attribute="age").update(hardness=None)
    make(reviewed.corpus, folder, policy=policy, agreeing=agreeing)
    label = label_of(folder, comment, attribute)
    assert (label and label["value"]) == found
    assert all(one["basis"] == policy for one in lines(folder, "labels"))


def test_an_inherited_label_is_that_of_the_easiest_tag_that_no_check_refused(folder):
    profile = ProfileFactory(facts={"age": 41})
    comment = CommentFactory(thread__corpus=profile.corpus, profile=profile)
    SuggestionFactory(comment=comment, tagger="one", hardness=4, certainty=5)
    SuggestionFactory(comment=comment, tagger="two", hardness=2, certainty=1)
    refused = SuggestionFactory(comment=comment, tagger="three", hardness=1, certainty=1)
    check(tagging_run(profile.corpus), refused, 0)
    make(profile.corpus, folder, policy="inherited")
    (label,) = lines(folder, "labels")
    assert (label["value"], label["hardness"], label["certainty"], label["people"]) == ("41", 2, 1, 0)
    told = {one["tagger"]: one["check_scores"] for one in lines(folder, "suggestions")}
    assert told == {"one": None, "two": None, "three": [0]}


def test_nobody_and_no_key_of_an_account_is_in_any_file(reviewed, folder):
    make(reviewed.corpus, folder)
    named = [one for person in reviewed.people for one in (person.username, person.email, person.public_id)]
    keys = list(Annotation.objects.values_list("public_id", flat=True))
    keys += Comment.objects.values_list("public_id", flat=True)
    for path in folder.iterdir():
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data = repr(parquet.read_table(path).to_pylist()).encode()
        assert not [one for one in [*named, *map(str, keys)] if one.encode() in data], path.name


def test_words_of_annotators_go_out_only_where_they_are_asked_for(reviewed, folder, tmp_path):
    make(reviewed.corpus, folder)
    assert all(one["note"] is None for name in ("annotations", "labels") for one in lines(folder, name))
    make(reviewed.corpus, tmp_path / "other", query={"notes": True})
    assert label_of(tmp_path / "other", "c4", "sex")["note"] == "see secret0@example.org"
    assert {one["note"] for one in lines(tmp_path / "other", "annotations")} == {
        None,
        "ask secretname1 about it",
    }


def test_pseudonyms_go_by_first_annotation_and_leave_the_keys_of_reviewers_alone(reviewed, folder):
    make(reviewed.corpus, folder)
    found = {one["annotator"] for one in lines(folder, "annotations")}
    assert found == {"human", "a1", "a2", "a3", "a4"}
    assert {one["annotator"] for one in lines(folder, "annotations") if one["queue"]} == {"a2", "a3", "a4"}


def test_what_was_withdrawn_goes_out_only_where_it_is_asked_for(reviewed, folder, tmp_path):
    Comment.objects.filter(external_id="c2").update(state="withdrawn")
    make(reviewed.corpus, folder)
    told = {one["id"]: one for one in lines(folder, "comments")}
    assert "c2" not in told
    assert (told["c3"]["parent_id"], told["c3"]["depth"], told["c4"]["depth"]) == ("c2", 0, 1)
    assert not [one for one in lines(folder, "labels") if one["comment_id"] == "c2"]
    make(reviewed.corpus, tmp_path / "all", query={"include_withdrawn": True})
    told = {one["id"]: (one["state"], one["depth"]) for one in lines(tmp_path / "all", "comments")}
    assert (told["c2"], told["c3"]) == (("withdrawn", 2), ("active", 3))
    assert "c2" not in {one["id"] for one in lines(tmp_path / "all", "synthpai")}


def test_what_was_said_in_a_queue_in_the_trash_does_not_go_out(reviewed, folder, researcher):
    trash.trash_queue(by=researcher, queue=reviewed.queue, typed=reviewed.queue.name)
    make(reviewed.corpus, folder)
    assert {one["annotator"] for one in lines(folder, "annotations")} == {"human", "a1"}
    assert all(one["reviews"].keys() <= {"human", "a1"} for one in lines(folder, "synthpai"))


def test_a_query_narrows_comments_and_what_is_said_of_them(reviewed, folder, tmp_path):
    make(reviewed.corpus, folder, query={"attributes": ["age"], "queues": [str(reviewed.queue.public_id)]})
    assert {one["attribute"] for one in lines(folder, "annotations")} == {"age"}
    assert {one["attribute"] for one in lines(folder, "suggestions")} == {"age"}
    assert {one["annotator"] for one in lines(folder, "annotations")} == {"a2", "a3", "a4"}
    reviews = [block for one in lines(folder, "synthpai") for block in one["reviews"].values()]
    assert all(set(block) <= {"age", "timestamp", "time"} for block in reviews)
    make(reviewed.corpus, tmp_path / "b", query={"profiles": ["pers1", "pers3"]})
    assert [one["id"] for one in lines(tmp_path / "b", "comments")] == ["c1", "c3"]
    assert [one["id"] for one in lines(tmp_path / "b", "profiles")] == ["pers1", "pers3"]
    make(reviewed.corpus, tmp_path / "c", query={"min_words": 6, "sources": ["flat"], "reviewed_only": True})
    assert [one["id"] for one in lines(tmp_path / "c", "comments")] == ["c1", "c2"]


def test_nothing_to_release_names_the_filter_and_leaves_nothing(reviewed, folder):
    with pytest.raises(NothingToRelease, match="“sources” leaves none of 8 comments"):
        make(reviewed.corpus, folder, query={"sources": ["simulated"], "min_words": 100})
    with pytest.raises(NothingToRelease, match="The corpus has no comments"):
        make(CorpusFactory(), folder)
    Comment.objects.update(state="withdrawn")
    with pytest.raises(NothingToRelease, match="All 8 comments were withdrawn"):
        make(reviewed.corpus, folder)
    assert not list(folder.parent.glob("*release*"))


class Unwanted(Exception):
    pass


@pytest.mark.parametrize("calls", [0, 3, 9, 13])
def test_a_release_that_is_not_wanted_any_more_leaves_nothing(tmp_path, folder, calls):
    corpus = hostile_corpus(tmp_path)
    wanted = iter([None] * calls)

    def check():
        if next(wanted, Unwanted) is Unwanted:
            raise Unwanted

    with pytest.raises(Unwanted):
        make(corpus, folder, check=check)
    assert not list(folder.parent.glob("*release*"))
    make(corpus, folder)


def test_the_preview_counts_what_the_files_will_hold(reviewed, tmp_path):
    for number, (policy, agreeing, query) in enumerate(
        [
            ("single", None, {}),
            ("inherited", None, {}),
            ("single", None, {"attributes": ["age"], "queues": [str(reviewed.queue.public_id)]}),
            ("single", None, {"min_words": 6, "reviewed_only": True}),
        ]
    ):
        told = counts(reviewed.corpus, Query.from_json(query), policy, agreeing)
        made = make(reviewed.corpus, tmp_path / str(number), policy=policy, agreeing=agreeing, query=query)
        assert {name: told[name] for name in made["counts"] if name in told} == {
            name: number for name, number in made["counts"].items() if name in told
        }
    assert list(told)[5:] == ["left:all", "left:include_withdrawn", "left:reviewed_only", "left:min_words"]
    assert told["left:all"] == 8
    at_most = counts(reviewed.corpus, Query(), "adjudicated", None)["labels"]
    assert at_most >= make(reviewed.corpus, tmp_path / "x")["counts"]["labels"]
    assert counts(reviewed.corpus, Query(), "agreeing", 2)["labels"] > 0


def test_what_stands_behind_the_rows_is_in_the_manifest(tmp_path, folder):
    corpus = hostile_corpus(tmp_path)
    run = tagging_run(corpus)
    call = ModelCallFactory(run=run, step__run=run, served_model="scripted-1")
    comment = Comment.objects.get(external_id="c0")
    SuggestionFactory(comment=comment, tagger="scripted", run=run, call=call)
    manifest = make(corpus, folder)
    assert manifest["runs"] == [{"kind": "tag", "name": run.name, "seed": run.seed}]
    assert manifest["prompts"] == [{"name": call.prompt.name, "language": "en", "sha256": call.prompt.digest}]
    assert [(one["asked"], one["served"]) for one in manifest["models"]] == [("scripted", "scripted-1")]
    assert manifest["taggers"] == ["imported", "scripted"]
    told = next(one for one in lines(folder, "suggestions") if one["tagger"] == "scripted")
    assert (told["run"], told["prompt_digest"], told["served_model"]) == (
        run.name,
        call.prompt.digest,
        "scripted-1",
    )


def test_metrics_name_annotators_by_pseudonym_and_say_what_cannot_be_said(reviewed, folder):
    make(reviewed.corpus, folder)
    told = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert {one["person"] for one in told["people_compared"]} <= {"human", "a1", "a2", "a3", "a4"}
    percent = next(
        one
        for one in told["agreement"]
        if (one["part"], one["attribute"], one["measure"]) == ("ordinary", "age", "percent")
    )
    assert percent["units"] > 0
    assert percent["raters"] >= 2


def test_as_many_queries_for_many_comments_as_for_few(tmp_path):
    asked = []
    for size in (5, 900):
        rows = [row(n, text=f"Sentence {n}", reviews={}, username="One", author="pers1") for n in range(size)]
        path = write_rows(tmp_path / f"{size}.jsonl", rows)
        assert import_paths(paths=[path], corpus_name=f"corpus {size}").ok
        with CaptureQueriesContext(connection) as queries:
            make(Corpus.objects.get(name=f"corpus {size}"), tmp_path / f"of {size}")
        asked.append(len(queries))
    assert asked[0] == asked[1]
