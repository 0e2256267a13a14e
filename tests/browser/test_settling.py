"""Settling questions in a browser: by keys, by two people, without JavaScript, after a lapsed login."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from evaluation.models import Opinion, Question
from simulation.domain.roles import Role
from simulation.models import AuditEntry, Corpus, User
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import PASSWORD, MembershipFactory

pytestmark = pytest.mark.django_db(transaction=True)
TRUTH = "lighthouse keeper"
GUESSES = ("keeper of a beacon", "harbour worker", "pastry cook", "coast guard", "sailor")
ANSWER = re.compile(r"/questions/[\w-]+/answer/$")


@pytest.fixture
def asked(corpus: Corpus) -> list[Question]:
    """Five questions, in the order in which they are handed out."""
    return [
        QuestionFactory(corpus=corpus, truth=TRUTH, guess=guess, waiting=9 - place)
        for place, guess in enumerate(GUESSES)
    ]


@pytest.fixture
def colleague(db: None) -> User:
    return MembershipFactory(person__username="remy", role=Role.RESEARCHER.value).person


@pytest.fixture
def settling(open_as: Callable[..., Page], live_server, corpus: Corpus) -> Callable[..., Page]:
    """`settling(person, view)` is the page of a person, in a browser of their own."""

    def opened(person: User, view: str = "open", **options: object) -> Page:
        page = open_as(person, **options)
        page.goto(f"{live_server.url}{reverse('settle', args=[corpus.public_id])}?view={view}")
        return page

    return opened


def shows(page: Page, guess: str) -> None:
    expect(page.locator(".asked-pair dd").last).to_have_text(guess)
    ready(page)


def ready(page: Page) -> None:
    expect(page.locator("#work")).not_to_have_attribute("aria-busy", "true")


def press(page: Page, key: str) -> None:
    with page.expect_response(lambda answer: bool(ANSWER.search(answer.url))):
        page.keyboard.press(key)


def scores(questions: Sequence[Question]) -> list[tuple[str, float | None]]:
    found = {one.pk: one for one in Question.objects.filter(pk__in=[one.pk for one in questions])}
    return [(found[one.pk].state, found[one.pk].score) for one in questions]


def test_three_are_settled_by_keys_one_is_skipped_and_the_last_is_taken_back(settling, researcher, asked):
    page = settling(researcher)
    shows(page, GUESSES[0])
    press(page, "1")
    shows(page, GUESSES[1])
    expect(page.locator("#asked")).to_be_focused()  # read aloud; keys go on from there
    press(page, "s")
    shows(page, GUESSES[2])
    press(page, "3")
    shows(page, GUESSES[3])
    press(page, "2")
    shows(page, GUESSES[4])
    answers = [("settled", 1), ("open", None), ("settled", 0), ("settled", 0.5), ("open", None)]
    assert scores(asked) == answers
    assert set(Opinion.objects.values_list("person", "source", "note")) == {(researcher.pk, "person", "")}
    expect(page.locator(".last-said")).to_contain_text(f"You said less precise of “{GUESSES[3]}”")

    press(page, "z")
    shows(page, GUESSES[3])
    assert scores(asked)[3] == ("open", None)
    expect(page.locator(".last-said")).to_contain_text(f"You said wrong of “{GUESSES[2]}”")
    press(page, "Numpad1")
    shows(page, GUESSES[4])
    press(page, "3")
    shows(page, GUESSES[1])  # what was skipped comes back when the others are done
    press(page, "2")
    expect(page.locator("#asked")).to_have_text("Nothing to settle here")
    assert [score for _, score in scores(asked)] == [1, 0.5, 0, 1, 0]
    assert Opinion.objects.filter(withdrawn=True).count() == 1
    assert AuditEntry.objects.filter(action="question.answered", actor=researcher).count() == 6

    ready(page)
    press(page, "Control+z")
    shows(page, GUESSES[1])


def test_a_second_opinion_is_given_blind_and_a_dispute_is_shown_and_settled(
    settling, live_server, researcher, colleague, corpus, asked
):
    first = settling(researcher)
    press(first, "o")
    shows(first, GUESSES[0])
    expect(first.locator(".asking")).to_contain_text("2 people answer it")
    expect(first.get_by_role("button", name="One person is enough")).to_be_visible()
    press(first, "1")
    expect(first.locator(".last-said")).to_contain_text("It waits for a second opinion.")
    assert scores(asked)[0] == ("open", None)

    second = settling(colleague, "second")
    shows(second, GUESSES[0])
    expect(second.locator("select[name=view]")).to_contain_text("Second opinions (1)")
    expect(second.locator("#work")).not_to_contain_text("What people said")
    expect(second.locator(".last-said")).to_have_count(0)
    for name in ("question", "settled"):
        at = asked[0].public_id if name == "question" else corpus.public_id
        where = live_server.url + reverse(name, args=[at])
        theirs, own = (page.request.get(where).text() for page in (second, first))
        assert ("hidden until" in theirs, "<b>right</b>" in theirs) == (True, False)
        assert ("hidden until" in own, "<b>right</b>" in own) == (False, True)
    press(second, "3")
    expect(second.locator(".last-said")).to_contain_text("Somebody else said otherwise: it is disputed now.")
    assert scores(asked)[0] == ("disputed", None)

    second.locator("select[name=view]").select_option("disputed")
    second.get_by_role("button", name="Show").click()
    shows(second, GUESSES[0])
    expect(second.locator(".asked-others li")).to_have_text(["A wrong", "B right"])
    expect(second.locator(".asked-others")).not_to_contain_text(researcher.username)
    press(second, "2")
    expect(second.locator("#asked")).to_have_text("Nothing to settle here")
    assert scores(asked)[0] == ("settled", 0.5)
    last = Opinion.objects.latest("pk")
    assert (last.person, last.resolves) == (colleague, True)


def test_keys_type_in_fields_and_belong_to_the_browser_with_control(settling, researcher, corpus, asked):
    page = settling(researcher)
    shows(page, GUESSES[0])
    page.evaluate("""() => {
        const field = document.createElement("input");
        field.id = "typed";
        document.querySelector(".filters").append(field);
        field.focus();
    }""")
    page.keyboard.type("123soz?")
    expect(page.locator("#typed")).to_have_value("123soz?")
    page.locator("select[name=view]").focus()
    page.keyboard.press("1")
    page.locator("#asked").focus()
    page.keyboard.press("Control+1")
    page.keyboard.press("Alt+2")
    page.keyboard.press("Shift+Digit3")
    page.wait_for_timeout(400)
    shows(page, GUESSES[0])
    assert Opinion.objects.count() == 0
    assert set(Question.objects.values_list("wants", flat=True)) == {1}
    page.keyboard.press("?")
    expect(page.locator("#settle-help")).to_have_attribute("open", "")
    press(page, "1")
    shows(page, GUESSES[1])


def held(route: Route) -> None:
    time.sleep(0.6)
    route.continue_()


def test_while_an_answer_is_under_way_keys_do_nothing_and_a_double_press_stores_one(
    settling, researcher, asked
):
    page = settling(researcher)
    shows(page, GUESSES[0])
    press(page, "1")
    shows(page, GUESSES[1])
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.is_navigation_request() else None)
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    page.route(ANSWER, held)
    page.evaluate("""() => {
        const press = (key, code) => document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key, code, bubbles: true }));
        document.addEventListener("htmx:beforeRequest", () => {
            setTimeout(() => {
                window.busy = document.getElementById("work").getAttribute("aria-busy");
                for (const key of "123") press(key, `Digit${key}`);
                for (const key of "zosj") press(key, `Key${key.toUpperCase()}`);
            }, 100);
        }, { once: true });
        for (let time = 0; time < 2; time += 1) press("1", "Digit1");
    }""")
    shows(page, GUESSES[2])
    page.wait_for_timeout(800)
    shows(page, GUESSES[2])
    assert page.evaluate("window.busy") == "true"
    assert [urlsplit(one).path for one in sent] == [reverse("question_answer", args=[asked[1].public_id])]

    page.get_by_role("button", name="Wrong").dblclick()
    shows(page, GUESSES[3])
    page.wait_for_timeout(800)
    shows(page, GUESSES[3])
    said = Opinion.objects.order_by("pk").values_list("question", "score")
    assert list(said) == [(asked[0].pk, 1), (asked[1].pk, 1), (asked[2].pk, 0)]


@pytest.mark.parametrize("by", ["keys", "the mouse"])
def test_the_second_press_of_a_double_press_is_no_answer_to_the_next_question(
    settling, researcher, asked, by
):
    page = settling(researcher)
    shows(page, GUESSES[0])
    press(page, "1")
    shows(page, GUESSES[1])
    box = page.get_by_role("button", name="Right").bounding_box()
    assert box

    def hit() -> None:
        if by == "keys":
            page.keyboard.press("1")
        else:
            page.mouse.click(box["x"] + 9, box["y"] + 9)

    hit()
    expect(page.locator(".asked-pair dd").last).to_have_text(GUESSES[2])
    hit()  # a hand's double press: 60 to 250 ms after the first, and the server answers sooner
    page.wait_for_timeout(900)
    shows(page, GUESSES[2])
    assert set(Opinion.objects.values_list("question", flat=True)) == {asked[0].pk, asked[1].pk}
    hit()
    shows(page, GUESSES[3])


def test_an_answer_that_the_server_did_not_take_is_said_and_can_be_given_again(settling, researcher, asked):
    page = settling(researcher, expects=("ERR_FAILED", "htmx:"))
    shows(page, GUESSES[0])
    page.route(ANSWER, lambda route: route.abort(), times=1)
    page.keyboard.press("1")
    expect(page.locator("#trouble")).to_contain_text("nothing was kept: give the answer again")
    shows(page, GUESSES[0])
    assert Opinion.objects.count() == 0
    press(page, "1")
    shows(page, GUESSES[1])
    expect(page.locator("#trouble")).to_be_empty()
    assert Opinion.objects.count() == 1


def test_without_javascript_the_forms_do_the_same(settling, researcher, colleague, asked):
    page = settling(researcher, java_script_enabled=False)
    for name, guess in (("Right", 0), ("Skip", 1), ("Less precise", 2), ("Wrong", 3)):
        shows(page, GUESSES[guess])
        page.get_by_role("button", name=name).click()
    shows(page, GUESSES[4])
    assert [score for _, score in scores(asked)] == [1, None, 0.5, 0, None]
    page.get_by_role("button", name="Undo").click()
    shows(page, GUESSES[3])
    assert scores(asked)[3] == ("open", None)
    page.get_by_role("button", name="Second opinion").click()
    shows(page, GUESSES[3])
    page.get_by_role("button", name="Right").click()
    expect(page.locator(".last-said")).to_contain_text("It waits for a second opinion.")

    other = settling(colleague, "second", java_script_enabled=False)
    shows(other, GUESSES[3])
    other.get_by_role("button", name="Wrong").click()
    expect(other.locator(".last-said")).to_contain_text("it is disputed now")
    other.locator("select[name=view]").select_option("disputed")
    other.get_by_role("button", name="Show").click()
    other.get_by_role("button", name="Right").click()
    assert scores(asked)[3] == ("settled", 1)


def test_a_lapsed_login_says_that_the_answer_was_not_kept(settling, researcher, asked):
    page = settling(researcher)
    shows(page, GUESSES[0])
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.keyboard.press("1")
    expect(page.locator("#trouble")).to_contain_text("You are signed out, and your answer was not kept.")
    shows(page, GUESSES[0])
    assert Opinion.objects.count() == 0

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in another window").click()
    door = opened.value
    sign_in(door, researcher)
    shows(door, GUESSES[0])
    door.close()
    page.reload()
    press(page, "1")
    shows(page, GUESSES[1])
    assert Opinion.objects.get().score == 1


def test_a_lapsed_login_without_javascript_comes_back_to_the_question_and_says_it(
    settling, researcher, asked
):
    page = settling(researcher, java_script_enabled=False)
    shows(page, GUESSES[0])
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="Right").click()
    sign_in(page, researcher)
    expect(page.locator("main")).to_contain_text("Your answer was not kept, because you had been signed out.")
    expect(page.locator(".asked-pair dd").last).to_have_text(GUESSES[0])
    assert Opinion.objects.count() == 0


def sign_in(page: Page, person: User) -> None:
    page.get_by_label("Name").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
