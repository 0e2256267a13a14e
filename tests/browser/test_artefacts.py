"""Artefact review in a browser: by keys alone, with a proposal in the field, and without JavaScript."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from simulation.models import Artefact, Comment
from simulation.services import artefacts
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)
DIRTY = (
    "the soup was great <br>",
    "as a {occupation} i can only laugh",
    "rent is high and and and and and and",
)


@pytest.fixture
def dirty(corpus):
    made = [CommentFactory(thread__corpus=corpus, text=text) for text in DIRTY]
    artefacts.scan_corpus(corpus)
    return made


def listed(live_server, corpus):
    return live_server.url + reverse("artefacts", args=[corpus.public_id])


def states():
    return list(Artefact.objects.order_by("comment__sequence", "pk").values_list("state", flat=True))


def text_of(comment):
    return Comment.objects.get(pk=comment.pk).text


def test_keys_walk_clear_withdraw_and_edit(open_as, live_server, admin, corpus, dirty):
    page = open_as(admin)
    page.goto(listed(live_server, corpus))
    found = page.locator(".finding")
    count = found.count()
    assert count >= 3
    page.keyboard.press("j")
    expect(found.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(found.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(found.nth(0)).to_be_focused()

    page.keyboard.press("e")
    field = found.nth(0).get_by_label("Text of the comment")
    expect(field).to_be_focused()
    found.nth(0).get_by_role("link", name="Without the marked words").click()
    expect(field).to_have_value("the soup was great")
    field.press("End")
    page.keyboard.type(", really")
    found.nth(0).get_by_role("button", name="Save the text").click()
    expect(page.get_by_role("status").or_(page.locator(".notice")).first).to_contain_text("new text")
    assert text_of(dirty[0]) == "the soup was great, really"

    # The finding behind it has the focus: one key each from here on.
    expect(found.nth(0)).to_be_focused()
    page.keyboard.press("c")
    expect(page.locator("body")).to_contain_text("Cleared")
    page.keyboard.press("j")
    page.keyboard.press("w")
    expect(page.locator("body")).to_contain_text("is withdrawn")
    assert {"edited", "cleared", "withdrawn"} <= set(states())


def test_keys_do_nothing_while_somebody_types(open_as, live_server, admin, corpus, dirty):
    page = open_as(admin)
    page.goto(listed(live_server, corpus))
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.type("cwj")
    expect(page.locator(".finding").first.get_by_label("Text of the comment")).to_have_value(
        re.compile("cwj")
    )
    page.keyboard.press("Escape")
    expect(page.locator(".finding").first).to_be_focused()
    assert set(states()) == {"open"}


def test_everything_works_without_javascript(browser, open_as, live_server, admin, corpus, dirty):
    cookies = open_as(admin).context.cookies()
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(cookies)
    page = plain.new_page()
    page.goto(listed(live_server, corpus))
    first = page.locator(".finding").first
    first.locator("details.change > summary").click()
    first.get_by_role("link", name="Without the marked words").click()
    expect(page.get_by_label("Text of the comment")).to_have_value("the soup was great")
    page.get_by_role("button", name="Save the text").click()
    expect(page.get_by_role("heading", name="Artefacts in")).to_be_visible()
    assert text_of(dirty[0]) == "the soup was great"
    page.locator(".finding").first.get_by_role("button", name="Clear").click()
    expect(page.locator("body")).to_contain_text("Cleared")
    plain.close()
