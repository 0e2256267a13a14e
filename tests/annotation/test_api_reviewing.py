"""A script that works in a queue: claim, answer, change, skip; the rules are those of the page."""

import uuid

import pytest

from annotation.models import Annotation, FirstAnswer, Slot, Suggestion
from annotation.services import queues
from simulation.domain.scopes import Scope
from tests.api import api_of
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db

AGE = {"attribute": "age", "state": "value", "value": "30", "hardness": 2, "certainty": 4}


def answer(*labels, **fields):
    return {"submission_id": str(uuid.uuid4()), "labels": list(labels), "rest_is_none": True, **fields}


@pytest.fixture
def queue(corpus):
    comment = CommentFactory(thread__corpus=corpus, text="I turned thirty on the night bus.")
    SuggestionFactory(comment=comment)
    return queues.create(by=None, corpus=corpus, name="q", people_per_item=1)


@pytest.fixture
def held(labeler, queue):
    api = api_of(labeler, [Scope.LABEL, Scope.READ])
    sheet = api.post(f"/api/v1/queues/{queue.public_id}/claims/").json()
    return api, sheet, f"/api/v1/queues/{queue.public_id}/items/{sheet['item']}/"


def test_claim_answer_and_the_queue_is_done(held, queue, labeler):
    api, sheet, address = held
    assert sheet["texts"][0]["text"] == "I turned thirty on the night bus."
    assert sheet["suggestions"][0]["guesses"] == ["30", "35", "25"]
    assert "model_eval" not in str(sheet)
    done = api.send("put", address, answer(AGE))
    assert (done.status_code, done.json()["version"], done.json()["next_stage"]) == (200, 1, "done")
    row = Annotation.objects.get(person=labeler)
    assert {one.attribute: one.outcome for one in row.labels.all()}["age"] == "confirmed"
    assert api.post(f"/api/v1/queues/{queue.public_id}/claims/").status_code == 409
    standing = api.get(f"/api/v1/queues/{queue.public_id}/").json()
    assert (standing["done"], standing["left"]) == (1, 0)


def test_the_same_submission_again_is_stored_once(held):
    api, _, address = held
    body = answer(AGE)
    first, again = api.send("put", address, body).json(), api.send("put", address, body).json()
    assert (first["replayed"], again["replayed"], again["version"]) == (False, True, 1)


def test_an_answer_to_an_older_version_is_a_conflict_and_changes_nothing(held, labeler):
    api, _, address = held
    api.send("put", address, answer(AGE))
    assert api.send("put", address, answer({**AGE, "value": "51"}, base_version=1)).json()["version"] == 2
    clash = api.send("put", address, answer({**AGE, "value": "19"}, base_version=1))
    assert clash.status_code == 409
    assert clash["Content-Type"] == "application/problem+json"
    assert Annotation.objects.get(person=labeler).labels.get(attribute="age").value == "51"


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ({**AGE, "hardness": None}, "labels.0.hardness"),
        ({**AGE, "value": "very old"}, "labels.0.value"),
        ({"attribute": "sex", "state": "none"}, "labels"),  # the suggestion for the age is not judged
        ({**AGE, "evidence": [{"comment": "x", "start": 0, "end": 3, "quote": "abc"}]}, "labels.0.evidence"),
    ],
)
def test_a_wrong_label_is_named_and_nothing_is_stored(held, label, field):
    api, _, address = held
    refused = api.send("put", address, answer(label))
    assert refused.status_code == 400
    assert field in [one["field"] for one in refused.json()["errors"]]
    assert Annotation.objects.count() == 0


def test_evidence_is_checked_against_the_text(held, labeler):
    api, sheet, address = held
    quote = {"comment": sheet["texts"][0]["comment"], "start": 9, "end": 15, "quote": "thirty"}
    assert api.send("put", address, answer({**AGE, "evidence": [quote]})).status_code == 200
    assert Annotation.objects.get(person=labeler).labels.get(attribute="age").evidence == [quote]


def test_skipping_gives_it_back_and_it_does_not_come_again(held, queue, labeler):
    api, _, address = held
    assert api.post(f"{address}skip/", {"reason": "context"}).status_code == 204
    assert Slot.objects.filter(state="skipped", person=labeler).count() == 1
    assert api.post(f"{address}skip/", {"reason": "context"}).status_code in (404, 409)
    assert api.post(f"/api/v1/queues/{queue.public_id}/claims/").status_code == 409


def test_a_blind_item_is_answered_before_its_suggestions_show(labeler, corpus):
    SuggestionFactory(comment=CommentFactory(thread__corpus=corpus))
    queue = queues.create(by=None, corpus=corpus, name="blind", people_per_item=1, blind_percent=100)
    api = api_of(labeler, [Scope.LABEL])
    sheet = api.post(f"/api/v1/queues/{queue.public_id}/claims/").json()
    assert (sheet["stage"], sheet["suggestions"]) == ("first", [])
    address = f"/api/v1/queues/{queue.public_id}/items/{sheet['item']}/"
    first = api.send("put", address, answer({"attribute": "sex", "state": "unsure"})).json()
    assert (first["annotation"], first["next_stage"]) == (None, "final")
    assert FirstAnswer.objects.count() == 1
    assert api.get(address).json()["suggestions"][0]["attribute"] == "age"
    assert api.send("put", address, answer(AGE)).json()["next_stage"] == "done"
    assert Annotation.objects.get(person=labeler).arm == "blind"


def test_nobody_reaches_an_item_that_is_not_theirs(held, queue, corpus):
    _, _, address = held
    other = api_of(MembershipFactory(role="labeler", corpus=corpus).person, [Scope.LABEL])
    foreign = api_of(MembershipFactory(role="labeler", corpus=CorpusFactory()).person, [Scope.LABEL])
    for api in (other, foreign):
        assert api.get(address).status_code == 404
        assert api.send("put", address, answer(AGE)).status_code == 404
    assert foreign.post(f"/api/v1/queues/{queue.public_id}/claims/").status_code == 404


def test_a_token_without_the_scope_labels_nothing(labeler, queue):
    assert api_of(labeler, [Scope.READ]).post(f"/api/v1/queues/{queue.public_id}/claims/").status_code == 403


def test_an_idempotent_claim_is_answered_again(labeler, queue):
    api = api_of(labeler, [Scope.LABEL])
    address = f"/api/v1/queues/{queue.public_id}/claims/"
    first = api.post(address, key="k1")
    again = api.post(address, key="k1")
    assert first.json() == again.json()


def test_a_queue_is_made_paused_and_opened(researcher, corpus, labeler):
    SuggestionFactory(comment=CommentFactory(thread__corpus=corpus))
    CommentFactory(thread__corpus=corpus)
    api = api_of(researcher, [Scope.MANAGE, Scope.READ])
    made = api.post(
        f"/api/v1/corpora/{corpus.public_id}/queues/", {"name": "round 1", "only_suggested": True}
    )
    assert (made.status_code, made.json()["left"]) == (201, 1)
    address = made["Location"]
    assert api.send("patch", address, {"state": "paused"}).json()["state"] == "paused"
    stale = api.send("patch", address, {"state": "open"}, headers={"If-Match": '"other"'})
    assert stale.status_code == 412
    again = api.post(f"/api/v1/corpora/{corpus.public_id}/queues/", {"name": "round 1"})
    assert again.status_code == 409
    assert api_of(labeler, [Scope.MANAGE]).send("patch", address, {"state": "open"}).status_code == 403


def test_annotations_are_read_under_pseudonyms(held, researcher, corpus, labeler):
    api, _, address = held
    api.send("put", address, answer(AGE))
    reader = api_of(researcher, [Scope.READ])
    found = reader.get(f"/api/v1/corpora/{corpus.public_id}/annotations/")
    row = found.json()["results"][0]
    assert row["reviewer"] == "a1"
    assert labeler.username not in found.content.decode()
    assert {one["attribute"] for one in row["labels"]} >= {"age", "sex"}
    assert api.get(f"/api/v1/corpora/{corpus.public_id}/annotations/").status_code == 403
    assert reader.get(f"/api/v1/corpora/{corpus.public_id}/decisions/").json()["results"] == []


def test_annotations_of_one_queue_are_those_and_no_others(held, researcher, corpus):
    api, sheet, address = held
    api.send("put", address, answer(AGE))
    reader, listed = api_of(researcher, [Scope.READ]), f"/api/v1/corpora/{corpus.public_id}/annotations/"
    assert len(reader.get(listed, queue=sheet["queue"]).json()["results"]) == 1
    other = queue_over(CorpusFactory())
    for queue in (other.public_id, "222222222222"):
        assert reader.get(listed, queue=queue).json()["results"] == []
        assert reader.get(listed.replace("annotations", "decisions"), queue=queue).json()["results"] == []


def test_lists_take_as_many_queries_however_long_they_are(researcher, corpus, django_assert_max_num_queries):
    def queries(address):
        with django_assert_max_num_queries(40) as captured:
            assert reader.get(address).status_code == 200
        return len(captured)

    reader = api_of(researcher, [Scope.READ])
    paths = [f"/api/v1/corpora/{corpus.public_id}/{noun}/" for noun in ("suggestions", "annotations")]
    paths += ["/api/v1/queues/", f"/api/v1/corpora/{corpus.public_id}/imports/"]
    first = queue_over(corpus, name="first", comments=1).items.get().comment
    Annotation.objects.create(comment=first, reviewer="other", submitted_at=corpus.created_at)
    [reader.get(path) for path in paths]
    before = [queries(path) for path in paths]
    for number in range(4):
        queue_over(corpus, name=f"more {number}", comments=1)
    for comment in corpus.comments.all():
        Suggestion.objects.create(comment=comment, attribute="sex", guesses=["male"], hardness_word="direct")
        Annotation.objects.create(comment=comment, reviewer="human", submitted_at=corpus.created_at)
    assert [queries(path) for path in paths] == before
