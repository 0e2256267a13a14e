"""Drafts on the server, two pages of one person, blind answers: nothing is lost or overwritten unseen."""

import json
import uuid

import pytest
from django.urls import reverse

from annotation.models import Annotation, Draft, FirstAnswer, Item, Queue, Slot
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, MembershipFactory

pytestmark = pytest.mark.database
AGE = {"age-choice": "other", "age-text": "31", "age-hardness": "2", "age-certainty": "4"}
HX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def queue(corpus):
    comment = CommentFactory(thread__corpus=corpus, text="Turning thirty, my wife laughed.")
    SuggestionFactory(comment=comment)
    CommentFactory(thread__corpus=corpus, text="Another one.")
    return queue_over(corpus)


@pytest.fixture
def browser(client_of, labeler):
    return client_of(labeler)


@pytest.fixture
def page(browser, queue):
    return browser.get(reverse("review", args=[queue.public_id])).context


def fields_of(page, **fields):
    names = ("submission_id", "ticket", "lease_token", "base_version", "stage")
    return {**{name: str(page[name]) for name in names}, "act": "rest", **fields}


def item_url(page, name="review_item"):
    return reverse(name, args=[page["queue"].public_id, page["item"].public_id])


def test_a_draft_is_kept_and_offered_again_to_its_person_alone(browser, client_of, queue, page):
    sent = fields_of(page, stamp="10", note="half a thought", **AGE)
    answer = browser.post(item_url(page, "review_draft"), sent)
    assert set(answer.json()) == {"saved"}
    again = browser.get(reverse("review", args=[queue.public_id])).context["draft_json"]
    assert (again["version"], again["stamp"]) == (0, 10)
    assert again["fields"] == {"note": "half a thought", **AGE}
    other = client_of(MembershipFactory().person)
    assert other.post(item_url(page, "review_draft"), {**sent, "ticket": "forged"}).status_code == 403
    assert other.post(item_url(page, "review_draft"), {**sent, "ticket": ""}).status_code == 404


def test_an_older_save_that_arrives_late_changes_nothing(browser, page):
    for stamp, note in (("20", "newer"), ("10", "older")):
        browser.post(item_url(page, "review_draft"), fields_of(page, stamp=stamp, note=note))
    assert Draft.objects.get().fields["note"] == "newer"


def test_a_draft_goes_with_the_submission_and_a_stale_one_is_refused(browser, page):
    browser.post(item_url(page, "review_draft"), fields_of(page, stamp="1", note="x"))
    browser.post(item_url(page), fields_of(page, **AGE))
    assert not Draft.objects.exists()
    late = browser.post(item_url(page, "review_draft"), fields_of(page, stamp="2", note="y"))
    assert (late.status_code, late.json()) == (409, {"version": 1})
    assert not Draft.objects.exists()


def test_a_draft_that_is_no_form_is_refused(browser, page):
    long = browser.post(item_url(page, "review_draft"), fields_of(page, stamp="1", note="x" * 50_000))
    assert long.status_code == 413
    browser.post(
        item_url(page, "review_draft"), fields_of(page, stamp="1", **{"evil-choice": "x", "note": "n"})
    )
    assert Draft.objects.get().fields == {"note": "n"}


def test_a_second_page_that_began_before_the_first_was_stored_shows_both(browser, page):
    browser.post(item_url(page), fields_of(page, **AGE))
    second = {**AGE, "age-text": "45"}
    clash = browser.post(item_url(page), fields_of(page, submission_id=str(uuid.uuid4()), **second))
    assert clash.status_code == 409
    assert "31" in clash.content.decode()
    assert "45" in clash.content.decode()
    stored = Annotation.objects.get()
    assert (stored.version, stored.labels.get(attribute="age").value) == (1, "31")
    pair = next(pair for pair in clash.context["pairs"] if pair["key"] == "age")
    assert pair["differs"]
    kept = dict(clash.context["fields"])
    mine = {**kept, "base_version": clash.context["base_version"], "ticket": clash.context["ticket"]}
    browser.post(
        item_url(page),
        {**mine, "submission_id": str(clash.context["submission_id"]), "stage": "final", "act": "rest"},
    )
    stored.refresh_from_db()
    assert (stored.version, stored.labels.get(attribute="age").value) == (2, "45")


def test_a_second_page_that_says_the_same_is_no_conflict(browser, page):
    browser.post(item_url(page), fields_of(page, **AGE))
    again = browser.post(item_url(page), fields_of(page, submission_id=str(uuid.uuid4()), **AGE))
    assert again.status_code == 302
    assert Annotation.objects.get().version == 1


def test_a_script_gets_the_next_comment_with_the_answer(browser, queue, page):
    answer = browser.post(item_url(page), fields_of(page, **AGE), **HX)
    assert answer.status_code == 200
    assert "<html" not in answer.content.decode()
    assert answer.context["item"] != page["item"]
    assert Slot.objects.get(person__isnull=False, state=Slot.LEASED).item == answer.context["item"]
    last = browser.post(item_url(answer.context), fields_of(answer.context), **HX)
    assert last.headers["X-Review-Goto"] == reverse("review", args=[queue.public_id])


def test_evidence_and_note_are_stored_and_come_back(browser, page):
    quote = {"comment": page["item"].comment.public_id, "start": 0, "end": 14, "quote": "Turning thirty"}
    sent = fields_of(
        page, note=" sure ", **AGE, **{"age-evidence": json.dumps([quote]), "age-quote": "my wife"}
    )
    browser.post(item_url(page), sent)
    stored = Annotation.objects.get()
    assert stored.note == "sure"
    evidence = stored.labels.get(attribute="age").evidence
    assert [one["quote"] for one in evidence] == ["Turning thirty", "my wife"]
    assert all(page["item"].comment.text[one["start"] : one["end"]] == one["quote"] for one in evidence)
    row = browser.get(item_url(page)).context["rows"][0]
    assert [one.quote for one in row.quotes] == ["Turning thirty", "my wife"]


def test_evidence_that_does_not_stand_there_is_refused_and_nothing_is_stored(browser, page):
    quote = {"comment": page["item"].comment.public_id, "start": 1, "end": 15, "quote": "Turning thirty"}
    answer = browser.post(item_url(page), fields_of(page, **AGE, **{"age-evidence": json.dumps([quote])}))
    assert answer.status_code == 422
    assert "does not stand at its place" in answer.content.decode()
    assert not Annotation.objects.exists()


def test_rows_set_by_one_act_are_marked_so(browser, page):
    sent = fields_of(page, **{**AGE, "sex-choice": "none", "act": "rest", "bulk": "sex,age"})
    browser.post(item_url(page), sent)
    bulk = Annotation.objects.get().labels.filter(bulk=True).values_list("attribute", flat=True)
    assert set(bulk) == set(TARGET_KEYS)  # sex and age by the list, the others by “nothing else”
    events = Annotation.objects.get().events.values_list("source", flat=True)
    assert set(events) == {"bulk"}


def test_a_blind_item_is_answered_before_the_suggestions_are_shown_and_then_again(browser, queue, labeler):
    Item.objects.update(blind=True)
    first = browser.get(reverse("review", args=[queue.public_id]))
    page = first.context
    assert page["stage"] == "first"
    assert 'data-suggested="1"' not in first.content.decode()
    second = browser.post(item_url(page), fields_of(page, note="at first", **AGE), **HX).context
    assert (second["stage"], second["item"]) == ("final", page["item"])
    assert not Annotation.objects.exists()
    assert FirstAnswer.objects.get().labels["age"]["value"] == "31"
    row = second["rows"][0]
    assert (row.answer.text, row.state, row.suggestion.guesses[0]) == ("31", "corrected", "30")
    revised = {"age-choice": "g0", "age-hardness": "2", "age-certainty": "5"}
    browser.post(item_url(page), fields_of(second, note="at last", **revised))
    stored = Annotation.objects.get()
    assert (stored.arm, stored.labels.get(attribute="age").value, stored.note) == ("blind", "30", "at last")
    assert FirstAnswer.objects.get().note == "at first"
    assert Slot.objects.get(item=page["item"]).state == Slot.DONE


def test_the_first_answer_to_a_blind_item_is_kept_when_it_is_sent_twice_or_the_hold_ends(browser, queue):
    Item.objects.update(blind=True)
    page = browser.get(reverse("review", args=[queue.public_id])).context
    browser.post(item_url(page), fields_of(page, **AGE))
    browser.post(item_url(page), fields_of(page, **{**AGE, "age-text": "50"}))
    assert FirstAnswer.objects.get().labels["age"]["value"] == "31"
    again = browser.get(reverse("review", args=[queue.public_id])).context
    assert (again["item"], again["stage"]) == (page["item"], "final")


def test_holds_are_renewed_left_and_refused(browser, page):
    url, token = item_url(page, "review_hold"), str(page["lease_token"])
    assert "until" in browser.post(url, {"lease_token": token, "act": "renew"}).json()
    assert browser.post(url, {"lease_token": token, "act": "leave"}).json() == {"held": True}
    assert browser.post(url, {"lease_token": str(uuid.uuid4()), "act": "renew"}).status_code == 409
    assert browser.post(url, {"lease_token": "x"}).status_code == 409


def test_an_item_is_flagged_and_the_flag_taken_back(browser, client_of, page):
    url = item_url(page, "review_flag")
    browser.post(url, {"note": "odd", "attribute": "age"})
    item = Item.objects.get(pk=page["item"].pk)
    assert item.flagged
    assert (item.flags.get().attribute, item.flags.get().note) == ("age", "odd")
    assert browser.post(url, {"act": "clear"}, **HX).json() == {"flagged": False}
    item.refresh_from_db()
    assert not item.flagged
    assert client_of(MembershipFactory().person).post(url, {"note": "x"}).status_code == 404


def test_own_history_leads_back_and_forth_and_to_the_last_submission(browser, queue, page):
    second = browser.post(item_url(page), fields_of(page, **AGE), **HX).context
    back = browser.get(item_url(second, "review_earlier"))
    assert back["Location"] == item_url(page)
    assert browser.get(item_url(page, "review_earlier"))["Location"] == item_url(page)
    assert browser.get(item_url(page, "review_later"))["Location"] == reverse(
        "review", args=[queue.public_id]
    )
    assert browser.get(reverse("review_last", args=[queue.public_id]))["Location"] == item_url(page)


def test_the_token_says_whose_session_it_is(browser, labeler, client):
    said = browser.get(reverse("review_token"))
    assert said.json()["person"] == labeler.public_id
    assert said["Cache-Control"] == "no-store"
    assert client.get(reverse("review_token")).status_code == 302


def test_a_page_made_for_somebody_else_is_not_stored_under_the_name_of_who_signed_in_meanwhile(
    browser, client_of, queue, page
):
    other = client_of(MembershipFactory().person)
    other.get(reverse("review", args=[queue.public_id]))
    Slot.objects.filter(person__isnull=False).exclude(item=page["item"]).delete()
    queue.people_per_item = 2
    queue.save()
    Slot.objects.create(
        queue=queue,
        item=page["item"],
        number=2,
        position=1,
        state="done",
        person_id=int(other.session["_auth_user_id"]),
    )
    for name, sent in (("review_item", AGE), ("review_draft", {"stamp": "1"}), ("review_flag", {})):
        assert other.post(item_url(page, name), fields_of(page, **sent)).status_code == 403
    assert not Annotation.objects.exists()
    assert not Draft.objects.exists()


def test_a_draft_of_a_blind_item_s_first_half_that_arrives_late_is_refused(browser, queue):
    Item.objects.update(blind=True)
    page = browser.get(reverse("review", args=[queue.public_id])).context
    browser.post(item_url(page), fields_of(page, **AGE))
    late = browser.post(item_url(page, "review_draft"), fields_of(page, stamp="9", note="late"))
    assert late.status_code == 409
    assert not Draft.objects.exists()


def test_a_quote_is_taken_away_without_a_script(browser, page):
    browser.post(item_url(page), fields_of(page, **AGE, **{"age-quote": "Turning thirty\nmy wife"}))
    again = browser.get(item_url(page)).context
    kept = again["rows"][0].evidence_json
    sent = fields_of(again, **AGE, **{"age-evidence": kept, "age-drop-0": "on"})
    browser.post(item_url(page), sent)
    evidence = Annotation.objects.get().labels.get(attribute="age").evidence
    assert [one["quote"] for one in evidence] == ["my wife"]


@pytest.mark.parametrize("name", ["review_item", "review_draft", "review_flag", "review_skip"])
def test_an_invisible_sign_that_no_database_takes_is_refused_in_the_forms_of_a_script(
    browser, queue, page, name
):
    url = item_url(page, name) if name != "review_skip" else reverse(name, args=[queue.public_id])
    sent = fields_of(page, item=page["item"].public_id, reason="other", note="a\0b", **AGE)
    assert browser.post(url, sent, **HX).status_code == 400  # the test client sends multipart, as scripts do
    assert not Annotation.objects.exists()


def test_a_number_of_more_digits_than_python_reads_is_refused(browser, page):
    sent = fields_of(page, **{"age-choice": "g" + "9" * 5000, "age-hardness": "1", "age-certainty": "1"})
    assert browser.post(item_url(page), sent).status_code == 422


def test_who_is_taken_off_the_list_may_still_send_what_they_hold_and_gets_nothing_new(browser, queue, page):
    Queue.objects.update(named_only=True)
    answer = browser.post(item_url(page), fields_of(page, **AGE), **HX)
    assert Annotation.objects.count() == 1
    assert answer.headers["X-Review-Goto"]
    assert browser.get(reverse("review", args=[queue.public_id])).status_code == 404
    assert browser.post(item_url(page), fields_of(page, **AGE)).status_code == 404


def test_a_blind_item_is_not_uncovered_by_an_answer_that_judges_nothing(browser, queue):
    Item.objects.update(blind=True)
    page = browser.get(reverse("review", args=[queue.public_id])).context
    empty = browser.post(item_url(page), {**fields_of(page), "act": "submit"})
    assert empty.status_code == 422
    assert not FirstAnswer.objects.exists()
    assert browser.post(item_url(page), fields_of(page)).status_code == 302  # “nothing else” says something
    assert FirstAnswer.objects.exists()
