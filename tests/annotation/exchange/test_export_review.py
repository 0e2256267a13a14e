"""What reviewing adds to the plain layout: evidence, notes, first answers of the blind arm, decisions."""

import json
import uuid

import pytest
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, Quote, State
from annotation.exchange.export import stream
from annotation.models import Decision, Item
from annotation.services import claims, review
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import queue_over

pytestmark = pytest.mark.database
NONE = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}


@pytest.fixture
def exported(labeler, adjudicator):
    queue = queue_over(comments=1)
    Item.objects.update(blind=True)
    item = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    quote = Quote(item.comment.public_id, 0, 7, "Comment")
    aged = {**NONE, "age": Label(State.VALUE, Outcome.ADDED, "30", 2, 4, (quote,))}
    review.answer_first(by=labeler, item=item, labels=NONE)
    review.submit(
        by=labeler,
        item=item,
        submission_id=uuid.uuid4(),
        labels=aged,
        suggestions={},
        now=timezone.now(),
        note="sure",
        arm="blind",
    )
    Decision.objects.create(
        item=item, attribute="age", state="value", value="31", hardness=1, reason="slip", by=adjudicator
    )
    text = "".join(stream(corpus=queue.corpus, layout="jsonl"))
    assert quote.comment not in text  # public ids belong to the site
    return item, json.loads(text)


def test_evidence_carries_the_quote_and_its_place_in_the_source_s_comment(exported):
    item, row = exported
    evidence = row["annotations"][0]["labels"]["age"]["evidence"]
    place = {"comment": item.comment.external_id, "start": 0, "end": 7, "quote": "Comment"}
    assert evidence == [place]
    assert row["text"][0:7] == "Comment"


def test_note_arm_and_both_answers_of_a_blind_item_are_in_it(exported):
    annotation = exported[1]["annotations"][0]
    assert (annotation["note"], annotation["arm"]) == ("sure", "blind")
    assert annotation["labels"]["age"]["value"] == "30"
    assert annotation["first_answer"]["age"]["state"] == "none"


def test_decisions_are_in_it_without_a_name(exported, adjudicator):
    row = exported[1]
    assert (row["decisions"][0]["value"], row["decisions"][0]["reason"]) == ("31", "slip")
    assert adjudicator.username not in json.dumps(row)
