"""The review page as a labeler uses it: claim, judge, submit, next; and everything it must refuse."""

import uuid
from datetime import timedelta

import pytest
from django.urls import reverse

from annotation.models import Annotation, AttributeLabel, Slot
from annotation.services import queues
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import (
    CommentFactory,
    MembershipFactory,
    ProfileFactory,
    ThreadFactory,
    UserFactory,
)

pytestmark = pytest.mark.database


@pytest.fixture
def suggested(corpus):
    """A thread of three; its reply has a suggestion for the age."""
    profile = ProfileFactory(
        corpus=corpus, username="NightOwl", facts={"occupation": "submarine baker"}, style="secret style"
    )
    thread = ThreadFactory(corpus=corpus)
    root = CommentFactory(thread=thread, username="Opener", text="What keeps you awake?")
    reply = CommentFactory(thread=thread, parent=root, profile=profile, text="Turning thirty did.")
    CommentFactory(thread=thread, parent=reply, username="Third", text="Same here.")
    SuggestionFactory(comment=reply, model_eval=[0, 0.5, 1])
    return reply


@pytest.fixture
def queue(suggested, corpus):
    return queue_over(corpus)


@pytest.fixture
def browser(client_of, labeler):
    return client_of(labeler)


def address(queue, comment):
    item = queue.items.get(comment=comment)
    return reverse("review_item", args=[queue.public_id, item.public_id])


def skip(browser, queue, page):
    sent = {"item": page.context["item"].public_id, "reason": "other"}
    return browser.post(reverse("review_skip", args=[queue.public_id]), sent, follow=True)


def hold(browser, queue, comment):
    """Skips until the person holds `comment`."""
    for _ in range(queue.items.count()):
        page = browser.get(reverse("review", args=[queue.public_id]))
        if page.context["item"].comment == comment:
            return page
        skip(browser, queue, page)
    raise AssertionError("the comment was never handed out")


def answer(**fields):
    return {"submission_id": str(uuid.uuid4()), "act": "rest", "active_ms": "5000", **fields}


AGE_30 = {"age-choice": "g0", "age-hardness": "2", "age-certainty": "4"}


def test_the_page_shows_the_thread_the_rows_and_the_suggestion(browser, queue, suggested):
    page = hold(browser, queue, suggested)
    body = page.content.decode()
    assert all(
        words in body for words in ("What keeps you awake?", "Turning thirty did.", "1 reply folded · Third")
    )
    assert "Same here." not in body  # fetched when somebody opens the fold
    assert [row.attribute.key for row in page.context["rows"]] == list(TARGET_KEYS)
    assert page.context["rows"][0].first_guess == "30"
    assert 'value="2" checked' in body
    assert "stated outright" in body


def test_a_fold_is_opened_with_the_whole_tree_by_whom_the_item_was_handed_out(
    browser, client_of, queue, suggested, corpus
):
    page = hold(browser, queue, suggested)
    url = reverse("review_tree", args=[queue.public_id, page.context["item"].public_id])
    assert "Same here." in browser.get(url).content.decode()
    assert client_of(MembershipFactory().person).get(url).status_code == 404


def test_the_truth_about_the_author_never_reaches_the_page(browser, queue, suggested):
    body = hold(browser, queue, suggested).content.decode()
    assert "secret style" not in body
    assert "model_eval" not in body
    assert "submarine baker" not in body


def test_submitting_stores_the_labels_and_brings_the_next_comment(browser, queue, suggested, labeler):
    hold(browser, queue, suggested)
    page = browser.post(address(queue, suggested), answer(**AGE_30), follow=True)
    assert page.status_code == 200
    assert "Submitted: NightOwl, 1 value." in page.content.decode()
    annotation = Annotation.objects.get()
    assert (annotation.person, annotation.comment, annotation.active_ms) == (labeler, suggested, 5000)
    label = annotation.labels.get(attribute="age")
    assert (label.value, label.outcome, label.hardness, label.certainty) == ("30", "confirmed", 2, 4)
    assert label.suggestion == suggested.suggestions.get()
    assert set(annotation.labels.exclude(attribute="age").values_list("state", flat=True)) == {"none"}


def test_without_nothing_else_the_rows_left_alone_stay_untouched(browser, queue, suggested):
    hold(browser, queue, suggested)
    browser.post(address(queue, suggested), answer(**AGE_30, act="submit"))
    assert AttributeLabel.objects.filter(state="untouched").count() == 7


def test_a_correction_a_rejection_and_unsure_are_told_apart(browser, queue, suggested):
    hold(browser, queue, suggested)
    fields = {"sex-choice": "unsure", "occupation-text": "night nurse", "occupation-hardness": "1"}
    browser.post(
        address(queue, suggested), answer(**{"age-choice": "none"}, **fields, **{"occupation-certainty": "5"})
    )
    stored = dict(AttributeLabel.objects.values_list("attribute", "outcome"))
    assert (stored["age"], stored["sex"], stored["occupation"], stored["education"]) == (
        "rejected",
        "unsure",
        "added",
        "none",
    )


def test_an_unjudged_suggestion_comes_back_with_what_is_missing_and_what_was_typed(browser, queue, suggested):
    hold(browser, queue, suggested)
    typed = {"occupation-text": "night nurse", "occupation-hardness": "1"}
    page = browser.post(address(queue, suggested), answer(**typed))
    body = page.content.decode()
    assert page.status_code == 422
    assert "2 things to settle before submitting" in body
    assert "Age: the suggestion has not been judged" in body
    assert "Occupation: certainty is missing" in body
    assert 'value="night nurse"' in body
    assert not Annotation.objects.exists()


def test_a_double_submit_stores_once(browser, queue, suggested):
    hold(browser, queue, suggested)
    sent = answer(**AGE_30)
    for _ in range(2):
        assert browser.post(address(queue, suggested), sent).status_code == 302
    assert Annotation.objects.count() == 1
    assert AttributeLabel.objects.count() == 8


def test_one_s_own_answer_opens_as_it_was_left_and_can_be_changed(browser, queue, suggested):
    hold(browser, queue, suggested)
    browser.post(address(queue, suggested), answer(**AGE_30))
    row = browser.get(address(queue, suggested)).context["rows"][0]
    assert (row.state, row.answer.certainty) == ("confirmed", "4")
    browser.post(address(queue, suggested), answer(base_version="1", **{**AGE_30, "age-certainty": "5"}))
    assert AttributeLabel.objects.get(attribute="age").certainty == 5
    history = browser.get(reverse("review_history", args=[queue.public_id])).content.decode()
    assert "Turning thirty did." in history


def test_an_emptied_queue_says_so(browser, queue, suggested, corpus):
    for _ in range(3):
        skip(browser, queue, browser.get(reverse("review", args=[queue.public_id])))
    assert (
        "Nothing is left for you here"
        in browser.get(reverse("review", args=[queue.public_id])).content.decode()
    )


def test_skip_pressed_on_an_old_page_says_that_nothing_was_skipped(browser, queue):
    old = browser.get(reverse("review", args=[queue.public_id]))
    skip(browser, queue, old)
    assert "Nothing was skipped" in skip(browser, queue, old).content.decode()


def test_a_closed_queue_stays_in_sight_of_who_holds_one_of_its_comments(browser, queue, suggested, admin):
    hold(browser, queue, suggested)
    queues.set_state(by=admin, queue=queue, state="closed")
    assert queue.name in browser.get(reverse("home")).content.decode()
    assert browser.post(address(queue, suggested), answer(**AGE_30)).status_code == 302
    assert queue.name not in browser.get(reverse("queues")).content.decode()


def test_a_very_deep_thread_can_be_reviewed_and_read(browser, corpus):
    comment = CommentFactory(thread__corpus=corpus)
    for _ in range(150):
        comment = CommentFactory(thread=comment.thread, parent=comment)
    deep = queue_over(corpus, name="deep")
    item = deep.items.get(comment=comment)
    Slot.objects.exclude(item=item).delete()
    assert browser.get(reverse("review", args=[deep.public_id])).status_code == 200
    for name, key in (("thread", comment.thread.public_id), ("comment", comment.public_id)):
        assert browser.get(reverse(name, args=[key])).status_code == 200


def test_items_held_by_others_are_announced_with_the_time_they_free(
    browser, client_of, researcher, corpus, labeler
):
    queue = queue_over(corpus, comments=1)
    other = MembershipFactory().person
    client_of(other).get(reverse("review", args=[queue.public_id]))
    body = browser.get(reverse("review", args=[queue.public_id])).content.decode()
    assert "All remaining comments are with others" in body


def test_somebody_else_s_item_cannot_be_opened(browser, client_of, queue, suggested):
    hold(browser, queue, suggested)
    other = client_of(MembershipFactory().person)
    assert other.get(address(queue, suggested)).status_code == 404


def test_an_item_that_was_never_handed_out_cannot_be_answered(browser, client_of, queue, suggested):
    other = client_of(MembershipFactory().person)
    assert other.post(address(queue, suggested), answer(**AGE_30)).status_code == 404
    assert not Annotation.objects.exists()


def test_an_answer_after_the_lease_lapsed_is_taken_and_said_to_be_late(browser, client_of, queue, suggested):
    page = hold(browser, queue, suggested)
    slot = page.context["slot"]
    other = MembershipFactory().person
    Slot.objects.filter(pk=slot.pk).update(person=other, leased_until=slot.leased_until + timedelta(hours=1))
    sent = answer(**AGE_30, ticket=page.context["ticket"])
    body = browser.post(address(queue, suggested), sent, follow=True).content.decode()
    assert "Your hold had lapsed" in body
    assert Annotation.objects.get().over_quota


def test_a_queue_of_another_corpus_is_not_there(client_of, queue, suggested, corpus):
    outsider = UserFactory()
    MembershipFactory(person=outsider, corpus=queue_over(comments=1).corpus)
    browser = client_of(outsider)
    assert browser.get(reverse("review", args=[queue.public_id])).status_code == 404
    assert browser.post(address(queue, suggested), answer(**AGE_30)).status_code == 404
    assert not Slot.objects.filter(person=outsider).exists()


def test_who_may_not_review_is_refused(client_of, stranger, researcher, queue):
    for person in (stranger, researcher):
        assert client_of(person).get(reverse("review", args=[queue.public_id])).status_code == 403


def test_text_of_comments_is_escaped(browser, corpus):
    CommentFactory(thread__corpus=corpus, username="<b>Bad</b>", text="<script>alert(1)</script>")
    page = browser.get(reverse("review", args=[queue_over(corpus).public_id])).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<b>Bad</b>" not in page


def test_the_page_takes_the_same_number_of_queries_for_a_long_thread(
    browser, queue, suggested, corpus, django_assert_max_num_queries
):
    for number in range(60):
        CommentFactory(thread=suggested.thread, parent=suggested, position=number)
    with django_assert_max_num_queries(22):
        browser.get(reverse("review", args=[queue.public_id]))
