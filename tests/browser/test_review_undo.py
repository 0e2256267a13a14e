"""Undo and redo: ten acts deep, through the last submission and forward again."""

import pytest
from playwright.sync_api import expect

from annotation.models import Annotation
from tests.browser.reviewing import (
    address,
    chosen,
    finish,
    open_row,
    queue_of,
    select,
    state,
    submitted,
    suggested,
)
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(open_as, live_server, labeler, corpus):
    comment = suggested(corpus)
    page = open_as(labeler)
    page.goto(
        live_server.url + address(queue_of(comment, CommentFactory(thread__corpus=corpus, text="Two.")))
    )
    return page


def test_ten_acts_are_undone_and_redone(page):
    marks = [number % 5 + 1 for number in range(12)]
    for mark in marks:
        page.keyboard.press(f"Digit{mark}")
    seen = []
    for _ in range(11):
        page.keyboard.press("Control+Z")
        seen.append(chosen(page, "age-hardness"))
    assert seen[:10] == [str(mark) for mark in reversed(marks[1:-1])]
    assert seen[10] == seen[9]
    for _ in range(10):
        page.keyboard.press("Control+Shift+Z")
    assert chosen(page, "age-hardness") == str(marks[-1])


def test_words_quotes_and_acts_for_many_rows_are_undone_as_one_each(page):
    open_row(page, "occupation")
    page.keyboard.press("e")
    page.keyboard.type("night nurse")
    page.keyboard.press("Enter")
    open_row(page, "age")
    select(page, "thirty")
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.press("Control+Z")
    assert (state(page, "sex"), state(page, "occupation")) == ("pending", "added")
    expect(page.locator("#target mark")).to_have_text("thirty")
    page.keyboard.press("Control+Z")
    expect(page.locator("#target mark")).to_have_count(0)
    page.keyboard.press("Control+Z")
    assert page.locator("[name='occupation-text']").input_value() == ""
    page.get_by_role("button", name="Undo").click()
    page.keyboard.press("Control+Shift+Z")
    assert page.locator("[name='occupation-text']").input_value() == "night nurse"


def test_a_submission_is_undone_by_opening_it_and_redo_leads_back(page):
    finish(page)
    submitted(page)
    expect(page.locator("#target")).to_contain_text("Two.")
    page.keyboard.press("Control+Z")
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    assert (state(page, "age"), state(page, "sex")) == ("confirmed", "none")
    page.keyboard.press("Control+Z")
    assert (state(page, "age"), state(page, "sex")) == ("confirmed", "pending")
    page.keyboard.press("Control+Z")
    assert state(page, "relationship_status") == "untouched"
    for _ in range(3):
        page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#target")).to_contain_text("Two.")
    assert Annotation.objects.get().version == 1


def test_change_it_opens_what_was_submitted_and_stores_the_change(page):
    finish(page)
    submitted(page)
    page.get_by_role("link", name="Change it").click()
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    open_row(page, "age")
    page.keyboard.press("q")
    submitted(page)
    assert Annotation.objects.get().labels.get(attribute="age").value == "35"
    assert Annotation.objects.get().version == 2


def test_undo_in_a_field_is_the_fields_own(page):
    page.keyboard.press("a")
    open_row(page, "occupation")
    page.keyboard.press("e")
    page.keyboard.type("nurse")
    page.keyboard.press("Control+Z")
    assert state(page, "age") == "confirmed"
