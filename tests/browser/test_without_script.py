"""Everything works without JavaScript too."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Annotation
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_review_is_done_with_the_mouse_alone(open_as, live_server, labeler, corpus):
    comment = CommentFactory(thread__corpus=corpus, text="Turning thirty did.", username="NightOwl")
    SuggestionFactory(comment=comment)
    queue = queue_over(corpus)
    page = open_as(labeler, java_script_enabled=False)
    page.goto(live_server.url + reverse("review", args=[queue.public_id]))
    page.get_by_role("button", name="Submit and next").click()
    expect(page.locator("#errors")).to_contain_text("Age: the suggestion has not been judged")
    page.locator("#attr-age .choice", has_text="30").click()
    page.locator("[name='age-certainty'][value='5']").check()
    page.locator("[name='occupation-text']").fill("night nurse")
    page.locator("[name='occupation-hardness'][value='1']").check()
    page.locator("[name='occupation-certainty'][value='4']").check()
    page.get_by_role("button", name="Nothing else, submit").click()
    expect(page.get_by_text("Nothing is left for you here")).to_be_visible()
    labels = {label.attribute: label for label in Annotation.objects.get().labels.all()}
    assert (labels["age"].value, labels["age"].outcome, labels["age"].certainty) == ("30", "confirmed", 5)
    assert (labels["occupation"].value, labels["occupation"].hardness) == ("night nurse", 1)
    assert labels["sex"].state == "none"
