"""Suggestions of taggers outside, pushed and read by scripts."""

import pytest

from annotation.models import Suggestion
from simulation.domain.scopes import Scope
from simulation.models import AuditEntry
from tests.annotation.api_scene import pushed
from tests.api import api_of
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, RunFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def comment(corpus):
    return CommentFactory(thread__corpus=corpus, external_id="c101")


def address(corpus):
    return f"/api/v1/corpora/{corpus.public_id}/suggestions/"


def test_a_push_is_stored_once_and_read_back(researcher, corpus, comment):
    api = api_of(researcher, [Scope.TAG, Scope.READ])
    first = api.post(address(corpus), pushed("c101"))
    again = api.post(address(corpus), pushed(comment.public_id))
    assert (first.status_code, first.json()) == (201, {"new": 1, "same": 0})
    assert (again.status_code, again.json()) == (201, {"new": 0, "same": 1})
    row = api.get(address(corpus), tagger="my-tagger", batch="b1").json()["results"][0]
    assert (row["guesses"], row["hardness"], row["certainty"]) == (["nurse", "midwife"], 2, 4)
    assert row["comment_external_id"] == "c101"
    assert "model_eval" not in row
    assert AuditEntry.objects.filter(action="suggestions.pushed").count() == 1


def test_batches_and_taggers_stand_side_by_side(researcher, corpus, comment):
    SuggestionFactory(comment=comment, attribute="occupation")
    api = api_of(researcher, [Scope.TAG, Scope.READ])
    for batch in ("b1", "b2"):
        assert api.post(address(corpus), pushed("c101", batch=batch)).json()["new"] == 1
    assert Suggestion.objects.filter(comment=comment, attribute="occupation").count() == 3
    assert len(api.get(address(corpus), comment=comment.public_id).json()["results"]) == 3
    assert len(api.get(address(corpus), batch="b2").json()["results"]) == 1


def test_what_a_batch_said_is_never_overwritten(researcher, corpus, comment):
    api = api_of(researcher, [Scope.TAG])
    api.post(address(corpus), pushed("c101"))
    other = api.post(address(corpus), pushed("c101", guesses=["doctor"]))
    assert other.status_code == 400
    assert other.json()["errors"][0]["field"] == "suggestions.0.guesses"
    assert Suggestion.objects.get(tagger="my-tagger").words == ["nurse", "midwife"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"comment": "nobody"}, "suggestions.0.comment"),
        ({"attribute": "shoe_size"}, "suggestions.0.attribute"),
        ({"guesses": []}, "suggestions.0.guesses"),
        ({"guesses": ["a", "b", "c", "d"]}, "suggestions.0.guesses"),
        ({"certainty": 6}, "suggestions.0.certainty"),
        ({"colour": "red"}, "suggestions.0.colour"),
    ],
)
def test_a_push_with_a_fault_names_it_and_stores_nothing(researcher, corpus, comment, change, field):
    body = pushed("c101")
    body["suggestions"].append({**body["suggestions"][0], "attribute": "age", "guesses": ["30"]})
    body["suggestions"][0] |= change
    answer = api_of(researcher, [Scope.TAG]).post(address(corpus), body)
    assert answer.status_code == 400
    assert field in [one["field"] for one in answer.json()["errors"]]
    assert Suggestion.objects.count() == 0


def test_the_same_place_twice_in_a_push_is_a_fault(researcher, corpus, comment):
    body = pushed("c101")
    body["suggestions"] *= 2
    assert api_of(researcher, [Scope.TAG]).post(address(corpus), body).status_code == 400


def test_scope_and_right_are_both_needed(researcher, labeler, corpus, comment):
    assert api_of(researcher, [Scope.READ]).post(address(corpus), pushed("c101")).status_code == 403
    assert api_of(labeler, [Scope.TAG]).post(address(corpus), pushed("c101")).status_code == 403
    assert api_of(labeler, [Scope.READ]).get(address(corpus)).status_code == 403
    foreign = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    assert api_of(foreign, [Scope.TAG]).post(address(corpus), pushed("c101")).status_code == 404


def test_a_comment_of_another_corpus_is_not_there(researcher, corpus):
    CommentFactory(external_id="elsewhere")
    answer = api_of(researcher, [Scope.TAG]).post(address(corpus), pushed("elsewhere"))
    assert answer.json()["errors"][0]["field"] == "suggestions.0.comment"


def test_those_of_one_run_are_found_by_its_public_id(researcher, corpus, comment):
    run = RunFactory(corpus=corpus)
    SuggestionFactory(comment=comment, attribute="occupation", run=run)
    SuggestionFactory(comment=comment, attribute="age")
    api = api_of(researcher)
    found = api.get(address(corpus), run=run.public_id).json()["results"]
    assert [one["run"] for one in found] == [run.public_id]
    assert api.get(address(corpus), run="222222222222").json()["results"] == []


def test_a_public_id_comes_before_an_id_of_the_source_that_is_equal(researcher, corpus, comment):
    CommentFactory(thread__corpus=corpus, external_id=comment.public_id)
    api_of(researcher).post(address(corpus), pushed(comment.public_id))
    assert Suggestion.objects.get().comment == comment
