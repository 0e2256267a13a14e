"""Acts on many comments: told first how many, done at once, refused when anything is not as it was said."""

import random
import re

import pytest
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from annotation.domain.comment_filter import CommentFilter
from annotation.domain.dealing import blind_places
from annotation.models import Item, Queue, Slot, Tally
from annotation.selectors import tallies
from annotation.services import bulk, claims, queues
from simulation.models import AuditEntry, Comment
from tests.annotation.test_search import annotated
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(corpus):
    return reverse("comments_bulk", args=[corpus.public_id])


@pytest.fixture
def comments(corpus):
    return [CommentFactory(thread__corpus=corpus, text=f"Night {n} on the bus.") for n in range(4)]


def chosen(corpus, comments=None, **asked):
    ids = None if comments is None else tuple(comment.public_id for comment in comments)
    return bulk.Chosen(corpus, CommentFilter(**asked), ids)


def states(corpus):
    return sorted(corpus.comments.values_list("state", flat=True))


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def hidden(answer):
    """The fields that the confirming form sends."""
    found = {}
    form = answer.content.decode().split('class="card-foot btns" action')[1]
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form):
        if name != "csrfmiddlewaretoken":
            found.setdefault(name, []).append(value)
    return found


def test_withdrawing_is_told_first_and_then_done(client_of, researcher, corpus, comments, address):
    browser = client_of(researcher)
    comments[3].state = "withdrawn"
    comments[3].save()
    told = browser.post(address, {"act": "withdraw", "id": [one.public_id for one in comments[1:]]})
    assert told.status_code == 200
    assert "Withdraw 2 comments?" in words(told)
    assert "You chose 3 comments." in words(told)
    assert "2 of 3 will be withdrawn" in words(told)
    assert "1 is withdrawn already" in words(told)
    assert states(corpus).count("withdrawn") == 1
    done = browser.post(address, hidden(told), follow=True)
    assert "2 comments were withdrawn." in words(done)
    assert states(corpus) == ["active", "withdrawn", "withdrawn", "withdrawn"]
    entry = AuditEntry.objects.get(action="comments.withdrawn")
    assert (entry.actor, entry.object_id) == (researcher, corpus.public_id)
    assert entry.details == {"comments": 2, "chosen_by": "one by one"}


def test_all_that_match_are_those_of_the_filter_on_every_page(
    client_of, researcher, corpus, comments, address
):
    for number in range(60):
        CommentFactory(thread__corpus=corpus, text="A zeppelin.", sequence=1000 + number)
    browser = client_of(researcher)
    told = browser.post(address, {"act": "withdraw", "which": "all", "q": "zeppelins", "page_id": ["x"]})
    assert "You chose all 60 comments that match text zeppelins ." in words(told)
    browser.post(address, hidden(told))
    assert Comment.objects.filter(state="withdrawn").count() == 60
    assert AuditEntry.objects.get(action="comments.withdrawn").details == {
        "comments": 60,
        "chosen_by": ["q"],
    }


def test_the_comments_of_the_page_can_be_chosen_without_ticking(
    client_of, researcher, corpus, comments, address
):
    browser = client_of(researcher)
    on_page = [one.public_id for one in comments[:2]]
    told = browser.post(address, {"act": "withdraw", "which": "page", "page_id": on_page, "q": "night"})
    assert "You chose 2 comments." in words(told)
    browser.post(address, hidden(told))
    assert {one.public_id for one in corpus.comments.filter(state="withdrawn")} == set(on_page)


def test_what_happens_to_reviews_is_told(client_of, researcher, labeler, corpus, comments, address):
    queue = queue_over(corpus, people=2)
    slot = claims.claim_next(by=labeler, queue=queue, now=timezone.now())
    annotated(comments[1], person=UserFactory(), age=("value", "30", 2, 2, "added"))
    told = words(client_of(researcher).post(address, {"act": "withdraw", "which": "all"}))
    assert "1 is open in front of somebody right now" in told
    assert "7 waiting reviews of them will not be handed out" in told
    assert "1 has labels. All labels are kept." in told
    bulk.withdraw(by=researcher, chosen=chosen(corpus), expected=4)
    slot.refresh_from_db()
    assert slot.state == Slot.LEASED
    assert comments[1].annotations.get().labels.count() == 1
    assert not Slot.objects.filter(state=Slot.OPEN).exists()
    assert tallies.standing(labeler, queue).all.left == 1  # the one that is open in front of somebody


def test_a_comment_that_comes_back_is_handed_out_again(researcher, labeler, corpus, comments):
    queue = queue_over(corpus, people=2)
    bulk.withdraw(by=researcher, chosen=chosen(corpus, comments[:1]), expected=1)
    assert claims.claim_next(by=labeler, queue=queue, now=timezone.now()).item.comment == comments[1]
    queues.raise_people(by=researcher, queue=queue, people=3, expected=3)
    bulk.restore(by=researcher, chosen=chosen(corpus, comments[:1]), expected=1)
    item = queue.items.get(comment=comments[0])
    assert item.slots.filter(state=Slot.OPEN).count() == 3
    other = MembershipFactory(role="labeler").person
    assert claims.claim_next(by=other, queue=queue, now=timezone.now()).item == item


def test_a_withdrawal_can_be_taken_back(client_of, researcher, corpus, comments, address):
    bulk.withdraw(by=researcher, chosen=chosen(corpus, comments[:3]), expected=3)
    browser = client_of(researcher)
    told = browser.post(address, {"act": "restore", "which": "all", "state": "withdrawn"})
    assert "Take back 3 withdrawn comments?" in words(told)
    assert "3 comments were taken back." in words(browser.post(address, hidden(told), follow=True))
    assert states(corpus) == ["active"] * 4
    assert AuditEntry.objects.get(action="comments.restored").details["comments"] == 3


def test_comments_are_added_behind_the_last_of_a_queue(client_of, researcher, corpus, comments, address):
    queue = queue_over(corpus, people=2)
    Queue.objects.filter(pk=queue.pk).update(blind_percent=50, seed=7)
    queue.refresh_from_db()
    new = [CommentFactory(thread__corpus=corpus, sequence=500 - n) for n in range(10)]
    gone = CommentFactory(thread__corpus=corpus, state="withdrawn", sequence=501)
    browser = client_of(researcher)
    told = browser.post(address, {"act": "add", "which": "all", "state": "both", "queue": queue.public_id})
    assert "Add 10 comments to “round 1”?" in words(told)
    assert "10 × 2 people = 20 reviews" in words(told)
    assert "4 are in the queue already" in words(told)
    assert "1 is withdrawn and is left out" in words(told)
    assert "10 comments were added to the queue “round 1”." in words(
        browser.post(address, hidden(told), follow=True)
    )
    added = list(queue.items.filter(position__gt=4).order_by("position"))
    assert [item.comment_id for item in added] == [one.pk for one in reversed(new)]
    assert [item.position for item in added] == list(range(5, 15))
    seed = random.Random("7:5").getrandbits(63)
    assert [item.position - 4 for item in added if item.blind] == list(blind_places(10, 50, seed))
    assert set(queue.items.annotate(n=Count("slots")).values_list("n", flat=True)) == {2}
    assert Slot.objects.get(item=added[0], number=2).position == 5
    assert Tally.objects.get(queue=queue, person=None).slots == 28
    assert not Item.objects.filter(comment=gone).exists()
    entry = AuditEntry.objects.get(action="queue.extended")
    assert (entry.object_id, entry.details["comments"]) == (queue.public_id, 10)


def test_many_are_added_in_batches(researcher, corpus, comments, monkeypatch):
    monkeypatch.setattr(bulk, "BATCH", 3)
    queue = Queue.objects.create(corpus=corpus, name="empty", blind_percent=100)
    for number in range(4):
        CommentFactory(thread__corpus=corpus, sequence=100 + number)
    assert bulk.add_to_queue(by=researcher, chosen=chosen(corpus), queue=queue, expected=8) == 8
    assert list(queue.items.order_by("position").values_list("position", "blind")) == [
        (place, True) for place in range(1, 9)
    ]


def test_an_empty_choice_is_refused_and_never_means_all(client_of, researcher, corpus, comments, address):
    browser = client_of(researcher)
    for fields in ({"which": "ticked"}, {}, {"which": "page"}, {"confirm": "4"}, {"id": [], "q": "night"}):
        answer = browser.post(address, {"act": "withdraw", **fields})
        assert answer.status_code == 422, fields
        assert "Choose at least one comment" in answer.content.decode()
    assert states(corpus) == ["active"] * 4
    with pytest.raises(bulk.Refused):
        bulk.withdraw(by=researcher, chosen=chosen(corpus, []), expected=0)


def test_an_id_of_another_corpus_refuses_the_whole_act(client_of, researcher, corpus, comments, address):
    other = CommentFactory()
    ids = [comments[0].public_id, other.public_id]
    for extra in ({}, {"confirm": "1"}, {"confirm": "2"}):
        answer = client_of(researcher).post(address, {"act": "withdraw", "id": ids, **extra})
        assert answer.status_code == 422
        assert "1 of the chosen comments are not in this corpus" in answer.content.decode()
    assert set(Comment.objects.values_list("state", flat=True)) == {"active"}


def test_another_number_than_was_told_asks_again(client_of, researcher, corpus, comments, address):
    browser = client_of(researcher)
    told = browser.post(address, {"act": "withdraw", "which": "all", "q": "night"})
    CommentFactory(thread__corpus=corpus, text="Another night.")
    again = browser.post(address, hidden(told))
    assert again.status_code == 409
    assert "Nothing was changed yet. The comments changed meanwhile: you were told 4, now it would be 5." in (
        words(again)
    )
    assert set(states(corpus)) == {"active"}
    assert not AuditEntry.objects.filter(action="comments.withdrawn").exists()
    assert hidden(again)["confirm"] == ["5"]
    assert browser.post(address, hidden(again)).status_code == 302
    assert set(states(corpus)) == {"withdrawn"}


def test_the_second_press_of_the_same_button_changes_nothing(
    client_of, researcher, corpus, comments, address
):
    browser = client_of(researcher)
    fields = hidden(browser.post(address, {"act": "withdraw", "which": "all"}))
    browser.post(address, fields)
    again = browser.post(address, fields)
    assert again.status_code == 409
    assert "Nothing to do" in words(again)
    assert AuditEntry.objects.filter(action="comments.withdrawn").count() == 1


def test_adding_asks_again_too_when_the_number_changed(researcher, corpus, comments):
    queue = Queue.objects.create(corpus=corpus, name="empty")
    with pytest.raises(bulk.Changed):
        bulk.add_to_queue(by=researcher, chosen=chosen(corpus), queue=queue, expected=3)
    assert not queue.items.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"act": "delete", "which": "all"},
        {"act": "", "which": "all"},
        {"act": "withdraw", "which": "everything"},
        {"act": "add", "which": "all"},
    ],
)
def test_an_act_that_is_not_on_the_list_is_refused(client_of, researcher, corpus, comments, address, fields):
    answer = client_of(researcher).post(address, fields)
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.content.decode()
    assert set(states(corpus)) == {"active"}


def test_a_filter_that_cannot_be_read_is_refused(client_of, researcher, corpus, comments, address):
    answer = client_of(researcher).post(
        address, {"act": "withdraw", "which": "all", "hardness_from": "9", "confirm": "4"}
    )
    assert answer.status_code == 422
    assert "choose a number from 1 to 5" in answer.content.decode()
    assert set(states(corpus)) == {"active"}


def test_nothing_to_do_is_said_without_a_button(client_of, researcher, corpus, comments, address):
    answer = client_of(researcher).post(address, {"act": "restore", "which": "all", "state": "both"})
    assert "Nothing to do" in words(answer)
    assert 'name="confirm"' not in answer.content.decode()


def test_a_queue_that_is_not_open_takes_nothing(client_of, researcher, corpus, comments, address):
    queue = Queue.objects.create(corpus=corpus, name="round 2", state="paused")
    answer = client_of(researcher).post(address, {"act": "add", "which": "all", "queue": queue.public_id})
    assert answer.status_code == 422
    assert "The queue “round 2” is paused" in answer.content.decode()
    with pytest.raises(bulk.Refused):
        bulk.add_to_queue(by=researcher, chosen=chosen(corpus), queue=queue, expected=4)
    assert not Item.objects.exists()


def test_a_queue_of_another_corpus_or_in_the_trash_is_not_there(
    client_of, researcher, corpus, comments, address
):
    elsewhere = Queue.objects.create(corpus=CorpusFactory(), name="elsewhere")
    trashed = Queue.objects.create(corpus=corpus, name="trashed", trashed_at=timezone.now())
    for queue in (elsewhere, trashed):
        fields = {"act": "add", "which": "all", "queue": queue.public_id, "confirm": "4"}
        assert client_of(researcher).post(address, fields).status_code == 404
        with pytest.raises(bulk.Refused):
            bulk.add_to_queue(by=researcher, chosen=chosen(corpus), queue=queue, expected=4)
    assert not Item.objects.exists()


def test_more_than_one_act_may_touch_is_refused(
    client_of, researcher, corpus, comments, address, monkeypatch
):
    monkeypatch.setattr(bulk, "MOST_AT_ONCE", 3)
    queue = Queue.objects.create(corpus=corpus, name="round 2")
    browser = client_of(researcher)
    add = browser.post(address, {"act": "add", "which": "all", "queue": queue.public_id})
    withdraw = browser.post(address, {"act": "withdraw", "which": "all"})
    assert (add.status_code, withdraw.status_code) == (422, 422)
    assert "At most 3 comments can be added to a queue at once, not 4." in words(add)
    assert "At most 3 comments can be withdrawn at once, not 4." in words(withdraw)
    fields = {"act": "withdraw", "which": "all", "confirm": "4"}
    assert browser.post(address, fields).status_code == 422
    corpus.comments.update(state="withdrawn")
    restore = browser.post(address, {"act": "restore", "which": "all", "state": "withdrawn"})
    assert "At most 3 comments can be taken back at once" in words(restore)
    assert set(states(corpus)) == {"withdrawn"}


def test_only_who_manages_queues_may(client_of, labeler, adjudicator, corpus, comments, address):
    fields = {"act": "withdraw", "which": "all", "confirm": "4"}
    for person in (labeler, adjudicator):
        assert client_of(person).post(address, fields).status_code == 403
    elsewhere = UserFactory()
    MembershipFactory(person=elsewhere, corpus=CorpusFactory(), role="researcher")
    assert client_of(elsewhere).post(address, fields).status_code == 404
    assert states(corpus) == ["active"] * 4


def test_the_address_is_for_posting_only(client_of, researcher, address):
    assert client_of(researcher).get(address).status_code == 405


def test_one_that_matches_by_suggestion_and_by_label_is_withdrawn_once(researcher, corpus, comments):
    SuggestionFactory(comment=comments[0])
    annotated(comments[0], person=UserFactory(), age=("value", "30", 2, 2, "confirmed"))
    which = chosen(corpus, attribute="age")
    assert bulk.withdrawal(which).touched == 1
    assert bulk.withdraw(by=researcher, chosen=which, expected=1) == 1


def test_no_text_gets_into_the_audit(researcher, corpus, comments):
    bulk.withdraw(by=researcher, chosen=chosen(corpus, text="night"), expected=4)
    assert "night" not in str(AuditEntry.objects.get(action="comments.withdrawn").details)
