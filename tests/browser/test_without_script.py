"""Everything works without JavaScript too."""

import pytest
from playwright.sync_api import expect

from annotation.models import Annotation, Flag, Slot
from tests.browser.reviewing import address, queue_of, suggested
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(open_as, live_server, labeler, corpus):
    comment = suggested(corpus)
    page = open_as(labeler, java_script_enabled=False)
    other = CommentFactory(thread__corpus=corpus, text="The other one.", username="Second")
    page.goto(live_server.url + address(queue_of(comment, other)))
    return page


def test_a_review_is_done_with_the_mouse_alone(page):
    assert page.locator("kbd[data-for]:visible").count() == 0
    page.get_by_role("button", name="Submit and next").click()
    expect(page.locator("#errors")).to_contain_text("Age: the suggestion has not been judged")
    page.locator("#attr-age .chip").click()
    page.locator("[name='age-certainty'][value='5']").check()
    page.locator("[name='age-quote']").fill("Turning thirty")
    page.locator("#attr-relationship_status .choice", has_text="Unsure").click()
    page.locator("[name='occupation-text']").fill("night nurse")
    page.locator("[name='occupation-hardness'][value='1']").check()
    page.locator("[name='occupation-certainty'][value='4']").check()
    page.locator("#note").fill("fine")
    page.get_by_role("button", name="Nothing else, submit").click()
    expect(page.locator("#target")).to_contain_text("The other one.")
    expect(page.get_by_text("Submitted: NightOwl, 2 values.")).to_be_visible()
    annotation = Annotation.objects.get()
    labels = {label.attribute: label for label in annotation.labels.all()}
    assert (labels["age"].value, labels["age"].outcome, labels["age"].certainty) == ("30", "confirmed", 5)
    assert [one["quote"] for one in labels["age"].evidence] == ["Turning thirty"]
    assert (labels["occupation"].value, labels["occupation"].hardness) == ("night nurse", 1)
    assert (labels["sex"].state, annotation.note) == ("none", "fine")
    page.get_by_role("link", name="Change it").click()
    expect(page.locator("#attr-age .quotes")).to_contain_text("Turning thirty")
    assert page.locator("[name='age-choice'][value='g0']").is_checked()


def test_enter_in_a_field_sends_nothing(page):
    page.locator("[name='occupation-text']").fill("nurse")
    page.keyboard.press("Enter")
    assert Annotation.objects.count() == 0
    expect(page.locator("#errors")).to_have_count(0)


def test_skip_and_flag_are_forms_that_open_in_place(page):
    page.locator("summary", has_text="Flag").click()
    page.get_by_label("What should be looked at?").fill("irony?")
    page.get_by_role("button", name="Flag it").click()
    expect(page.get_by_text("flagged by you")).to_be_visible()
    assert Flag.objects.get().note == "irony?"
    page.locator("summary", has_text="Skip").click()
    page.get_by_label("Another reason").check()
    page.get_by_role("button", name="Skip it").click()
    expect(page.locator("#target")).to_contain_text("The other one.")
    assert Slot.objects.get(state="skipped").skip_reason == "other"
