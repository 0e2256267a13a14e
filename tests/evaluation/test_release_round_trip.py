"""A release, imported into an empty corpus and released again, is the same release: file by file."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from annotation.exchange.dataset import import_paths
from evaluation.exchange import release_published
from simulation.models import Comment, Corpus
from tests.annotation.exchange import test_round_trip as flat
from tests.annotation.exchange.samples import guess, node, profile
from tests.evaluation.release_scene import (
    Reviewed,
    differing,
    hostile_corpus,
    imported,
    lines,
    make,
    write_rows,
)
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory, ThreadFactory
from tests.published import FOLDER, needs_published_data

pytestmark = pytest.mark.django_db
POLICIES = [("adjudicated", None), ("agreeing", 1), ("single", None), ("inherited", None)]


def again(corpus, folder, **fields):
    """Releases a corpus, imports that release into an empty one, releases it; both manifests."""
    first = make(corpus, folder / "first", **fields)
    second = make(imported(folder / "first", f"{corpus.name} again"), folder / "second", **fields)
    return first, second


@pytest.mark.parametrize(("policy", "agreeing"), POLICIES)
def test_rows_with_hostile_texts_and_reviews(tmp_path, policy, agreeing):
    first, second = again(hostile_corpus(tmp_path), tmp_path, policy=policy, agreeing=agreeing)
    assert differing(first, second) == []
    assert first == second
    assert (tmp_path / "first/manifest.json").read_bytes() == (tmp_path / "second/manifest.json").read_bytes()


def test_trees_with_profiles_of_their_own(tmp_path):
    people = {"pers1": profile("PaperLantern"), "pers2": profile("Other", age=30), "pers10": profile("Third")}
    (tmp_path / "data/threads").mkdir(parents=True)
    (tmp_path / "data/profiles.json").write_text(json.dumps(people))
    other = node("Other", node("PaperLantern"), author="pers2", guesses=[guess()])
    replies = [other, node("PaperLantern", guesses=[])]
    tree = {**node("PaperLantern", *replies), "guess_feature": "occupation"}
    (tmp_path / "data/threads/thread_a.json").write_text(json.dumps(tree))
    (tmp_path / "data/threads/thread_b.json").write_text(
        json.dumps(node("Other", author="pers2", guesses=None))
    )
    assert import_paths(paths=[tmp_path / "data"], corpus_name="trees").ok
    first, second = again(Corpus.objects.get(), tmp_path, policy="inherited")
    assert differing(first, second) == []
    assert [one["id"] for one in lines(tmp_path / "first", "profiles")] == ["pers1", "pers2", "pers10"]
    assert {one["topic"] for one in lines(tmp_path / "second", "comments")} == {"occupation", ""}
    assert import_paths(paths=[tmp_path / "second"], corpus_name="from the folder").ok
    third = make(Corpus.objects.get(name="from the folder"), tmp_path / "third", policy="inherited")
    assert third == first


def test_comments_that_were_simulated_here(tmp_path):
    author = ProfileFactory(facts={"age": 41, "sex": "female"}, style="short")
    thread = ThreadFactory(corpus=author.corpus, source="simulated", target_phrase="age")
    root = CommentFactory(thread=thread, profile=author, author=author.external_id)
    CommentFactory(thread=thread, parent=root, profile=author, author=author.external_id)
    CommentFactory(thread=thread, parent=root, profile=author, author=author.external_id, position=1)
    first, second = again(author.corpus, tmp_path)
    assert differing(first, second) == []
    assert {one["topic"] for one in lines(tmp_path / "second", "comments")} == {"age"}


def test_what_people_said_here_comes_back_in_the_published_form(tmp_path):
    first, second = again(Reviewed(tmp_path).corpus, tmp_path)
    for name in ("comments.jsonl", "comments.parquet", "suggestions.csv", "profiles.jsonl", "synthpai.jsonl"):
        assert first["files"][name] == second["files"][name], name
    assert first["counts"]["annotations"] > second["counts"]["annotations"]  # gold and over the quota


def test_a_release_without_a_comment_that_was_withdrawn(tmp_path):
    corpus = hostile_corpus(tmp_path)
    Comment.objects.filter(external_id="c2").update(state="withdrawn")
    first, second = again(corpus, tmp_path)
    assert [name for name in differing(first, second) if name.startswith(("comments", "labels"))] == []


def test_the_same_release_twice_is_the_same(tmp_path):
    corpus = Reviewed(tmp_path).corpus
    assert make(corpus, tmp_path / "one") == make(corpus, tmp_path / "two")


ROWS = flat.st.lists(flat.rows, min_size=1, max_size=4, unique_by=lambda one: one["username"])
"""Whatever a flat file may say."""


def fuzzed(tmp_path, made):
    number = next(flat.names)
    for place, one in enumerate(made):
        if "author" in one:  # an author id has one username
            one["author"] = one["author"] and f"{place}{one['author']}"
    path = write_rows(tmp_path / f"{number}.jsonl", made)
    assert import_paths(paths=[path], corpus_name=f"corpus {number}").ok
    return Corpus.objects.get(name=f"corpus {number}")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS.map(flat.numbered))
def test_whatever_rows_say(tmp_path, made):
    corpus = fuzzed(tmp_path, made)
    folder = tmp_path / f"of {corpus.name}"
    first, second = again(corpus, folder, policy="single")
    assert differing(first, second) == []


def everything_by_python(patch):
    patch.setattr(release_published.sql, "ODD", release_published.ALL)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS.map(flat.numbered))
def test_the_database_and_python_write_the_same_published_lines(tmp_path, made):
    corpus = fuzzed(tmp_path, made)
    one, other = (tmp_path / f"{which} of {corpus.name}" for which in ("one", "other"))
    make(corpus, one)
    with pytest.MonkeyPatch.context() as patch:
        everything_by_python(patch)
        make(corpus, other)
    assert (one / "synthpai.jsonl").read_bytes() == (other / "synthpai.jsonl").read_bytes()


def test_the_database_writes_what_is_ordinary(tmp_path, monkeypatch):
    corpus = hostile_corpus(tmp_path)
    asked = []
    monkeypatch.setattr(release_published, "published_row", lambda item, names: asked.append(item) or {})
    make(corpus, tmp_path / "out")
    odd = [one.comment.external_id for one in asked]
    assert odd == ["c2", "c4", "c6"]  # strange numbers, strange fields, no profile


@pytest.mark.published
@needs_published_data
@pytest.mark.parametrize("policy", ["adjudicated", "inherited"])
def test_the_published_data(tmp_path, policy):
    assert import_paths(paths=[FOLDER], corpus_name="harbour").ok
    first, second = again(Corpus.objects.get(), tmp_path, policy=policy, licence="CC BY-NC-SA 4.0")
    assert differing(first, second) == []
    assert first == second
    assert first["counts"]["comments"] == 7118
    assert first["counts"]["profiles"] == 300
    assert first["counts"]["labels"] == (4228 if policy == "inherited" else 0)


@pytest.mark.published
@needs_published_data
def test_the_published_rows_with_their_reviews(tmp_path):
    assert import_paths(paths=[FOLDER / "synthpai_sample.jsonl.gz"], corpus_name="harbour").ok
    first, second = again(Corpus.objects.get(), tmp_path)
    assert first == second
    assert first["counts"]["labels"] > 0
    told = lines(tmp_path / "second", "synthpai")
    assert all("human" in one["reviews"] for one in told)


def test_empty_corpora_do_not_share_anything(tmp_path):
    """Keys of the database differ between two corpora of the same data; no file has any of them."""
    one = hostile_corpus(tmp_path, "one")
    for _ in range(3):
        CommentFactory(thread__corpus=CorpusFactory())
    other = hostile_corpus(tmp_path, "other")
    assert make(one, tmp_path / "a") == make(other, tmp_path / "b")
