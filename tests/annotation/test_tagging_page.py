"""Starting a tagging run by its form."""

import re

import pytest
from django.urls import reverse

from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, ProviderFactory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "_send", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def commented(corpus):
    """Thirty comments, one of which has tags."""
    comments = [CommentFactory(thread__corpus=corpus) for _ in range(30)]
    SuggestionFactory(comment=comments[0])
    ProviderFactory(name="OpenAI", default_model="gpt-4o-mini")
    return corpus


def address(corpus):
    return reverse("tagging_new", args=[corpus.public_id])


def fields(browser, corpus, **changes):
    form = browser.get(address(corpus)).context["form"]
    held = {field.html_name: field.value() for field in form}
    return {name: value for name, value in (held | changes).items() if value is not None}


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_form_as_it_opens_tags_what_has_no_tags(client_of, admin, commented):
    browser = client_of(admin)
    page = browser.get(address(commented))
    assert "29 of 30" in words(page)
    answer = browser.post(address(commented), fields(browser, commented))
    run = Run.objects.get()
    assert answer.headers["Location"] == reverse("run", args=[run.public_id])
    assert (run.kind, run.steps.count(), run.created_by) == ("tag", 29, admin)
    assert run.plan["models"]["tagger"]["model"] == "gpt-4o-mini"
    assert run.max_calls >= 1.5 * 29


def test_all_comments_may_be_tagged_by_a_model_of_ones_choice(client_of, admin, commented):
    browser = client_of(admin)
    changes = {"which": "all", "model": "judge", "max_calls": 60, "max_tokens": 90_000}
    browser.post(address(commented), fields(browser, commented, **changes))
    run = Run.objects.get()
    assert run.steps.count() == 30
    assert (run.plan["models"]["tagger"]["model"], run.max_calls, run.max_tokens) == ("judge", 60, 90_000)


def test_caps_follow_the_choice_and_are_shown_before_anything_is_spent(client_of, admin, commented):
    for _ in range(40):
        SuggestionFactory(comment=CommentFactory(thread__corpus=commented))
    browser = client_of(admin)
    sent = fields(browser, commented, which="all")

    asked = browser.post(address(commented), sent)
    looked = browser.post(address(commented), sent, headers=HTMX)

    assert asked.status_code == 422
    assert "they are proposed anew" in words(asked)
    assert looked.status_code == 200
    for answer in (asked, looked):
        assert int(answer.context["form"]["max_calls"].value()) > int(sent["max_calls"])
    assert not Run.objects.exists()


def test_a_form_sent_twice_starts_one_run(client_of, admin, commented):
    browser = client_of(admin)
    sent = fields(browser, commented)
    first, second = browser.post(address(commented), sent), browser.post(address(commented), sent)
    assert first.headers["Location"] == second.headers["Location"]
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_tokens": "x"}, "max_tokens"),
        ({"which": "some"}, "which"),
        ({"provider": "nobody"}, "provider"),
        ({"form": "no-uuid"}, "form"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_of, admin, commented, changes, field):
    browser = client_of(admin)
    answer = browser.post(address(commented), fields(browser, commented, **changes))
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Run.objects.exists()


def test_where_every_comment_has_tags_there_is_nothing_to_start(client_of, admin, commented):
    for comment in commented.comments.filter(suggestions=None):
        SuggestionFactory(comment=comment)
    browser = client_of(admin)
    answer = browser.post(address(commented), fields(browser, commented))
    assert answer.status_code == 422
    assert "There is no comment to tag." in words(answer)
    assert not Run.objects.exists()


def test_an_empty_corpus_and_a_missing_provider_are_said(client_of, admin, corpus):
    said = words(client_of(admin).get(address(corpus)))
    assert "There is no comment to tag." in said
    assert "No provider yet." in said
    assert "Start tagging" not in said


def test_researchers_do_not_start_tagging(client_of, researcher, commented):
    assert client_of(researcher).get(address(commented)).status_code == 403
