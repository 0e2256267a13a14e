"""Making a queue: what the page says beforehand is what is made, once."""

import threading
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.urls import reverse

from annotation.models import Guideline, Queue, Slot
from simulation.domain.roles import Role
from simulation.models import AuditEntry
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ThreadFactory


@pytest.fixture
def comments(corpus):
    thread = ThreadFactory(corpus=corpus)
    return [
        CommentFactory(thread=thread, sequence=number, text=f"The {word} is late.")
        for number, word in enumerate(["bus", "train", "bus", "ferry", "bus"])
    ]


def address(corpus, **asked):
    return reverse("queue_create", args=[corpus.public_id]) + (f"?{urlencode(asked)}" if asked else "")


def sent(**changed):
    """The form as the page sends it for the five comments of `comments`."""
    fields = {
        "name": "round 1",
        "people_per_item": "2",
        "order": "corpus",
        "assisted": "yes",
        "tagger": "",
        "blind_percent": "0",
        "who": "everybody",
        "skip_policy": "others",
        "skips_to_adjudicator": "2",
        "gold_every": "0",
        "bulk_asks_from": "50",
        "seed": "77",
        "guidelines": "",
        "items": "5",
        "reviews": "10",
    }
    return {**fields, **changed}


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


def test_a_queue_is_made_as_the_page_said(browser, corpus, comments, researcher):
    SuggestionFactory(comment=comments[0], tagger="imported")
    page = browser.get(address(corpus)).content.decode()
    assert "5 comments × 1 person = 5 reviews" in page
    assert "imported" in page
    told = browser.post(
        address(corpus),
        sent(
            name="pilot",
            tagger="imported",
            blind_percent="40",
            order="random",
            skip_policy="adjudicator",
            skips_to_adjudicator="3",
            gold_every="20",
            bulk_asks_from="75",
            guidelines="# Read\r\nfirst",
        ),
    )
    queue = Queue.objects.get()
    assert told["Location"] == reverse("queue_settings", args=[queue.public_id])
    assert (queue.name, queue.state, queue.created_by) == ("pilot", "open", researcher)
    assert (queue.people_per_item, queue.order, queue.seed, queue.filter) == (2, "random", 77, {})
    assert (queue.assisted, queue.tagger, queue.blind_percent) == (True, "imported", 40)
    assert (queue.skip_policy, queue.skips_to_adjudicator) == ("adjudicator", 3)
    assert (queue.gold_every, queue.bulk_asks_from, queue.named_only) == (20, 75, False)
    assert queue.items.count() == 5
    assert queue.items.filter(blind=True).count() == 2
    assert queue.slots.filter(state=Slot.OPEN).count() == 10
    rules = Guideline.objects.get(queue=queue)
    assert (rules.version, rules.text, rules.by) == (1, "# Read\nfirst", researcher)
    assert "77" in browser.get(told["Location"]).content.decode()
    entry = AuditEntry.objects.get(action="queue.created")
    assert (entry.object_id, entry.details["items"], entry.details["seed"]) == (queue.public_id, 5, 77)


def test_the_filter_of_the_address_chooses_the_comments(browser, corpus, comments):
    page = browser.get(address(corpus, q="bus")).content.decode()
    assert "3 comments × 1 person = 3 reviews" in page
    assert "Text: <b>bus</b>" in page
    browser.post(address(corpus, q="bus"), sent(items="3", reviews="6"))
    queue = Queue.objects.get()
    assert queue.filter == {"q": "bus"}
    assert set(queue.items.values_list("comment", flat=True)) == {comments[n].pk for n in (0, 2, 4)}
    # An entry of the audit trail cannot be erased: it says by what was filtered, not the words.
    assert AuditEntry.objects.get(action="queue.created").details["filter"] == ["q"]


def test_a_count_that_changed_is_told_and_asked_again(browser, corpus, comments):
    CommentFactory(thread=comments[0].thread, sequence=9, text="One more bus.")
    refused = browser.post(address(corpus), sent())
    assert refused.status_code == 422
    body = refused.content.decode()
    assert "6 comments × 2 people = 12 reviews. Press again" in body
    assert 'name="items" value="6"' in body
    assert 'name="reviews" value="12"' in body
    assert not Queue.objects.exists()
    assert browser.post(address(corpus), sent(items="6", reviews="12")).status_code == 302


def test_other_people_than_were_counted_are_told_and_asked_again(browser, corpus, comments):
    refused = browser.post(address(corpus), sent(people_per_item="3"))
    assert refused.status_code == 422
    assert "5 comments × 3 people = 15 reviews. Press again" in refused.content.decode()
    assert not Queue.objects.exists()


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_presses_at_one_moment_make_one_queue(browser, client_of, researcher, corpus, comments):
    start, led = threading.Barrier(3), []
    browsers = [client_of(researcher) for _ in range(3)]

    def press(mine):
        try:
            start.wait()
            led.append(mine.post(address(corpus), sent()).get("Location"))
        finally:
            connection.close()

    presses = [threading.Thread(target=press, args=[one]) for one in browsers]
    for one in presses:
        one.start()
    for one in presses:
        one.join()
    queue = Queue.objects.get()
    assert led == [reverse("queue_settings", args=[queue.public_id])] * 3


def test_looking_counts_again_and_makes_nothing(browser, corpus, comments):
    looked = browser.post(address(corpus), sent(people_per_item="4", look="1"))
    assert looked.status_code == 200
    assert "5 comments × 4 people = 20 reviews" in looked.content.decode()
    part = browser.post(address(corpus), sent(people_per_item="4"), headers={"HX-Request": "true"})
    assert "= 20 reviews" in part.content.decode()
    assert "<html" not in part.content.decode()
    assert not Queue.objects.exists()


def test_nothing_to_review_is_refused(browser, corpus, comments):
    page = browser.get(address(corpus, q="submarine")).content.decode()
    assert "No active comment matches" in page
    refused = browser.post(address(corpus, q="submarine"), sent(items="0", reviews="0"))
    assert refused.status_code == 422
    assert "there is nothing to review" in refused.content.decode()
    assert not Queue.objects.exists()


def test_a_filter_that_cannot_be_read_is_named(browser, corpus, comments):
    for act in (browser.get, lambda path: browser.post(path, sent())):
        refused = act(address(corpus, hardness_from="9"))
        assert refused.status_code == 422
        assert "choose a number from 1 to 5" in refused.content.decode()
    assert not Queue.objects.exists()


def test_a_double_press_makes_it_once_and_leads_to_it(browser, corpus, comments):
    first = browser.post(address(corpus), sent())
    second = browser.post(address(corpus), sent())
    assert Queue.objects.count() == 1
    assert first["Location"] == second["Location"]


@pytest.mark.parametrize("changed", [{"seed": "78"}, {"gold_every": "3"}, {"who": "named"}])
def test_another_form_with_a_taken_name_is_refused(browser, corpus, comments, labeler, adjudicator, changed):
    browser.post(address(corpus), sent())
    people = [labeler.public_id, adjudicator.public_id]
    refused = browser.post(address(corpus), sent(workers=people, **changed))
    assert refused.status_code == 422
    assert "a queue of that name already" in refused.content.decode()
    assert Queue.objects.count() == 1


def test_somebody_elses_queue_of_that_name_is_not_taken_for_one_s_own(
    browser, corpus, comments, client_of, admin
):
    client_of(admin).post(address(corpus), sent())
    assert browser.post(address(corpus), sent()).status_code == 422


def test_only_the_named_people_may_work_in_it(browser, corpus, comments, labeler, adjudicator, admin):
    browser.post(address(corpus), sent(who="named", workers=[labeler.public_id, adjudicator.public_id]))
    queue = Queue.objects.get()
    assert queue.named_only
    assert queue in Queue.objects.workable_by(labeler)
    assert queue in Queue.objects.workable_by(adjudicator)
    assert queue not in Queue.objects.workable_by(admin)


def test_only_people_who_may_review_here_can_be_named(browser, corpus, comments, labeler, stranger):
    elsewhere = MembershipFactory(corpus=CorpusFactory(), role=Role.LABELER.value).person
    page = browser.get(address(corpus)).content.decode()
    assert labeler.public_id in page
    for person in (elsewhere, stranger):
        assert person.public_id not in page
        refused = browser.post(
            address(corpus),
            sent(people_per_item="1", reviews="5", who="named", workers=[person.public_id]),
        )
        assert refused.status_code == 422
    assert not Queue.objects.exists()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"people_per_item": "11"}, "less than or equal to 10"),
        ({"people_per_item": "0"}, "greater than or equal to 1"),
        ({"blind_percent": "101"}, "less than or equal to 100"),
        ({"name": ""}, "This field is required"),
        ({"name": "n" * 81}, "at most 80 characters"),
        ({"order": "backwards"}, "Select a valid choice"),
        ({"tagger": "nobody"}, "Select a valid choice"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"skips_to_adjudicator": "11"}, "less than or equal to 10"),
        ({"assisted": "no", "blind_percent": "20"}, "Without suggestions every answer is blind"),
        ({"who": "named"}, "Tick at least one person"),
        ({"guidelines": "g" * 40_001}, "at most 40000 characters"),
    ],
)
def test_bad_fields_are_named_and_nothing_is_made(browser, corpus, comments, changed, told):
    refused = browser.post(address(corpus), sent(**changed))
    assert refused.status_code == 422
    assert told in refused.content.decode()
    assert not Queue.objects.exists()


def test_more_people_a_comment_than_names_is_refused(browser, corpus, comments, labeler):
    refused = browser.post(address(corpus), sent(who="named", workers=[labeler.public_id]))
    assert refused.status_code == 422
    assert "need at least 2 names; 1 ticked" in refused.content.decode()


def test_without_suggestions_no_tagger_is_kept(browser, corpus, comments):
    SuggestionFactory(comment=comments[0])
    browser.post(address(corpus), sent(assisted="no", tagger="imported"))
    queue = Queue.objects.get()
    assert (queue.assisted, queue.tagger) == (False, "")


def test_the_proposed_name_is_free(browser, corpus, comments):
    queue_over(corpus, name="round 1")
    assert 'value="round 2"' in browser.get(address(corpus)).content.decode()


def test_who_may_not_steer_queues_there_gets_no_page(
    client_of, corpus, comments, labeler, adjudicator, stranger
):
    for person in (labeler, adjudicator, stranger):
        assert client_of(person).get(address(corpus)).status_code == 403
        assert client_of(person).post(address(corpus), sent()).status_code == 403
    elsewhere = MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER.value).person
    assert client_of(elsewhere).get(address(corpus)).status_code == 404
    assert client_of(elsewhere).post(address(corpus), sent()).status_code == 404
    assert not Queue.objects.exists()


def test_the_page_asks_as_much_for_many_people_and_comments(
    browser, corpus, comments, labeler, django_assert_max_num_queries
):
    with django_assert_max_num_queries(14) as few:
        browser.get(address(corpus))
    for number in range(8):
        MembershipFactory(role=Role.LABELER.value)
        CommentFactory(thread=comments[0].thread, sequence=20 + number)
    with django_assert_max_num_queries(14) as many:
        browser.get(address(corpus))
    assert len(few) == len(many)
