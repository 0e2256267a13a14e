"""What a person typed survives whatever happens to login, network, tabs and browsers, and is stored once."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import expect

from annotation.models import Annotation, Draft
from tests.browser.reviewing import address, finish, open_row, queue_of, row, state, submitted, suggested
from tests.factories.simulation import PASSWORD, CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def review(corpus, live_server):
    comment = suggested(corpus)
    other = CommentFactory(thread__corpus=corpus, text="The other one.", username="Third")
    return live_server.url + address(queue_of(comment, other))


def fill(page):
    finish(page)
    open_row(page, "occupation")
    page.keyboard.press("e")
    page.keyboard.type("night nurse")
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    page.keyboard.press("Shift+Digit3")


def assert_filled(page):
    expect(page.locator("#said")).to_contain_text("Your draft is back")
    assert (state(page, "age"), state(page, "sex"), state(page, "occupation")) == (
        "confirmed",
        "none",
        "added",
    )
    assert page.locator("[name='occupation-text']").input_value() == "night nurse"
    assert page.locator("[name='occupation-hardness'][value='4']").is_checked()
    assert page.locator("[name='occupation-certainty'][value='3']").is_checked()


def test_a_login_that_lapsed_under_a_filled_form_is_renewed_in_place(
    open_as, live_server, labeler, stranger, review
):
    page = open_as(labeler, expects=("403 (Forbidden)",))
    page.goto(review)
    fill(page)
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session has ended")
    expect(dialog.get_by_label("Name")).to_have_value(labeler.username)
    for name, password, said in (
        (labeler.username, "wrong", "do not fit"),
        (stranger.username, PASSWORD, f"belongs to {labeler.username}"),
    ):
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_label("Password").fill(password)
        page.keyboard.press("Enter")
        expect(dialog.locator(".wrong")).to_contain_text(said)
    assert Annotation.objects.count() == 0
    dialog.get_by_label("Name").fill(labeler.username)
    dialog.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Submitted: NightOwl, 2 values.")
    annotation = Annotation.objects.get()
    assert annotation.person == labeler
    assert annotation.labels.get(attribute="occupation").value == "night nurse"


def test_a_lapsed_login_that_only_a_draft_met_does_not_get_in_the_way(open_as, labeler, review):
    page = open_as(labeler, expects=("403 (Forbidden)",))
    page.goto(review)
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("kept in this browser")
    page.keyboard.press("x")
    assert state(page, "relationship_status") == "rejected"
    page.get_by_role("button", name="Sign in again").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Saved")
    assert Draft.objects.get().fields["relationship_status-choice"] == "none"


def test_a_closed_tab_costs_nothing_and_what_is_stored_leaves_no_draft(open_as, labeler, review):
    page = open_as(labeler)
    page.goto(review)
    fill(page)
    again = page.context.new_page()
    page.close()
    again.goto(review)
    assert_filled(again)
    submitted(again, "Submitted: NightOwl, 2 values.")
    assert again.evaluate("Object.keys(localStorage)") == []
    assert not Draft.objects.exists()


def test_a_draft_comes_back_in_another_browser(open_as, labeler, review):
    page = open_as(labeler)
    page.goto(review)
    fill(page)
    page.locator("#note").fill("see the\nfirst line")
    page.keyboard.press("Control+S")
    expect(page.locator("#said")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    elsewhere = open_as(labeler)
    elsewhere.goto(review)
    assert_filled(elsewhere)
    assert elsewhere.locator("#note").input_value() == "see the\nfirst line"


def test_the_draft_of_one_person_is_not_shown_to_another(open_as, labeler, admin, review):
    page = open_as(labeler)
    page.goto(review)
    fill(page)
    keys = page.evaluate("Object.keys(localStorage)")
    assert keys
    assert all(labeler.public_id in key for key in keys)


@pytest.mark.parametrize("arrived", [False, True], ids=["the request is lost", "the answer is lost"])
def test_a_lost_connection_is_said_and_the_retry_is_stored_once(open_as, labeler, review, arrived):
    page = open_as(labeler, expects=("ERR_FAILED",))

    def lose(route):
        if arrived:
            route.fetch()
        route.abort()

    page.route(re.compile(r"/items/\w+/$"), lose, times=1)
    page.goto(review)
    fill(page)
    page.keyboard.press("Control+S")
    expect(page.locator("#said")).to_contain_text("Saved")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not sent: the server did not answer. Nothing is lost.")
    page.set_viewport_size({"width": 360, "height": 780})
    expect(page.get_by_role("button", name="Try again")).to_be_in_viewport()
    assert page.locator("[name='occupation-text']").input_value() == "night nurse"
    expect(page.get_by_role("button", name="Submit and next")).to_be_enabled()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#target")).to_contain_text("The other one.")
    expect(page.locator(".toast.bad")).to_have_count(0)
    assert Annotation.objects.get().version == 1
    assert Annotation.objects.get().submissions.count() == 1


def test_a_broken_server_is_said_too(open_as, labeler, review):
    page = open_as(labeler, expects=("503 (Service",))
    page.route(re.compile(r"/items/\w+/$"), lambda route: route.fulfill(status=503), times=1)
    page.goto(review)
    fill(page)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#target")).to_contain_text("The other one.")


def test_two_tabs_that_both_answer_show_both_and_lose_neither(open_as, labeler, review):
    one = open_as(labeler, expects=("409 (Conflict)",))
    one.goto(review)
    two = one.context.new_page()
    two.goto(review)
    fill(one)
    submitted(one, "Submitted: NightOwl, 2 values.")
    open_row(two, "age")
    two.keyboard.press("q")
    open_row(two, "relationship_status")
    two.keyboard.press("u")
    two.keyboard.press("n")
    two.keyboard.press("Control+Enter")
    expect(two.get_by_role("heading", level=1)).to_contain_text("Two answers of yours")
    age = two.locator("tr", has=two.get_by_role("rowheader", name="Age"))
    expect(age).to_contain_text("35")
    expect(age).to_contain_text("30")
    expect(age).to_contain_text("differs")
    expect(two.locator("tr", has=two.get_by_role("rowheader", name="Sex"))).not_to_contain_text("differs")
    assert Annotation.objects.get().version == 1
    two.get_by_role("button", name="Keep mine").click()
    expect(two.locator("#target")).to_contain_text("The other one.")
    annotation = Annotation.objects.get()
    assert annotation.version == 2
    assert annotation.labels.get(attribute="age").value == "35"


def test_a_page_is_at_risk_only_while_nothing_keeps_what_was_typed(open_as, labeler, review):
    page = open_as(labeler, expects=("ERR_FAILED",))
    page.goto(review)
    page.keyboard.press("a")
    assert page.evaluate("Review.keeping.atRisk()") is False
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    page.route("**/draft/", lambda route: route.abort())
    page.keyboard.press("x")
    assert page.evaluate("Review.keeping.atRisk()") is True
    expect(page.locator("#said")).to_contain_text("Not saved yet")
    page.unroute("**/draft/")
    page.keyboard.press("Control+S")
    expect(page.locator("#said")).to_contain_text("Saved")
    assert page.evaluate("Review.keeping.atRisk()") is False
    assert row(page, "age").locator(".chip").inner_text().startswith("as suggested")


def test_what_would_be_typed_while_the_answer_is_on_its_way_is_not_taken(open_as, labeler, review):
    page = open_as(labeler)
    waiting = []
    page.route(re.compile(r"/items/\w+/$"), lambda route: waiting.append(route), times=1)
    page.goto(review)
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#review[inert]")).to_have_count(1)
    page.locator("#note").click(force=True, no_wait_after=True)
    page.keyboard.type("too late")
    assert page.locator("#note").input_value() == ""
    waiting[0].continue_()
    expect(page.locator("#target")).to_contain_text("The other one.")
    expect(page.locator("#review:not([inert])")).to_have_count(1)
