"""Every key of the map does what the overlay says, and none does anything while somebody types."""

import re

import pytest
from playwright.sync_api import expect

from annotation.domain.keys import bound
from annotation.models import Annotation, Draft, Guideline, Slot
from tests.browser.reviewing import (
    address,
    at_hand,
    chosen,
    finish,
    open_row,
    queue_of,
    row,
    select,
    state,
    submitted,
    suggested,
)
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def comment(corpus):
    return suggested(corpus)


@pytest.fixture
def queue(comment):
    other = CommentFactory(thread__corpus=comment.corpus, text="The other one.", username="Second")
    queue = queue_of(comment, other)
    Guideline.objects.create(queue=queue, version=3, text="Be kind to the night bus.")
    return queue


@pytest.fixture
def page(open_as, live_server, labeler, queue):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    return page


def next_row(page, key):
    page.keyboard.press(key)
    assert at_hand(page) == "sex"


def previous_row(page, key):
    open_row(page, "sex")
    page.keyboard.press(key)
    assert at_hand(page) == "age"


def accept(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), chosen(page, "age-choice"), at_hand(page)) == (
        "confirmed",
        "g0",
        "relationship_status",
    )


def guess_2(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), chosen(page, "age-choice"), at_hand(page)) == ("corrected", "g1", "age")


def guess_3(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), chosen(page, "age-choice")) == ("corrected", "g2")


def no_evidence(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), at_hand(page)) == ("rejected", "relationship_status")


def unsure(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), at_hand(page)) == ("unsure", "relationship_status")
    assert row(page, "age").locator(".shown").inner_text() == "Cannot decide"


def edit(page, key):
    page.keyboard.press(key)
    page.keyboard.type("41")
    page.keyboard.press("Enter")
    assert (chosen(page, "age-choice"), state(page, "age"), at_hand(page)) == ("other", "corrected", "sex")
    page.keyboard.press(key)  # a row of radios: arrows choose in it, Esc leaves
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert (chosen(page, "sex-choice"), at_hand(page)) == ("v:female", "sex")


def quote(page, key):
    select(page, "thirty")
    page.keyboard.press(key)
    expect(row(page, "age").locator("q")).to_have_text("thirty")
    expect(page.locator("#target mark")).to_have_text("thirty")


def accept_all(page, key):
    page.keyboard.press(key)
    assert (state(page, "age"), state(page, "relationship_status")) == ("confirmed", "confirmed")
    assert page.locator("[name=bulk]").input_value() == "age,relationship_status"


def nothing_else(page, key):
    page.keyboard.press(key)
    assert (state(page, "sex"), state(page, "age")) == ("none", "untouched")
    expect(page.locator("#untouched")).to_contain_text("2")
    assert len(page.locator("[name=bulk]").input_value().split(",")) == 6


def skip(page, key):
    page.keyboard.press(key)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#target")).to_contain_text("The other one.")
    assert Slot.objects.get(state="skipped").skip_reason == "upsetting"


def flag(page, key):
    page.keyboard.press(key)
    page.keyboard.type("is this a joke?")
    page.get_by_role("button", name="Flag it").click()
    expect(page.get_by_text("flagged by you")).to_be_visible()


def guidelines(page, key):
    expect(page.get_by_text("new version")).to_be_visible()
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("Be kind to the night bus.")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.get_by_text("new version")).to_be_hidden()


def more(page, key):
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("NightOwl")


def thread(page, key):
    page.keyboard.press(key)
    expect(page.get_by_text("The tram.")).to_be_visible()
    page.keyboard.press(key)
    expect(page.get_by_text("The tram.")).to_be_hidden()


def search(page, key):
    page.keyboard.press(key)
    expect(page).to_have_url(re.compile("/comments/"))


def help(page, key):
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("The text says it in so many words.")
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert state(page, "age") == "untouched"


def hardness(page, key):
    for digit in key.split("-"):
        page.keyboard.press(f"Digit{digit}")
        assert chosen(page, "age-hardness") == digit
    page.keyboard.press("Numpad4")
    assert chosen(page, "age-hardness") == "4"


def certainty(page, key):
    for digit in key.removeprefix("Shift+").split("-"):
        page.keyboard.press(f"Shift+Digit{digit}")
        assert (chosen(page, "age-certainty"), chosen(page, "age-hardness")) == (digit, "2")


def submit(page, key):
    finish(page)
    submitted(page)
    expect(page.locator("#target")).to_contain_text("The other one.")


def save(page, key):
    page.keyboard.press("a")
    page.keyboard.press(key.replace("Ctrl", "Control"))
    expect(page.locator("#said")).to_contain_text("Saved")


def undo(page, key):
    page.keyboard.press("a")
    page.keyboard.press(key.replace("Ctrl", "Control"))
    assert state(page, "age") == "untouched"


def redo(page, key):
    undo(page, "Control+Z")
    page.keyboard.press(key.replace("Ctrl", "Control"))
    assert state(page, "age") == "confirmed"


def earlier(page, key):
    finish(page)
    submitted(page)
    page.keyboard.press(key)
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    assert state(page, "age") == "confirmed"


def later(page, key):
    earlier(page, "ArrowLeft")
    page.keyboard.press(key)
    expect(page.locator("#target")).to_contain_text("The other one.")
    assert Annotation.objects.get().version == 1


# Every action of the map has its function here: a new one without a test fails at once. What leaves traces
# beyond the rows has a page of its own; the others share one, which begins anew for each.
TRACES = ("skip", "flag", "guidelines", "more", "search", "submit", "save", "earlier", "later")


@pytest.mark.parametrize(
    "one", [one for one in bound({}) if one.action in TRACES], ids=lambda one: f"{one.action}-{one.key}"
)
def test_the_key_does_what_the_map_says(page, one):
    globals()[one.action](page, one.key)


def test_each_key_of_the_rows_does_what_the_map_says(page):
    for one in bound({}):
        if one.action not in TRACES:
            globals()[one.action](page, one.key)
            anew(page)


def anew(page):
    page.evaluate("() => { Review.keeping.forget(); localStorage.clear(); sessionStorage.clear(); }")
    Draft.objects.all().delete()
    page.reload()
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    assert (state(page, "age"), at_hand(page)) == ("untouched", "age")


def test_letters_stay_letters_while_typing_and_while_composing(page):
    open_row(page, "occupation")
    page.keyboard.press("Enter")
    page.keyboard.type("baker, a quiet job xuns?/A")
    assert page.locator("[name='occupation-text']").input_value() == "baker, a quiet job xuns?/A"
    page.keyboard.press("Escape")
    page.locator("#note").fill("")
    page.keyboard.type("xaj")
    open_row(page, "age")
    for init in ("isComposing: true", "keyCode: 229"):
        page.evaluate(
            "init => document.querySelector('.attr.now').dispatchEvent(new KeyboardEvent('keydown',"
            " {key: 'x', code: 'KeyX', bubbles: true, ...init}))",
            {init.split(":")[0]: True if "true" in init else 229},
        )
    assert (state(page, "age"), state(page, "occupation")) == ("untouched", "added")
    assert page.locator("#note").input_value() == "xaj"
    page.keyboard.press("x")
    assert state(page, "age") == "rejected"


def test_looking_into_the_field_changes_nothing_and_enter_takes_what_stands_there(page):
    page.keyboard.press("q")
    page.keyboard.press("e")
    assert page.locator("[name='age-text']").input_value() == "35"
    page.keyboard.press("Escape")
    assert (chosen(page, "age-choice"), page.locator("[name='age-text']").input_value()) == ("g1", "")
    page.keyboard.press("Control+Z")
    assert state(page, "age") == "untouched"
    page.keyboard.press("e")
    page.keyboard.press("Control+Enter")  # what was only looked at is not sent
    expect(page.locator("#errors")).to_contain_text("Age: the suggestion has not been judged")
    open_row(page, "age")
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    assert (chosen(page, "age-choice"), state(page, "age"), at_hand(page)) == ("other", "confirmed", "sex")


def test_a_rejected_suggestion_that_is_accepted_after_all_has_its_marks(page):
    finish(page)
    submitted(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    open_row(page, "relationship_status")
    assert chosen(page, "relationship_status-hardness") == ""
    page.keyboard.press("a")
    assert chosen(page, "relationship_status-hardness") == "2"
    submitted(page, "Submitted: NightOwl, 2 values.")


def test_enter_in_a_field_never_submits(page):
    finish(page)
    open_row(page, "occupation")
    page.keyboard.press("e")
    page.keyboard.type("baker")
    page.keyboard.press("Enter")
    assert at_hand(page) == "income_level"
    assert Annotation.objects.count() == 0


def test_other_keys_and_none_at_all(open_as, live_server, labeler, queue):
    labeler.review_keys = {"accept": "y", "unsure": "a"}
    labeler.save()
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    expect(row(page, "age").locator("kbd[data-for=accept]").first).to_have_text("y")
    page.keyboard.press("a")
    assert state(page, "age") == "unsure"
    open_row(page, "age")
    page.keyboard.press("y")
    assert state(page, "age") == "confirmed"
    labeler.review_keys_on = False
    labeler.save()
    page.reload()
    open_row(page, "relationship_status")
    for key in ("y", "x", "j", "3", "Shift+A", "Control+Enter", "ArrowDown", "?"):
        page.keyboard.press(key)
    assert (state(page, "relationship_status"), at_hand(page)) == ("untouched", "relationship_status")
    assert page.locator("kbd[data-for]:visible").count() == 0
    page.get_by_role("link", name="Scales and keys").click()
    expect(page.get_by_role("dialog")).to_contain_text("switched off")


def test_accepting_many_at_once_asks_back(open_as, live_server, labeler, queue):
    queue.bulk_asks_from = 25
    queue.save()
    page = open_as(labeler)
    page.goto(live_server.url + address(queue))
    page.keyboard.press("Shift+A")
    expect(page.get_by_role("dialog")).to_contain_text("25 % of all rows")
    page.get_by_role("button", name="Judge them one by one").click()
    assert state(page, "age") == "untouched"
    page.keyboard.press("Shift+A")
    page.keyboard.press("Enter")
    assert state(page, "age") == "confirmed"
    open_row(page, "age")
    page.keyboard.press("q")  # one by one after all
    page.keyboard.press("n")
    submitted(page, "Submitted: NightOwl, 2 values.")
    bulk = dict(Annotation.objects.get().labels.values_list("attribute", "bulk"))
    assert (bulk["age"], bulk["relationship_status"], bulk["sex"]) == (False, True, True)


def test_an_unjudged_row_comes_back_in_focus(page):
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors")).to_contain_text("Relationship: the suggestion has not been judged")
    expect(page.locator("#errors")).to_be_focused()
    assert (at_hand(page), state(page, "age")) == ("relationship_status", "confirmed")


def test_a_double_click_on_submit_stores_once(page):
    finish(page)
    page.get_by_role("button", name="Submit and next").dblclick()
    expect(page.locator(".toast")).to_contain_text("Submitted")
    expect(page.locator("#target")).to_contain_text("The other one.")
    assert Annotation.objects.count() == 1


def test_a_click_on_the_chip_accepts(page):
    row(page, "relationship_status").locator(".chip").click()
    assert state(page, "relationship_status") == "confirmed"
    assert "tagger-b" in row(page, "age").locator(".chip").get_attribute("title")


def test_arrows_after_a_click_on_a_radio_move_the_row_and_leave_the_choice(page):
    row(page, "age").locator(".choice", has_text="35").click()
    page.keyboard.press("ArrowDown")
    assert (chosen(page, "age-choice"), at_hand(page)) == ("g1", "sex")


def test_time_counts_only_while_the_person_is_there(page):
    page.wait_for_timeout(2200)
    assert int(page.locator("[name=active_ms]").input_value()) >= 1000
    assert int(page.locator("[name=wall_ms]").input_value()) >= 1000
