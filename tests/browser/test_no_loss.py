"""What a person typed survives a lapsed login and a closed tab, and goes when it is stored."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Annotation
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import PASSWORD, CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def review(corpus):
    comment = CommentFactory(thread__corpus=corpus, text="Turning thirty did.", username="NightOwl")
    SuggestionFactory(comment=comment)
    CommentFactory(thread__corpus=corpus, text="The other one.", username="Third")
    return reverse("review", args=[queue_over(corpus).public_id])


def fill(page):
    page.keyboard.press("a")
    page.locator("#attr-occupation").click(position={"x": 6, "y": 6})
    page.keyboard.press("e")
    page.keyboard.type("night nurse")
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    page.keyboard.press("Shift+Digit3")


def assert_filled(page):
    expect(page.locator("#said")).to_have_text("Your draft is back")
    assert page.locator("#attr-age").get_attribute("data-state") == "confirmed"
    assert page.locator("[name='occupation-text']").input_value() == "night nurse"
    assert page.locator("[name='occupation-hardness'][value='4']").is_checked()
    assert page.locator("[name='occupation-certainty'][value='3']").is_checked()


def test_a_login_that_lapsed_under_a_filled_form_costs_nothing(open_as, live_server, labeler, review):
    page = open_as(labeler)
    page.goto(live_server.url + review)
    fill(page)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("Control+Enter")
    page.locator("[name=username]").fill(labeler.username)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#target")).to_contain_text("Turning thirty did.")
    assert_filled(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Submitted: NightOwl, 2 values.")).to_be_visible()
    labels = {label.attribute: label for label in Annotation.objects.get().labels.all()}
    assert (labels["occupation"].value, labels["occupation"].hardness) == ("night nurse", 4)


def test_a_closed_tab_costs_nothing_and_what_is_stored_leaves_no_draft(open_as, live_server, labeler, review):
    page = open_as(labeler)
    page.goto(live_server.url + review)
    fill(page)
    again = page.context.new_page()
    page.close()
    again.goto(live_server.url + review)
    assert_filled(again)
    again.keyboard.press("Control+Enter")
    expect(again.get_by_text("Submitted")).to_be_visible()
    assert again.evaluate("Object.keys(localStorage)") == []


def test_the_draft_of_one_person_is_not_shown_to_another(open_as, live_server, labeler, admin, review):
    page = open_as(labeler)
    page.goto(live_server.url + review)
    fill(page)
    keys = page.evaluate("Object.keys(localStorage)")
    assert all(labeler.public_id in key for key in keys)
