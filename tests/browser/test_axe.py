"""axe-core finds no serious fault on any page, light or dark.

What shuts people out: unlabelled fields, contrast that cannot be read, roles that say nothing. Its minor
findings are advice and do not fail.
"""

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import reverse
from playwright.sync_api import Page

from tests.browser.reviewing import address, queue_of, suggested
from tests.browser.test_pages_fit import every_page

pytestmark = pytest.mark.django_db(transaction=True)

RUN = """(only) => axe.run(document, {
  resultTypes: ["violations"], ...(only ? {runOnly: {type: "rule", values: only}} : {})
})"""
GRAVE = ("serious", "critical")
OF_COLOUR = ["color-contrast"]  # the only rule that depends on the scheme


def faults(page: Page, where: str) -> list[str]:
    """Serious and critical violations on the page as it stands: all of them in light, contrast in dark."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for scheme, only in (("light", None), ("dark", OF_COLOUR)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for fault in page.evaluate(RUN, only)["violations"]:
            if fault["impact"] in GRAVE:
                found += [_said(where, scheme, fault["id"], node) for node in fault["nodes"]]
    return found


def _said(where: str, scheme: str, rule: str, node: dict[str, Any]) -> str:
    """One line a fault: where, which rule, which element, why."""
    why = [one["message"] for one in (*node["any"], *node["all"], *node["none"])]
    return f"{where} ({scheme}): {rule} at {' '.join(map(str, node['target']))}: {'; '.join(why)}"


def test_no_page_has_a_serious_fault(open_as, live_server, admin, corpus):
    page = open_as(admin)
    found = []
    for one in every_page(corpus, admin):
        answer = page.goto(live_server.url + one)
        assert answer.status == 200, one
        found += faults(page, one)
    assert found == [], "\n".join(found)


def test_the_doors_have_no_serious_fault(open_as, live_server):
    page = open_as(None)
    page.goto(live_server.url + reverse("login"))
    found = faults(page, "login")
    page.fill("input[name=username]", "nobody")
    page.fill("input[name=password]", "wrong")
    page.press("input[name=password]", "Enter")
    page.get_by_role("alert").wait_for()
    assert found + faults(page, "login refused") == []


def test_what_a_labeler_sees_has_no_serious_fault(open_as, live_server, labeler, corpus):
    """Home and queues as theirs; the review page with a row open, with what is wrong, with its dialogs."""
    page = open_as(labeler)
    queue = queue_of(suggested(corpus))
    found = []
    for name in ("home", "queues"):
        page.goto(live_server.url + reverse(name))
        found += faults(page, name)
    page.goto(live_server.url + address(queue))
    found += faults(page, "review")
    page.keyboard.press("Control+Enter")  # not everything is judged
    page.wait_for_timeout(200)
    found += faults(page, "review, not finished")
    page.keyboard.press("?")
    page.wait_for_timeout(200)
    found += faults(page, "review, keys shown")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_timeout(200)
    found += faults(page, "review, skipping")
    assert found == [], "\n".join(found)
