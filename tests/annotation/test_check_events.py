"""The stored state can be rebuilt from the append-only record, and a deviation is found."""

import uuid
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, Quote, State
from annotation.models import Annotation, AttributeLabel, Tally
from annotation.services import claims, review
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import queue_over

pytestmark = pytest.mark.database
NONE = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}


@pytest.fixture
def answered(labeler):
    queue = queue_over(comments=1)
    item = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    quote = Quote(item.comment.public_id, 0, 7, "Comment")
    first = {**NONE, "age": Label(State.VALUE, Outcome.ADDED, "30", 2, 4, (quote,))}
    second = {**NONE, "age": Label(State.VALUE, Outcome.ADDED, "31", 2, 4, (quote,), bulk=True)}
    for labels, note in ((first, ""), (second, "a note")):
        review.submit(
            by=labeler,
            item=item,
            submission_id=uuid.uuid4(),
            labels=labels,
            suggestions={},
            now=timezone.now(),
            note=note,
        )
    return item


def check():
    out, err = StringIO(), StringIO()
    call_command("check_events", stdout=out, stderr=err)
    return out.getvalue()


def test_labels_note_and_counts_are_rebuilt_from_the_record(answered):
    said = check()
    assert "1 annotations rebuilt from 10 events" in said
    assert "The stored state is what the record says." in said


def test_an_imported_corpus_agrees_with_its_events(corpus, settings):
    call_command(
        "import_synthpai",
        settings.BASE_DIR / "simulation" / "starter_corpus",
        corpus="told",
        stdout=StringIO(),
    )
    assert "what the record says" in check()


def test_a_label_changed_behind_the_record_is_found(answered):
    AttributeLabel.objects.filter(attribute="age").update(value="32")
    with pytest.raises(CommandError, match="1 deviations"):
        check()


def test_a_lost_label_a_changed_note_and_a_wrong_count_are_found(answered):
    AttributeLabel.objects.filter(attribute="age").delete()
    Annotation.objects.update(note="another note")
    Tally.objects.filter(person=None).update(slots=7)
    with pytest.raises(CommandError, match="3 deviations"):
        check()
