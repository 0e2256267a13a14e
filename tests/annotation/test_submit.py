"""Submitting: one row an attribute, one event a change, one press stored once."""

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, State
from annotation.models import Annotation, AnnotationEvent, AttributeLabel, Slot, Submission
from annotation.services import claims, review
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import queue_over

pytestmark = pytest.mark.database


def labels(**changed):
    rest = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS}
    return {**rest, **changed}


AGED_30 = Label(State.VALUE, Outcome.ADDED, "30", 2, 4)


def submit(person, item, *, submission_id=None, now=None, **changed):
    return review.submit(
        by=person,
        item=item,
        submission_id=submission_id or uuid.uuid4(),
        labels=labels(**changed),
        suggestions={},
        now=now or timezone.now(),
        active_ms=4000,
    )


@pytest.fixture
def held(labeler):
    queue = queue_over(comments=2)
    return claims.claim_next(by=labeler, queue=queue, now=timezone.now())


def test_a_submission_stores_eight_labels_and_finishes_the_slot(labeler, held):
    annotation = submit(labeler, held.item, age=AGED_30).annotation
    assert annotation.labels.count() == 8
    stored = annotation.labels.get(attribute="age")
    assert (stored.state, stored.value, stored.hardness, stored.certainty) == ("value", "30", 2, 4)
    held.refresh_from_db()
    assert (held.state, held.person, held.leased_until) == (Slot.DONE, labeler, None)
    assert annotation.active_ms == 4000


def test_the_same_press_twice_is_stored_once(labeler, held):
    press = uuid.uuid4()
    first = submit(labeler, held.item, submission_id=press, age=AGED_30)
    second = submit(labeler, held.item, submission_id=press, age=AGED_30)
    assert (first.replayed, second.replayed) == (False, True)
    assert first.annotation == second.annotation
    assert Annotation.objects.count() == 1
    assert AnnotationEvent.objects.count() == 8


def test_another_person_s_submission_id_is_refused(labeler, researcher, held):
    press = uuid.uuid4()
    submit(labeler, held.item, submission_id=press)
    with pytest.raises(PermissionError):
        submit(researcher, held.item, submission_id=press)


def test_a_change_writes_an_event_for_what_differs_and_nothing_else(labeler, held):
    submit(labeler, held.item, age=AGED_30)
    changed = submit(labeler, held.item, age=Label(State.VALUE, Outcome.ADDED, "31", 2, 4))
    assert changed.changed == 1
    event = AnnotationEvent.objects.order_by("id").last()
    assert (event.attribute, event.old["value"], event.new["value"]) == ("age", "30", "31")
    annotation = changed.annotation
    annotation.refresh_from_db()
    assert annotation.version == 2
    assert annotation.active_ms == 8000


def test_the_labels_can_be_rebuilt_from_the_events(labeler, held):
    submit(labeler, held.item, age=AGED_30)
    annotation = submit(labeler, held.item, sex=Label(State.UNSURE, Outcome.UNSURE)).annotation
    stored = {row.attribute: review.as_json(row) for row in annotation.labels.all()}
    assert review.labels_from_events(annotation) == stored


def test_events_can_neither_be_changed_nor_deleted(labeler, held):
    submit(labeler, held.item)
    for act in (
        lambda: AnnotationEvent.objects.update(attribute="sex"),
        AnnotationEvent.objects.all().delete,
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


def test_a_late_answer_takes_a_free_slot_of_its_item(labeler, researcher, held):
    late = timezone.now() + claims.LEASE + timedelta(minutes=1)
    claims.release_expired(queue=held.queue, now=late)
    assert not submit(labeler, held.item, now=late).annotation.over_quota
    held.refresh_from_db()
    assert held.state == Slot.DONE


def test_a_late_answer_is_kept_over_quota_when_others_have_the_slots(labeler, researcher, held):
    late = timezone.now() + claims.LEASE + timedelta(minutes=1)
    claims.release_expired(queue=held.queue, now=late)
    taken = claims.claim_next(by=researcher, queue=held.queue, now=late)
    assert taken.item == held.item
    assert submit(labeler, held.item, now=late).annotation.over_quota
    assert not submit(researcher, held.item, now=late).annotation.over_quota


def test_a_late_answer_fills_the_slot_when_the_other_person_leaves_it(labeler, researcher, held):
    late = timezone.now() + claims.LEASE + timedelta(minutes=1)
    claims.release_expired(queue=held.queue, now=late)
    claims.claim_next(by=researcher, queue=held.queue, now=late)
    annotation = submit(labeler, held.item, now=late).annotation
    much_later = late + claims.LEASE + timedelta(minutes=1)
    claims.release_expired(queue=held.queue, now=much_later)
    upcoming = claims.claim_next(by=labeler, queue=held.queue, now=much_later)
    assert upcoming.item != held.item  # what one has answered is never handed out again
    annotation.refresh_from_db()
    assert not annotation.over_quota
    assert Slot.objects.get(item=held.item).person == labeler


def test_the_only_answer_beside_a_skip_is_within_quota(labeler, researcher, held):
    claims.skip(by=labeler, item=held.item, now=timezone.now())
    assert not submit(researcher, held.item).annotation.over_quota
    assert list(held.item.slots.order_by("number").values_list("state", flat=True)) == ["skipped", "done"]


def test_a_skip_makes_room_for_an_answer_that_was_too_many(labeler, researcher, held):
    annotation = submit(researcher, held.item).annotation
    assert annotation.over_quota
    claims.skip(by=labeler, item=held.item, now=timezone.now())
    annotation.refresh_from_db()
    assert not annotation.over_quota


def test_a_skipped_comment_can_still_be_answered_and_then_counts(labeler, held):
    claims.skip(by=labeler, item=held.item, now=timezone.now())
    assert not submit(labeler, held.item, age=AGED_30).annotation.over_quota
    held.refresh_from_db()
    assert held.state == Slot.DONE


def test_a_known_submission_id_with_other_answers_is_a_change_and_not_a_replay(labeler, held):
    press = uuid.uuid4()
    submit(labeler, held.item, submission_id=press, age=AGED_30)
    again = submit(labeler, held.item, submission_id=press, age=Label(State.VALUE, Outcome.ADDED, "44", 2, 4))
    assert (again.replayed, again.changed) == (False, 1)
    assert AttributeLabel.objects.get(attribute="age").value == "44"


@pytest.mark.parametrize(
    "wrong",
    [
        {"hardness": 6, "state": "value", "value": "x"},
        {"certainty": 0, "state": "none"},
        {"state": "value", "value": "x", "hardness": None},
        {"state": "value", "value": "", "hardness": 1},
    ],
)
def test_the_database_refuses_a_label_outside_the_scales(labeler, held, wrong):
    annotation = submit(labeler, held.item).annotation
    annotation.labels.all().delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        AttributeLabel.objects.create(annotation=annotation, attribute="age", outcome="added", **wrong)


def test_the_database_refuses_two_labels_for_one_attribute(labeler, held):
    annotation = submit(labeler, held.item).annotation
    with pytest.raises(IntegrityError), transaction.atomic():
        AttributeLabel.objects.create(annotation=annotation, attribute="age", state="none", outcome="none")


@pytest.mark.django_db(transaction=True)
def test_a_double_press_on_two_connections_is_stored_once(labeler):
    queue = queue_over(comments=1)
    item = claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item
    press, results, start = uuid.uuid4(), [], threading.Barrier(4)

    def send():
        try:
            start.wait()
            results.append(submit(labeler, item, submission_id=press, age=AGED_30).replayed)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True, True, True]
    assert (Annotation.objects.count(), Submission.objects.count(), AttributeLabel.objects.count()) == (
        1,
        1,
        8,
    )
