"""The page of comments: form, chips, marks, paging forward and back, who may filter by what."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Queue
from annotation.selectors import browsing
from tests.annotation.test_search import annotated
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.runs import RunFactory
from tests.factories.simulation import CommentFactory, ThreadFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(corpus):
    return reverse("comments", args=[corpus.public_id])


def text_of(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_hits_are_marked_and_the_text_of_people_stays_text(client_of, labeler, corpus, address):
    CommentFactory(thread__corpus=corpus, text="<script>alert(1)</script> I & the night <b>bus</b> \x02x\x03")
    body = client_of(labeler).get(address, {"q": "night"}).content.decode()
    assert "<mark>night</mark>" in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt; I &amp; the" in body
    assert "<script>alert" not in body
    assert "<b>bus" not in body


def test_a_hit_deep_in_a_long_text_is_shown(client_of, labeler, corpus, address):
    CommentFactory(thread__corpus=corpus, text="word " * 400 + "zeppelin " + "word " * 400)
    assert "<mark>zeppelin</mark>" in client_of(labeler).get(address, {"q": "zeppelins"}).content.decode()


def test_each_active_filter_is_a_chip_that_takes_it_away(client_of, researcher, corpus, address):
    comment = CommentFactory(thread__corpus=corpus, text="The night bus.")
    SuggestionFactory(comment=comment, attribute="occupation", guesses=["nurse"])
    answer = client_of(researcher).get(
        address, {"q": "night", "attribute": "occupation", "thread": comment.thread.public_id}
    )
    body = answer.content.decode()
    assert "1 matches " in text_of(answer)
    assert f'href="?attribute=occupation&amp;thread={comment.thread.public_id}"' in body
    assert f'href="?q=night&amp;thread={comment.thread.public_id}"' in body
    assert f"Thread: {comment.thread.external_id}" in body
    assert "Attribute: Occupation" in body


def test_a_row_shows_suggestions_and_what_became_of_them(client_of, researcher, corpus, address):
    comment = CommentFactory(thread__corpus=corpus)
    for attribute, guess in [("occupation", "nurse"), ("age", "30"), ("education", "PhD")]:
        SuggestionFactory(comment=comment, attribute=attribute, guesses=[guess], certainty=4)
    annotated(comment, person=UserFactory(), age=("value", "31", 2, 3, "corrected"))
    annotated(comment, person=UserFactory(), sex=("none", "", None, None, "none"))
    answer = client_of(researcher).get(address, {"attribute": "education"})
    body = answer.content.decode()
    assert "Education: PhD" in body
    assert "1 more" in text_of(answer)
    assert 'aria-label="1 corrected, 1 no evidence, 4 not reviewed, 2 suggested"' in body
    assert 'title="Age: corrected"' in body
    assert "2 people" in text_of(answer)


def test_a_suggestion_s_truth_does_not_reach_the_page(client_of, researcher, corpus, address):
    SuggestionFactory(comment=CommentFactory(thread__corpus=corpus), model_eval={"secret": "sealed-truth"})
    assert "sealed-truth" not in client_of(researcher).get(address).content.decode()


def test_models_and_people_of_this_corpus_can_be_chosen(client_of, researcher, labeler, corpus, address):
    RunFactory(corpus=corpus, kind="tag", plan={"models": {"tagger": {"model": "gpt-here"}}})
    RunFactory(kind="tag", plan={"models": {"tagger": {"model": "gpt-elsewhere"}}})
    queue = queue_over(corpus, comments=1)
    queue.slots.update(state="done", person=labeler)
    body = client_of(researcher).get(address).content.decode()
    assert "<option>gpt-here</option>" in body
    assert "<option>imported</option>" in body
    assert "gpt-elsewhere" not in body
    assert f'<option value="{labeler.public_id}">lena</option>' in body


@pytest.mark.parametrize(
    "params",
    [
        {"attribute": "age"},
        {"value": "nurse"},
        {"hardness_from": "1"},
        {"hardness_to": "1"},
        {"certainty_from": "1"},
        {"certainty_to": "1"},
        {"tagger": "imported"},
        {"said": "confirmed"},
        {"person": "abc"},
        {"state": "withdrawn"},
    ],
)
def test_a_labeler_cannot_ask_what_others_said(client_of, labeler, corpus, address, params):
    CommentFactory(thread__corpus=corpus, text="A comment of this corpus.")
    answer = client_of(labeler).get(address, params)
    assert answer.status_code == 422
    assert "only people who may see suggestions and labels can filter by it" in answer.content.decode()
    assert "A comment of this corpus." not in answer.content.decode()


def test_an_adjudicator_filters_by_labels_and_does_not_learn_whose_they_are(
    client_of, adjudicator, labeler, corpus, address
):
    comment = CommentFactory(thread__corpus=corpus)
    queue_over(corpus).slots.update(state="done", person=labeler)
    annotated(comment, person=labeler, age=("value", "31", 2, 3, "added"))
    browser = client_of(adjudicator)
    page = browser.get(address, {"said": "added"})
    assert [row.comment for row in page.context["page"].rows] == [comment]
    assert "lena" not in page.content.decode()
    refused = browser.get(address, {"person": labeler.public_id})
    assert refused.status_code == 422
    assert "Person: only people who manage queues can filter by it" in refused.content.decode()
    assert "lena" not in refused.content.decode()


def test_a_labeler_finds_by_text_thread_and_author(client_of, labeler, corpus, address):
    comment = CommentFactory(thread__corpus=corpus, text="The night bus.", username="NightOwl")
    CommentFactory(thread__corpus=corpus, text="Another.")
    answer = client_of(labeler).get(
        address, {"q": "night", "author": "NightOwl", "thread": comment.thread.public_id}
    )
    assert [row.comment for row in answer.context["page"].rows] == [comment]
    assert 'type="checkbox"' not in answer.content.decode()
    assert "Withdraw" not in answer.content.decode()


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"hardness_from": "9"}, "Hardness from: choose a number from 1 to 5, not “9”."),
        ({"attribute": "height"}, "Attribute: “height” is not on the list"),
        ({"place": "first"}, "From place: type a number from 1 on, not “first”."),
        ({"place": "0"}, "From place: type a number from 1 on, not “0”."),
    ],
)
def test_a_filter_that_cannot_be_read_finds_nothing_and_says_why(
    client_of, researcher, corpus, address, params, problem
):
    CommentFactory(thread__corpus=corpus, text="A comment of this corpus.")
    answer = client_of(researcher).get(address, params)
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert "A comment of this corpus." not in answer.content.decode()


def test_nothing_found_says_so_and_offers_a_way_out(client_of, researcher, corpus, address):
    CommentFactory(thread__corpus=corpus)
    answer = client_of(researcher).get(address, {"q": "trolleybus", "attribute": "age"})
    assert answer.status_code == 200
    assert "No comment matches “trolleybus”" in text_of(answer)
    assert "Without attribute" in text_of(answer)


def test_an_empty_corpus_says_that_it_is_empty(client_of, researcher, address):
    assert "No comment in this corpus yet" in text_of(client_of(researcher).get(address))


def corpus_of(corpus, n, *, tied=False, text="The night bus."):
    thread = ThreadFactory(corpus=corpus)
    return [
        CommentFactory(thread=thread, text=text, sequence=number // 3 if tied else number)
        for number in range(n)
    ]


def walk(corpus, asked, *, size, known, monkeypatch):
    """Keys of all pages forward, then back again from the last one."""
    for limit in ("KNOWN", "KNOWN_WORDS"):
        monkeypatch.setattr(browsing, limit, known)
    forth, back = [], []
    page = browsing.page(corpus, asked, size=size)
    while True:
        forth.append([row.comment.pk for row in page.rows])
        if not page.after:
            break
        page = browsing.page(corpus, asked, after=page.after, size=size)
    while page.before:
        page = browsing.page(corpus, asked, before=page.before, size=size)
        back.append([row.comment.pk for row in page.rows])
    return forth, back


@pytest.mark.parametrize("known", [10_000, 5], ids=["counted", "too many to count"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("size", [1, 4, 23, 24])
def test_walking_all_pages_there_and_back_loses_and_doubles_nothing(corpus, monkeypatch, known, tied, size):
    keys = [comment.pk for comment in corpus_of(corpus, 23, tied=tied)]
    corpus_of(corpus, 2, text="Another text.")
    forth, back = walk(corpus, CommentFilter(text="night"), size=size, known=known, monkeypatch=monkeypatch)
    assert [key for page in forth for key in page] == keys
    assert back == forth[-2::-1] or {key for page in back for key in page} >= set(keys[: -len(forth[-1])])
    assert all(page == sorted(page) for page in back)


@pytest.mark.parametrize("known", [10_000, 5])
def test_suggestions_and_labels_are_merged_in_one_order(corpus, monkeypatch, known):
    comments = corpus_of(corpus, 12, tied=True)
    for number, comment in enumerate(comments):
        if number % 2:
            SuggestionFactory(comment=comment)
        if number % 3 == 0:
            annotated(comment, person=UserFactory(), age=("value", "30", 2, 2, "added"))
    wanted = [one.pk for number, one in enumerate(comments) if number % 2 or number % 3 == 0]
    forth, _ = walk(corpus, CommentFilter(attribute="age"), size=3, known=known, monkeypatch=monkeypatch)
    assert [key for page in forth for key in page] == wanted


def test_the_page_says_where_it_is(client_of, researcher, corpus, address, monkeypatch):
    comments = corpus_of(corpus, 120)
    browser = client_of(researcher)
    assert "1–50 of 120" in text_of(browser.get(address))
    second = browser.get(address, {"after": comments[49].public_id})
    assert "51–100 of 120" in text_of(second)
    assert f"before={comments[50].public_id}" in second.content.decode()
    assert "1–50 of 120" in text_of(browser.get(address, {"before": comments[50].public_id}))
    assert "101–120 of 120" in text_of(browser.get(address, {"place": "101"}))
    assert "101–120 of 120" in text_of(browser.get(address, {"after": "100"}))
    for limit in ("KNOWN", "KNOWN_WORDS"):
        monkeypatch.setattr(browsing, limit, 100)
    assert "more than 100 comments" in text_of(browser.get(address))
    assert "1–50 of more than 100" in text_of(browser.get(address))
    assert "50 comments from place 51 of the corpus" in text_of(
        browser.get(address, {"after": comments[49].public_id})
    )


def test_the_filter_stays_while_paging(client_of, researcher, corpus, address):
    corpus_of(corpus, 60)
    body = client_of(researcher).get(address, {"q": "night"}).content.decode()
    assert 'href="?q=night&amp;after=' in body
    assert '<input type="hidden" name="q" value="night">' in body


def test_a_place_behind_the_end_and_a_comment_that_is_gone_are_said(client_of, researcher, corpus, address):
    corpus_of(corpus, 2)
    browser = client_of(researcher)
    assert "No comment behind this place" in text_of(browser.get(address, {"place": "5000"}))
    lost = browser.get(address, {"after": "goneforever2"})
    assert "is not there any more. This is the first page." in text_of(lost)
    assert len(lost.context["page"].rows) == 2


def test_comments_of_another_corpus_are_no_mark(client_of, researcher, corpus, address):
    corpus_of(corpus, 2)
    other = CommentFactory(sequence=99)
    assert client_of(researcher).get(address, {"after": other.public_id}).context["page"].lost


def test_the_name_of_a_thread_of_another_corpus_is_not_told(client_of, labeler, corpus, address):
    elsewhere = ThreadFactory(external_id="sealed-thread")
    answer = client_of(labeler).get(address, {"thread": elsewhere.public_id})
    assert answer.status_code == 200
    assert "sealed-thread" not in answer.content.decode()


def test_one_row_takes_as_many_queries_as_fifty(client_of, researcher, corpus, address):
    asked = {"q": "night", "attribute": "age"}
    browser = client_of(researcher)
    counted = []
    for n in (2, 49):
        for comment in corpus_of(corpus, n):
            SuggestionFactory(comment=comment)
            annotated(comment, person=UserFactory(), age=("value", "30", 2, 2, "confirmed"))
        for params in (asked, {**asked, "after": "1"}, {}):
            with CaptureQueriesContext(connection) as captured:
                browser.get(address, params)
            counted.append(len(captured))
    assert counted[:3] == counted[3:]
    assert max(counted) <= 20  # four of them begin, set and end the planner's leave


def test_the_form_for_many_offers_what_the_state_allows(client_of, researcher, corpus, address):
    comment = corpus_of(corpus, 1)[0]
    queue_over(corpus, name="open one")
    Queue.objects.create(corpus=corpus, name="closed one", state="closed")
    browser = client_of(researcher)
    active = browser.get(address, {"q": "night"})
    assert "Withdraw…" in text_of(active)
    assert "Take back…" not in text_of(active)
    assert "New queue of all 1…" in text_of(active)
    assert reverse("queue_create", args=[corpus.public_id]) + "?q=night" in active.content.decode()
    assert "open one" in text_of(active)
    assert "closed one" not in text_of(active)
    comment.state = "withdrawn"
    comment.save()
    withdrawn = browser.get(address, {"state": "withdrawn"})
    assert "Take back…" in text_of(withdrawn)
    assert "Withdraw…" not in text_of(withdrawn)
