"""Leads take comments back, give them to somebody else, and ask once more; each act is written down."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Draft, Flag, Item, Queue, Slot
from annotation.selectors import overview_holds, tallies
from annotation.services import claims, holds
from annotation.services.holds import Refused
from simulation.models import AuditEntry
from tests.factories.annotation import queue_over
from tests.factories.overview import skip, submit
from tests.factories.simulation import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


def claim(person, queue):
    return claims.claim_next(by=person, queue=queue, now=timezone.now())


def written():
    return list(AuditEntry.objects.filter(action__startswith="slot.").values_list("action", "details"))


@pytest.fixture
def queue(corpus):
    """Two comments for one person each; a skip counts as dealt with."""
    made = queue_over(corpus, comments=2)
    Queue.objects.filter(pk=made.pk).update(skip_policy="counts")
    made.refresh_from_db()
    return made


@pytest.fixture
def other(db):
    return MembershipFactory(person__username="otto").person


# Taking back


def test_a_comment_taken_back_is_free_for_the_next_and_its_draft_stays(researcher, labeler, other, queue):
    slot = claim(labeler, queue)
    Draft.objects.create(item=slot.item, person=labeler, fields={"age": "30"})
    assert holds.release(by=researcher, slot=slot) is False
    slot.refresh_from_db()
    assert (slot.state, slot.person, slot.leased_until) == (Slot.OPEN, None, None)
    assert Draft.objects.filter(item=slot.item, person=labeler).exists()
    assert claim(other, queue).item == slot.item
    assert written() == [("slot.released", {"from": labeler.public_id, "queue": queue.public_id})]
    entry = AuditEntry.objects.get(action="slot.released")
    assert (entry.actor, entry.object_type, entry.object_id) == (researcher, "item", slot.item.public_id)
    assert entry.corpus_id_text == queue.corpus.public_id


def test_an_answer_that_was_kept_beside_takes_the_place_that_gets_free(researcher, labeler, other, queue):
    slot = claim(labeler, queue)
    late = submit(other, slot.item)
    assert late.over_quota
    assert holds.release(by=researcher, slot=slot) is True
    late.refresh_from_db()
    assert not late.over_quota


def test_what_was_done_meanwhile_is_not_taken_back(researcher, labeler, queue):
    slot = claim(labeler, queue)
    submit(labeler, slot.item)
    with pytest.raises(Refused, match="not held by that person"):
        holds.release(by=researcher, slot=slot)
    slot.refresh_from_db()
    assert slot.state == Slot.DONE
    assert written() == []


def test_what_somebody_else_holds_meanwhile_is_not_taken_from_them(researcher, labeler, other, queue):
    slot = claim(labeler, queue)
    holds.release(by=researcher, slot=claim(labeler, queue))
    assert claim(other, queue).pk == slot.pk
    with pytest.raises(Refused):
        holds.release(by=researcher, slot=slot)
    assert Slot.objects.get(pk=slot.pk).person == other


def test_all_whose_time_is_over_are_taken_back_and_no_other(researcher, labeler, other, queue):
    over, fresh = claim(labeler, queue), claim(other, queue)
    Slot.objects.filter(pk=over.pk).update(leased_until=timezone.now() - timedelta(minutes=1))
    assert holds.release_ended(by=researcher, queue=queue, now=timezone.now()) == 1
    assert Slot.objects.get(pk=over.pk).state == Slot.OPEN
    assert Slot.objects.get(pk=fresh.pk).state == Slot.LEASED
    assert holds.release_ended(by=researcher, queue=queue, now=timezone.now()) == 0
    assert written() == [("slot.released", {"ended": 1})]


# Giving away


def test_a_held_comment_given_away_is_the_first_the_other_sees(researcher, labeler, other, queue):
    slot = claim(labeler, queue)
    holds.reassign(by=researcher, slot=slot, to=other, now=timezone.now())
    assert claim(other, queue).pk == slot.pk
    assert claim(labeler, queue).item != slot.item
    details = {"from": labeler.public_id, "to": other.public_id, "queue": queue.public_id}
    assert written() == [("slot.reassigned", details)]


def test_a_free_comment_can_be_given_too(researcher, other, queue):
    slot = Slot.objects.filter(queue=queue).last()
    holds.reassign(by=researcher, slot=slot, to=other, now=timezone.now())
    assert claim(other, queue).pk == slot.pk
    assert written() == [("slot.reassigned", {"to": other.public_id, "queue": queue.public_id})]


def test_who_holds_another_comment_of_the_queue_gets_none(researcher, labeler, other, queue):
    slot, theirs = claim(labeler, queue), claim(other, queue)
    with pytest.raises(Refused, match="holds another comment"):
        holds.reassign(by=researcher, slot=slot, to=other, now=timezone.now())
    assert Slot.objects.get(pk=slot.pk).person == labeler
    assert Slot.objects.get(pk=theirs.pk).person == other
    assert written() == []


def test_who_may_not_work_in_the_queue_gets_none(researcher, labeler, stranger, queue):
    slot = claim(labeler, queue)
    elsewhere = MembershipFactory(corpus=queue_over(comments=1).corpus).person
    for person in (stranger, elsewhere):
        with pytest.raises(Refused, match="may not work"):
            holds.reassign(by=researcher, slot=slot, to=person, now=timezone.now())
    queue.named_only = True
    queue.save()
    with pytest.raises(Refused, match="list"):
        holds.reassign(by=researcher, slot=slot, to=researcher, now=timezone.now())


def test_nobody_gets_a_comment_that_they_had(researcher, labeler, other, corpus):
    queue = queue_over(corpus, comments=1, people=2)
    skipped = skip(other, queue)
    slot = claim(labeler, queue)
    with pytest.raises(Refused, match="has skipped"):
        holds.reassign(by=researcher, slot=slot, to=other, now=timezone.now())
    with pytest.raises(Refused, match="holds this comment"):
        holds.reassign(by=researcher, slot=slot, to=labeler, now=timezone.now())
    third = MembershipFactory().person
    submit(third, slot.item)
    with pytest.raises(Refused, match="has done"):
        holds.reassign(by=researcher, slot=slot, to=third, now=timezone.now())
    late = MembershipFactory().person
    assert submit(late, slot.item).over_quota
    with pytest.raises(Refused, match="kept beside"):
        holds.reassign(by=researcher, slot=slot, to=late, now=timezone.now())
    with pytest.raises(Refused, match="not as it was"):
        holds.reassign(by=researcher, slot=skipped, to=UserFactory(), now=timezone.now())


def test_a_withdrawn_comment_is_given_to_nobody(researcher, labeler, other, queue):
    slot = claim(labeler, queue)
    slot.item.comment.state = "withdrawn"
    slot.item.comment.save()
    with pytest.raises(Refused, match="withdrawn"):
        holds.reassign(by=researcher, slot=slot, to=other, now=timezone.now())


# Asking again: skipped


def test_a_skipped_comment_opens_again_for_anybody(researcher, labeler, queue):
    slot = skip(labeler, queue)
    holds.reopen_skipped(by=researcher, slot=slot)
    slot.refresh_from_db()
    assert (slot.state, slot.person, slot.skip_reason) == (Slot.OPEN, None, "")
    assert tallies.progress_of([queue])[queue.pk].skipped == 0
    assert claim(labeler, queue).item == slot.item
    details = {"from": labeler.public_id, "state": "skipped", "reason": "context", "queue": queue.public_id}
    assert written() == [("slot.reopened", details)]


def test_a_skip_for_which_somebody_else_was_asked_does_not_open_again(researcher, labeler, corpus):
    queue = queue_over(corpus, comments=1)
    slot = skip(labeler, queue)
    assert overview_holds.reopenable(queue).count() == 0
    with pytest.raises(Refused, match="not short of answers"):
        holds.reopen_skipped(by=researcher, slot=slot)
    assert Slot.objects.filter(queue=queue).count() == 2


def test_a_comment_skipped_too_often_leaves_the_adjudicator_when_it_opens_again(
    researcher, labeler, other, corpus
):
    queue = queue_over(corpus, comments=1)
    queue.skip_policy = "adjudicator"
    queue.save()
    skip(labeler, queue)
    slot = skip(other, queue)
    item = Item.objects.get(pk=slot.item_id)
    assert item.flagged
    holds.reopen_skipped(by=researcher, slot=slot)
    item.refresh_from_db()
    assert not item.flagged


def test_a_flag_of_a_person_stays_when_a_skip_is_opened_again(researcher, labeler, other, queue):
    slot = skip(labeler, queue)
    Flag.objects.create(item=slot.item, person=other)
    Item.objects.filter(pk=slot.item_id).update(flagged=True)
    holds.reopen_skipped(by=researcher, slot=slot)
    assert Item.objects.get(pk=slot.item_id).flagged


def test_all_skipped_open_again_when_they_are_as_many_as_was_said(researcher, labeler, other, queue):
    skip(labeler, queue)
    skip(labeler, queue)
    with pytest.raises(Refused, match="It was 1 when the page was made and is 2 now"):
        holds.reopen_all_skipped(by=researcher, queue=queue, expected=1)
    assert Slot.objects.filter(state=Slot.SKIPPED).count() == 2
    assert holds.reopen_all_skipped(by=researcher, queue=queue, expected=2) == 2
    assert Slot.objects.filter(state=Slot.OPEN, person=None, skip_reason="").count() == 2
    assert tallies.progress_of([queue])[queue.pk].left == 2
    assert written() == [("slot.reopened", {"state": "skipped", "slots": 2})]


def test_of_several_skips_of_one_comment_as_many_open_as_it_is_short_of(researcher, labeler, other, corpus):
    queue = queue_over(corpus, comments=1)
    queue.skip_policy = "adjudicator"
    queue.save()
    skip(labeler, queue)
    skip(other, queue)
    assert overview_holds.reopenable(queue).count() == 1
    holds.reopen_all_skipped(by=researcher, queue=queue, expected=1)
    assert sorted(Slot.objects.values_list("state", flat=True)) == ["open", "skipped"]


# Asking again: done


def test_a_done_comment_goes_to_somebody_else_and_the_answer_is_kept_beside(
    researcher, labeler, other, queue
):
    slot = claim(labeler, queue)
    answer = submit(labeler, slot.item)
    slot.refresh_from_db()
    holds.reopen_done(by=researcher, slot=slot, reason="  in a  hurry ")
    answer.refresh_from_db()
    slot.refresh_from_db()
    assert (answer.over_quota, answer.extra) == (True, {"set_aside": "in a hurry"})
    assert (slot.state, slot.person) == (Slot.OPEN, None)
    assert claim(labeler, queue).item != slot.item
    assert claim(other, queue).item == slot.item
    details = {"from": labeler.public_id, "state": "done", "queue": queue.public_id}
    assert written() == [("slot.reopened", details)]


def test_the_answer_set_aside_does_not_come_back_by_itself(researcher, labeler, other, queue):
    item = claim(labeler, queue).item
    answer = submit(labeler, item)
    holds.reopen_done(by=researcher, slot=item.slots.get(), reason="in a hurry")
    holds.release(by=researcher, slot=claim(other, queue))
    answer.refresh_from_db()
    assert answer.over_quota
    submit(labeler, item, age="unsure")
    answer.refresh_from_db()
    assert (answer.version, answer.over_quota) == (2, True)
    assert item.slots.get().state == Slot.OPEN
    assert not submit(other, item).over_quota


def test_asking_somebody_else_needs_a_reason_and_a_comment_that_is_done(researcher, labeler, queue):
    slot = claim(labeler, queue)
    for reason, problem in ((" ", "Say in a few words"), ("x" * 301, "301 characters"), ("late", "not done")):
        with pytest.raises(Refused, match=problem):
            holds.reopen_done(by=researcher, slot=slot, reason=reason)
    assert written() == []


@pytest.mark.parametrize("fields", [{"agreement": "settled"}, {"gold": True}])
def test_settled_and_gold_comments_are_asked_of_nobody_else(researcher, labeler, queue, fields):
    item = claim(labeler, queue).item
    submit(labeler, item)
    Item.objects.filter(pk=item.pk).update(**fields)
    with pytest.raises(Refused):
        holds.reopen_done(by=researcher, slot=item.slots.get(), reason="late")
    assert not Annotation.objects.get().over_quota


# The pages


def acts(queue, slot, person):
    where = {"item": slot.item.public_id, "person": person.public_id}
    return [
        ("queue_release", where),
        ("queue_release_ended", {}),
        ("queue_reassign", {**where, "to": person.public_id}),
        ("queue_reopen", {**where, "reason": "late"}),
        ("queue_reopen_skipped", {"expected": "0"}),
    ]


def test_only_leads_act_and_only_in_their_queues(labeler, adjudicator, queue, client_of):
    slot = claim(labeler, queue)
    elsewhere = MembershipFactory(corpus=queue_over(comments=1).corpus, role="researcher").person
    refused = [(client_of(person), status) for person, status in ((labeler, 403), (adjudicator, 403))]
    foreign = client_of(elsewhere)
    for name, fields in acts(queue, slot, labeler):
        address = reverse(name, args=[queue.public_id])
        for client, status in [*refused, (foreign, 404)]:
            assert client.post(address, fields).status_code == status, name
        assert foreign.get(address).status_code == 405
    assert Slot.objects.get(pk=slot.pk).person == labeler
    assert written() == []


def test_the_page_takes_back_and_says_what_happens(researcher, labeler, queue, client_of):
    slot, client = claim(labeler, queue), client_of(researcher)
    fields = {"item": slot.item.public_id, "person": labeler.public_id}
    page = client.post(reverse("queue_release", args=[queue.public_id]), fields, follow=True)
    assert "Taken back from lena; the next who asks gets it. Their draft stays." in page.content.decode()
    again = client.post(reverse("queue_release", args=[queue.public_id]), fields)
    assert again.status_code == 422
    assert "Nothing was changed" in again.content.decode()


def test_the_page_gives_away_or_says_why_not(researcher, labeler, other, stranger, queue, client_of):
    slot, client = claim(labeler, queue), client_of(researcher)
    address = reverse("queue_reassign", args=[queue.public_id])
    fields = {"item": slot.item.public_id, "person": labeler.public_id}
    assert client.post(address, {**fields, "to": "nobody"}).status_code == 404
    assert client.post(address, {**fields, "person": "nobody", "to": other.public_id}).status_code == 404
    refused = client.post(address, {**fields, "to": stranger.public_id})
    assert refused.status_code == 422
    assert "sven may not work in this queue" in refused.content.decode()
    page = client.post(address, {**fields, "to": other.public_id}, follow=True)
    assert "Given to otto until" in page.content.decode()
    assert Slot.objects.get(pk=slot.pk).person == other


def test_an_item_of_another_queue_is_not_reached(researcher, labeler, queue, client_of):
    slot = claim(labeler, queue)
    there = queue_over(queue.corpus, name="there")
    fields = {"item": slot.item.public_id, "person": labeler.public_id}
    page = client_of(researcher).post(reverse("queue_release", args=[there.public_id]), fields)
    assert page.status_code == 422
    assert Slot.objects.get(pk=slot.pk).person == labeler


def test_the_page_takes_back_all_whose_time_is_over(researcher, labeler, queue, client_of):
    claim(labeler, queue)
    client, address = client_of(researcher), reverse("queue_release_ended", args=[queue.public_id])
    assert "No lease is over" in client.post(address, follow=True).content.decode()
    Slot.objects.filter(state=Slot.LEASED).update(leased_until=timezone.now() - timedelta(minutes=1))
    page = client.get(reverse("queue_overview", args=[queue.public_id])).content.decode()
    assert "Take back 1 whose time is over" in page
    assert "1 comment taken back" in client.post(address, follow=True).content.decode()


def test_the_page_of_a_person_opens_again_and_asks_somebody_else(researcher, labeler, queue, client_of):
    done = claim(labeler, queue)
    submit(labeler, done.item)
    skipped = skip(labeler, queue)
    client, address = client_of(researcher), reverse("queue_reopen", args=[queue.public_id])
    page = reverse("queue_person", args=[queue.public_id, labeler.public_id])
    assert (
        "cannot be judged without more context"
        in client.get(f"{page}?state=skipped").content.decode().lower()
    )
    fields = {"item": done.item.public_id, "person": labeler.public_id}
    refused = client.post(address, {**fields, "reason": ""})
    assert refused.status_code == 422
    assert "Say in a few words" in refused.content.decode()
    answer = client.post(address, {**fields, "reason": "<b>in a hurry"}, follow=True).content.decode()
    assert "What lena said is kept beside" in answer
    assert "Somebody else was asked: &lt;b&gt;in a hurry" in answer
    again = client.post(address, {"item": skipped.item.public_id, "person": labeler.public_id}, follow=True)
    assert "Open again, for anybody." in again.content.decode()
    assert client.post(address, {**fields, "reason": "late"}).status_code == 422


def test_the_page_opens_all_skipped_when_the_count_still_holds(researcher, labeler, queue, client_of):
    skip(labeler, queue)
    client, address = client_of(researcher), reverse("queue_reopen_skipped", args=[queue.public_id])
    assert (
        "Re-open all skipped (1)?"
        in client.get(reverse("queue_overview", args=[queue.public_id])).content.decode()
    )
    for expected in ("2", "", "x", "²"):
        assert client.post(address, {"expected": expected}).status_code == 422
    page = client.post(address, {"expected": "1"}, follow=True).content.decode()
    assert "1 skipped comment is open again, for anybody." in page
