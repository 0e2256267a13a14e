"""Starting a tagging run by its form."""

import re

import pytest
from django.urls import reverse

from simulation.models import Provider, Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, ProfileFactory, ProviderFactory

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
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


# A part of the corpus, several models, a judge


def begin(browser, corpus, query="", **changes):
    """Opens the form and sends it, with the caps that are proposed for what was chosen."""
    page = browser.get(address(corpus) + query)
    held = {field.html_name: field.value() for field in page.context["form"]} | page.context["fields"]
    sent = {name: value for name, value in (held | changes).items() if value not in (None, False)}
    looked = browser.post(address(corpus), sent | {"look": "1"}).context["form"]
    caps = ("max_calls", "max_tokens", "suggested_calls", "suggested_tokens")
    return browser.post(address(corpus), sent | {name: looked[name].value() for name in caps})


def test_the_filter_of_the_comments_page_says_which_comments(client_of, admin, commented):
    commented.comments.filter(pk__in=commented.comments.values("pk")[:4]).update(text="the sea")
    browser = client_of(admin)
    found = browser.get(reverse("comments", args=[commented.public_id]), {"q": "sea"})
    assert f"{address(commented)}?q=sea" in found.content.decode()
    assert "Tag these 4" in words(found)
    page = browser.get(address(commented), {"q": "sea"})
    assert "Text: sea" in words(page)
    answer = begin(browser, commented, "?q=sea")
    run = Run.objects.get()
    assert answer.status_code == 302
    assert (run.steps.count(), run.plan["part"], run.plan["filter"]) == (4, "Text: sea", {"q": "sea"})


def test_who_may_not_start_runs_is_offered_nothing(client_of, researcher, commented):
    found = client_of(researcher).get(reverse("comments", args=[commented.public_id]))
    assert address(commented) not in found.content.decode()


def test_a_filter_that_cannot_be_read_starts_nothing(client_of, admin, commented):
    browser = client_of(admin)
    for answer in (
        browser.get(address(commented), {"attribute": "height"}),
        browser.post(address(commented), fields(browser, commented, attribute="height")),
    ):
        assert answer.status_code == 422
        assert "not on the list" in words(answer)
    assert not Run.objects.exists()


def test_several_are_started_side_by_side_and_compared(client_of, admin, commented):
    other = ProviderFactory(name="Own", default_model="own-1")
    answer = begin(
        client_of(admin),
        commented,
        provider_2=other.public_id,
        variant_2="tag_brief",
        model_2="own-2",
        max_cost="3.20",
        soft_cost="1",
    )
    first, second = Run.objects.order_by("pk")
    assert answer.headers["Location"].endswith(f"?group={first.group}")
    assert first.group == second.group != ""
    assert (second.provider, second.plan["variant"]) == (other, "tag_brief")
    assert second.plan["models"]["tagger"]["model"] == "own-2"
    assert {(run.max_cost, run.soft_cost) for run in (first, second)} == {(3_200_000_000, 1_000_000_000)}


def test_one_judge_for_all_runs(client_of, admin, commented):
    commented.comments.update(profile=ProfileFactory(corpus=commented))
    other = ProviderFactory(name="Own", default_model="own-1")
    before = client_of(admin).get(address(commented)).context["form"]["max_calls"].value()
    begin(client_of(admin), commented, judge="on", judge_model="strict", provider_2=other.public_id)
    judges = [run.plan["judge"] for run in Run.objects.all()]
    assert judges[0] == judges[1]
    assert judges[0]["model"] == "strict"
    assert judges[0]["provider"] == Run.objects.earliest("pk").provider.public_id
    assert {run.max_calls > int(before) for run in Run.objects.all()} == {True}


def test_without_profiles_a_judge_is_refused_at_once(client_of, admin, commented):
    commented.comments.update(profile=None)
    answer = begin(client_of(admin), commented, judge="on")
    assert "nothing to check tags against" in words(answer)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model_2": "alone"}, "provider_2"),
        ({"provider_2": "first"}, "provider_2"),
        ({"variant": "tag_other"}, "variant"),
        ({"max_cost": "-1"}, "max_cost"),
        ({"max_cost": "1", "soft_cost": "2"}, "soft_cost"),
        ({"judge": "on", "judge_provider": "nobody"}, "judge_provider"),
    ],
)
def test_what_is_wrong_with_several_is_said_beside_its_field(client_of, admin, commented, changes, field):
    browser = client_of(admin)
    sent = fields(browser, commented, **changes)
    if changes.get("provider_2") == "first":
        sent["provider_2"] = sent["provider"]
    answer = browser.post(address(commented), sent)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Run.objects.exists()


def test_a_model_without_a_price_is_refused_and_named(client_of, admin, commented):
    ProviderFactory(name="Paid", base_url="https://api.paid.example/v1", default_model="unheard-of")
    paid = Provider.objects.get(name="Paid")
    answer = begin(client_of(admin), commented, provider=paid.public_id)
    assert answer.status_code == 422
    assert "No price is known for “unheard-of”" in words(answer)
    assert not Run.objects.exists()


def test_a_language_without_a_prompt_is_said(client_of, admin, commented):
    commented.language = "fi"
    commented.save()
    page = client_of(admin).get(address(commented))
    assert "No prompt in the language “fi”." in words(page)
    assert "Start tagging" not in words(page)
