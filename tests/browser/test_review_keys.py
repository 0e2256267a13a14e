"""Every documented key of the review page does what the overlay says."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Annotation
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def comment(corpus):
    root = CommentFactory(thread__corpus=corpus, text="What keeps you awake?", username="Opener")
    comment = CommentFactory(thread=root.thread, parent=root, text="Turning thirty did.", username="NightOwl")
    CommentFactory(thread=root.thread, parent=root, text="The tram.", username="Third", position=1)
    SuggestionFactory(comment=comment)
    SuggestionFactory(
        comment=comment,
        attribute="relationship_status",
        guesses=["Married", "Engaged", "Single"],
        certainty=2,
    )
    return comment


@pytest.fixture
def page(open_as, live_server, labeler, corpus, comment):
    queue = queue_over(corpus)
    page = open_as(labeler)
    page.goto(live_server.url + reverse("review", args=[queue.public_id]))
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    return page


def row(page, key):
    return page.locator(f"#attr-{key}")


def state(page, key):
    return row(page, key).get_attribute("data-state")


def chosen(page, name):
    return page.evaluate("name => document.querySelector(`[name='${name}']:checked`)?.value ?? ''", name)


def test_the_first_suggestion_is_at_hand_and_the_arrows_move(page):
    assert row(page, "age").get_attribute("aria-current") == "true"
    page.keyboard.press("j")
    assert row(page, "sex").get_attribute("aria-current") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    assert row(page, "age").get_attribute("aria-current") == "true"


def test_a_accepts_and_goes_on(page):
    page.keyboard.press("a")
    assert state(page, "age") == "confirmed"
    assert row(page, "sex").get_attribute("aria-current") == "true"


def test_q_and_w_take_the_other_guesses(page):
    page.keyboard.press("q")
    assert (chosen(page, "age-choice"), state(page, "age")) == ("g1", "corrected")
    page.keyboard.press("w")
    assert chosen(page, "age-choice") == "g2"


def test_x_rejects_and_u_is_unsure(page):
    page.keyboard.press("x")
    assert state(page, "age") == "rejected"
    page.keyboard.press("u")
    assert state(page, "sex") == "unsure"
    assert row(page, "sex").locator(".shown").inner_text() == "Cannot decide"


def test_digits_set_hardness_and_with_shift_certainty(page):
    page.keyboard.press("a")
    page.keyboard.press("k")
    page.keyboard.press("5")
    page.keyboard.press("Shift+Digit1")
    assert (chosen(page, "age-hardness"), chosen(page, "age-certainty")) == ("5", "1")


def test_e_edits_enter_goes_on_and_letters_stay_letters_while_typing(page):
    page.keyboard.press("e")
    page.keyboard.type("4")
    page.keyboard.type("1")
    assert (chosen(page, "age-choice"), state(page, "age")) == ("other", "corrected")
    page.keyboard.press("Enter")
    assert row(page, "sex").get_attribute("aria-current") == "true"
    for _ in range(4):
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.keyboard.type("baker, a quiet job xu")
    page.keyboard.press("Escape")
    assert page.locator("[name='occupation-text']").input_value() == "baker, a quiet job xu"
    assert state(page, "occupation") == "added"
    assert state(page, "age") == "corrected"


def test_n_marks_the_rows_without_suggestion_only(page):
    page.keyboard.press("n")
    assert state(page, "sex") == "none"
    assert state(page, "age") == "untouched"
    expect(page.locator("#untouched")).to_contain_text("2 to judge")


def test_t_unfolds_and_folds_the_thread(page):
    page.keyboard.press("t")
    expect(page.get_by_text("The tram.")).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_text("The tram.")).to_be_hidden()


@pytest.mark.parametrize("key", ["?", "h"])
def test_the_scales_and_keys_are_one_key_away(page, key):
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("The text says it in so many words.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert state(page, "age") == "untouched"


def test_control_enter_submits_and_an_unjudged_row_comes_back_in_focus(page):
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors")).to_contain_text("Relationship: the suggestion has not been judged")
    assert row(page, "relationship_status").get_attribute("aria-current") == "true"
    assert state(page, "age") == "confirmed"
    page.keyboard.press("x")
    page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Submitted: NightOwl, 1 value.")).to_be_visible()
    stored = dict(Annotation.objects.get().labels.values_list("attribute", "outcome"))
    assert (stored["age"], stored["relationship_status"], stored["sex"]) == ("confirmed", "rejected", "none")


def test_a_double_click_on_submit_stores_once(page):
    for key in ("a", "n"):
        page.keyboard.press(key)
    page.keyboard.press("j")
    page.locator("#attr-relationship_status").click()
    page.keyboard.press("a")
    page.get_by_role("button", name="Submit and next").dblclick()
    expect(page.get_by_text("Submitted")).to_be_visible()
    assert Annotation.objects.count() == 1


def test_time_counts_only_while_the_person_is_there(page):
    page.wait_for_timeout(2200)
    assert int(page.locator("[name=active_ms]").input_value()) >= 1000
