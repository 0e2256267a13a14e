"""A token is made and revoked in a browser, without JavaScript too; the pages of the API shut nobody out."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.api import Api, api_of
from tests.browser.test_axe import faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_token_is_made_copied_and_revoked(open_as, live_server, admin, corpus):
    page = open_as(admin)
    page.goto(live_server.url + reverse("account"))
    page.get_by_role("link", name="Make a token").click()
    page.get_by_label("Name").fill("notebook")
    page.get_by_label("import files").check()
    page.get_by_label("Where").select_option(label="winter")
    page.get_by_role("button", name="Make the token").click()
    text = page.get_by_label("Copy it now").input_value()
    found = faults(page, "a new token")
    assert Api(text).get("corpora/").json()["results"][0]["name"] == "winter"
    page.get_by_role("button", name="Revoke notebook").click()
    expect(page.get_by_text("is revoked: it opens nothing any more")).to_be_visible()
    assert Api(text).get("corpora/").status_code == 401
    assert found + faults(page, "a revoked token") == []


def test_the_reference_and_an_answer_have_no_serious_fault(open_as, live_server, researcher, corpus):
    api_of(researcher)
    page = open_as(researcher, expects=("404 (Not Found)",))
    page.goto(live_server.url + reverse("api_docs"))
    page.evaluate("for (const one of document.querySelectorAll('details.api-door')) one.open = true")
    found = faults(page, "reference")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for address in ("api_corpora", "api_unknown"):
        page.goto(live_server.url + reverse(address))
        found += faults(page, address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found == [], "\n".join(found)
    expect(page.get_by_text(re.compile("no such address"))).to_be_visible()
