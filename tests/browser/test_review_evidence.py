"""Quotes: their places are code points of the text as it is stored, whatever the text holds."""

import pytest
from playwright.sync_api import expect

from annotation.models import AttributeLabel
from tests.browser.reviewing import address, finish, open_row, queue_of, row, select, submitted, suggested

pytestmark = pytest.mark.django_db(transaction=True)

FAMILY = "👩‍👩‍👧‍👦"
COMBINED = "cafe\u0301 no\u0308el"
ARABIC = "أعيش في القاهرة"
TEXT = (
    f"  Two 🚲🚲 and a {FAMILY}, {COMBINED}.\r\n\r\nThen\u00a0{ARABIC}, she said: <b>“40 & tired”</b>\n"
    + "\U0001d400\U0001d401 trams and bakeries, " * 36
    + "the last word"
)
WORDS = [
    "Two 🚲",
    FAMILY,
    COMBINED,
    "Then\u00a0",
    ARABIC,
    "<b>“40 & tired”</b>",
    "\U0001d401 trams",
    "the last word",
]


def test_every_place_fits_the_stored_text(open_as, live_server, labeler, corpus):
    assert len(TEXT) > 900
    comment = suggested(corpus, TEXT)
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(comment)))
    assert page.locator("#target .c-text").evaluate("element => element.textContent") == TEXT
    for words in WORDS:
        select(page, words)
        page.keyboard.press("v")
    finish(page)
    submitted(page)
    stored = AttributeLabel.objects.get(attribute="age").evidence
    assert [one["quote"] for one in stored] == [words.strip() for words in WORDS]
    assert all(TEXT[one["start"] : one["end"]] == one["quote"] for one in stored)
    assert {one["comment"] for one in stored} == {comment.public_id}


def test_a_quote_from_above_is_taken_one_from_beside_is_refused(open_as, live_server, labeler, corpus):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(suggested(corpus))))
    select(page, "keeps you awake", ".context .c-text")
    page.keyboard.press("v")
    expect(row(page, "age").locator(".evidence")).to_contain_text("Opener · 5–20")
    page.keyboard.press("t")
    expect(page.get_by_text("The tram.")).to_be_visible()
    select(page, "tram", ".folded .c-text")
    page.keyboard.press("v")
    expect(page.locator("#said")).to_contain_text("Select words of the comment, or of one above it")
    page.evaluate(
        """() => { const [one, two] = document.querySelectorAll("[data-comment]");
        getSelection().setBaseAndExtent(one, 0, two, 1); }"""
    )
    page.keyboard.press("v")
    expect(page.locator("#said")).to_contain_text("Select within one comment")
    expect(row(page, "age").locator(".evidence")).to_have_count(1)


def test_overlapping_quotes_are_marked_each_once_and_removed_one_by_one(
    open_as, live_server, labeler, corpus
):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(suggested(corpus))))
    text = page.locator("#target .c-text")
    for words in ("Turning thirty", "thirty did", "thirty did"):
        select(page, words)
        page.keyboard.press("v")
    expect(page.locator("#said")).to_contain_text("That quote is there already")
    open_row(page, "relationship_status")
    select(page, "thirty")
    page.get_by_role("button", name="Quote selection").locator("visible=true").click()
    assert text.evaluate("element => element.textContent") == "Turning thirty did."
    assert [mark.inner_text() for mark in page.locator("#target mark").all()] == [
        "Turning ",
        "thirty",
        " did",
    ]
    assert page.locator("#target mark").nth(1).get_attribute("data-ends") == "1, 8"
    expect(page.locator("#target mark.now")).to_have_text("thirty")
    open_row(page, "age")
    page.get_by_role("button", name="Remove the quote “Turning thirty”").click()
    expect(row(page, "age").locator("q")).to_have_text("thirty did")
    page.reload()
    expect(row(page, "age").locator("q")).to_have_text("thirty did")


def test_places_are_counted_in_code_points(open_as, live_server, labeler, corpus):
    page = open_as(labeler)
    page.goto(live_server.url + address(queue_of(suggested(corpus))))
    counted = page.evaluate(
        "cases => cases.map(([text, units]) => Review.text.points(text, units))",
        [
            ["abc", 2],
            ["🚲b", 2],
            ["🚲b", 3],
            ["a🚲", 2],
            ["", 0],
            [FAMILY, len(FAMILY.encode("utf-16-le")) // 2],
        ],
    )
    assert counted == [2, 1, 2, 2, 0, len(FAMILY)]
    back = page.evaluate(
        "cases => cases.map(([text, points]) => Review.text.units(text, points))", [["🚲b", 1], ["a🚲", 9]]
    )
    assert back == [2, 3]
