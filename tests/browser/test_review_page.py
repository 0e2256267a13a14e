"""The review page as a whole: a review by keyboard, on a phone, blind, skipped, flagged, waiting."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Annotation, FirstAnswer, Flag, Item, Slot
from tests.browser.reviewing import (
    address,
    at_hand,
    chosen,
    finish,
    open_row,
    queue_of,
    row,
    state,
    submitted,
    suggested,
)
from tests.factories.simulation import CommentFactory, MembershipFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def comment(corpus):
    return suggested(corpus)


def test_a_review_from_the_list_of_queues_to_the_last_comment_by_keyboard_alone(
    open_as, live_server, labeler, comment
):
    queue_of(comment)
    page = open_as(labeler)
    page.goto(live_server.url + "/review/")
    page.get_by_role("link", name="Review round 1").focus()
    page.keyboard.press("Enter")
    expect(row(page, "age")).to_be_focused()
    page.keyboard.press("a")
    assert at_hand(page) == "relationship_status"  # the next suggestion that waits
    for key in ("w", *"kkkkk", "e"):
        page.keyboard.press(key)
    page.keyboard.type("Graz, Austria")
    page.keyboard.press("Enter")
    assert at_hand(page) == "birth_city_country"
    page.keyboard.press("k")
    for key in ("4", "Shift+Digit3", "j", "u", "e", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert (at_hand(page), chosen(page, "education-choice")) == ("occupation", "v:In Highschool")
    for key in ("k", "1", "Shift+Digit5", *"kkk", "x", "n"):
        page.keyboard.press(key)
    submitted(page, "Submitted: NightOwl, 4 values.")
    expect(page.get_by_role("heading", name="Nothing is left for you here")).to_be_visible()
    labels = {label.attribute: label for label in Annotation.objects.get().labels.all()}
    place = labels["city_country"]
    assert (place.value, place.outcome, place.hardness, place.certainty) == ("Graz, Austria", "added", 4, 3)
    assert [labels[key].outcome for key in ("age", "sex", "birth_city_country", "relationship_status")] == [
        "confirmed",
        "none",
        "unsure",
        "corrected",
    ]
    assert (labels["occupation"].bulk, labels["sex"].bulk) == (True, False)


def test_words_are_offered_while_a_place_is_typed(open_as, live_server, labeler, comment):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(comment)))
    page.route(
        "**/lookup/**", lambda route: route.fulfill(json={"values": ["Graz, Austria", "Granada, Spain"]})
    )
    open_row(page, "city_country")
    page.keyboard.press("e")
    page.keyboard.type("gra")
    field = page.get_by_role("combobox", name="Residence in your words")
    expect(page.locator(".options [role=option]")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(".options [role=option]")).to_have_count(0)
    expect(field).to_be_focused()
    page.keyboard.type("n")
    expect(page.locator(".options [role=option]")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".options [aria-selected=true]")).to_have_text("Granada, Spain")
    page.keyboard.press("Enter")
    expect(field).to_have_value("Granada, Spain")
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    assert (at_hand(page), state(page, "city_country")) == ("birth_city_country", "added")


def test_the_server_offers_places(open_as, live_server, labeler, comment):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(comment)))
    open_row(page, "city_country")
    page.keyboard.press("e")
    page.keyboard.type("zur")
    expect(page.locator(".options [role=option]").first).to_have_text("Zürich, Switzerland")


def test_a_review_on_a_phone(open_as, live_server, labeler, comment):
    page = open_as(labeler, viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    page.goto(live_server.url + address(queue_of(comment)))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tops = [page.locator(one).bounding_box()["y"] for one in ("#target", "#attr-age", "#note")]
    assert tops == sorted(tops)
    for key in ("age", "relationship_status"):
        row(page, key).locator(".attr-name").tap()
        row(page, key).get_by_role("button", name="Accept").last.tap()
        assert state(page, key) == "confirmed"
    row(page, "occupation").locator(".attr-name").tap()
    page.get_by_label("Occupation in your words").fill("nurse")
    row(page, "occupation").locator("[name='occupation-hardness'][value='2']").check()
    row(page, "occupation").locator("[name='occupation-certainty'][value='4']").check()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Nothing else, submit").tap()
    expect(page.get_by_text("Submitted: NightOwl, 3 values.")).to_be_visible()


def test_a_blind_item_is_answered_before_and_after_the_suggestions(open_as, live_server, labeler, comment):
    queue = queue_of(comment)
    Item.objects.update(blind=True)
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    expect(page.get_by_text("Your own judgement first")).to_be_visible()
    assert page.locator(".chip:visible").count() == 0
    assert "married" not in page.locator("#attr-relationship_status").get_attribute("data-first")
    assert "tagger-b" not in page.content()
    page.keyboard.press("e")
    page.keyboard.type("28")
    page.keyboard.press("Escape")
    for key in ("1", "Shift+Digit4", "n", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("Now with the suggestions")).to_be_visible()
    assert page.locator("[name='age-text']").input_value() == "28"
    expect(row(page, "age").locator(".chip")).to_contain_text("30")
    open_row(page, "age")
    page.keyboard.press("a")
    submitted(page, "Submitted: NightOwl")
    assert FirstAnswer.objects.get().labels["age"]["value"] == "28"
    annotation = Annotation.objects.get()
    assert (annotation.arm, annotation.labels.get(attribute="age").value) == ("blind", "30")


def test_skipping_needs_a_reason_and_keeps_what_was_entered(open_as, live_server, labeler, comment):
    other = CommentFactory(thread__corpus=comment.corpus, text="The other one.", username="Second")
    queue = queue_of(comment, other)
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    page.keyboard.press("a")
    page.locator("summary", has_text="Skip…").click()
    page.get_by_role("button", name="Skip it").click()
    assert Slot.objects.filter(state="skipped").count() == 0
    page.get_by_label("Needs knowledge I do not have").check()
    page.locator("#skip [name=note]").fill("a local word")
    page.get_by_role("button", name="Skip it").click()
    expect(page.locator("#target")).to_contain_text("The other one.")
    slot = Slot.objects.get(state="skipped")
    assert (slot.skip_reason, slot.skip_note) == ("knowledge", "a local word")
    page.goto(f"{live_server.url}{address(queue)}items/{slot.item.public_id}/")
    assert state(page, "age") == "confirmed"
    finish(page)
    submitted(page)


def test_a_flag_is_raised_for_one_attribute_and_taken_back(open_as, live_server, labeler, comment):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(comment)))
    open_row(page, "sex")
    row(page, "sex").get_by_role("button", name="Flag").click()
    page.get_by_label("What should be looked at?").fill("irony?")
    page.get_by_role("button", name="Flag it").click()
    expect(page.get_by_text("flagged by you")).to_be_visible()
    assert (Flag.objects.get().attribute, Flag.objects.get().note) == ("sex", "irony?")
    page.reload()
    expect(page.get_by_text("flagged by you")).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_text("You flagged Sex.")).to_be_visible()
    page.get_by_role("button", name="Take the flag back").click()
    expect(page.get_by_text("flagged by you")).to_be_hidden()
    assert not Flag.objects.filter(resolved_at=None).exists()


def test_who_has_to_wait_sees_for_how_long_and_gets_the_next_one(open_as, live_server, labeler, comment):
    queue = queue_of(comment)
    other = MembershipFactory(person__username="mira").person
    first = open_as(other)
    first.goto(live_server.url + address(queue))
    first.close()
    Slot.objects.update(leased_until=timezone.now() + timedelta(seconds=4))
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    expect(page.get_by_role("heading", name="All remaining comments are with others")).to_be_visible()
    assert page.locator("#frees").inner_text() in {"00:04", "00:03", "00:02"}
    expect(page.locator("#target")).to_contain_text("Turning thirty did.", timeout=9000)


def test_a_page_that_is_left_lets_go_of_its_comment_soon(open_as, live_server, labeler, comment, idle):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(comment)))
    page.goto(live_server.url + "/review/")
    for _ in range(20):
        idle()
        if Slot.objects.get().leased_until < timezone.now() + timedelta(minutes=2):
            break
    else:
        pytest.fail("the hold stands as if the page were still open")


def test_a_hold_is_renewed_and_its_end_is_said_while_work_goes_on(open_as, live_server, labeler, comment):
    page = open_as(labeler, expects=("409 (Conflict)",))
    page.goto(live_server.url + address(queue_of(comment)))
    Slot.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    page.evaluate("Review.sending.renew()")
    until = timezone.localtime(Slot.objects.get().leased_until).strftime("%H:%M")
    expect(page.locator("#held")).to_contain_text(f"Yours until {until}")
    assert Slot.objects.get().leased_until > timezone.now() + timedelta(minutes=25)
    Slot.objects.update(state="open", person=None, leased_until=None, lease_token=None)
    page.evaluate("Review.sending.renew()")
    expect(page.locator("#said")).to_have_text("Not held for you any more; you can still submit")
    finish(page)
    submitted(page)
    assert Annotation.objects.get().over_quota is False
