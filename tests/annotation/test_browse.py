"""Reading a corpus: what each role sees, and what stays sealed."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, AttributeLabel
from tests.annotation.test_submit import AGED_30, submit
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProfileFactory,
    UserFactory,
)


@pytest.fixture
def comment(corpus):
    profile = ProfileFactory(
        corpus=corpus,
        username="NightOwl",
        facts={"occupation": "submarine baker"},
        style="Writing style: terse.",
    )
    comment = CommentFactory(thread__corpus=corpus, profile=profile, text="Turning thirty did.")
    SuggestionFactory(comment=comment, attribute="occupation", guesses=["glacier plumber", "b", "c"])
    return comment


def pages(comment):
    return {
        "corpora": reverse("corpora"),
        "corpus": reverse("corpus", args=[comment.corpus.public_id]),
        "comments": reverse("comments", args=[comment.corpus.public_id]),
        "thread": reverse("thread", args=[comment.thread.public_id]),
        "comment": reverse("comment", args=[comment.public_id]),
    }


def test_a_researcher_sees_suggestions_labels_and_profiles(client_of, researcher, labeler, comment):
    queue = queue_over(comment.corpus)
    submit(labeler, queue.items.get(), age=AGED_30)
    browser = client_of(researcher)
    body = browser.get(pages(comment)["comment"]).content.decode()
    assert "glacier plumber" in body
    assert "lena" in body
    assert "hardness 2, certainty 4" in body
    profile = browser.get(reverse("profile", args=[comment.profile.public_id])).content.decode()
    assert "Writing style: terse." in profile
    assert (
        "submarine baker"
        in browser.get(reverse("profiles", args=[comment.corpus.public_id])).content.decode()
    )


def test_a_labeler_reads_the_text_and_nothing_that_others_said(client_of, labeler, comment, admin):
    submit(admin, queue_over(comment.corpus).items.get(), age=AGED_30)
    browser = client_of(labeler)
    for name, address in pages(comment).items():
        page = browser.get(address)
        assert page.status_code == 200, name
        body = page.content.decode()
        assert "glacier plumber" not in body, name
        assert ">ada<" not in body, name
        assert "submarine baker" not in body, name


def test_the_truth_is_closed_to_labelers_and_adjudicators(client_of, labeler, adjudicator, comment):
    for person in (labeler, adjudicator):
        browser = client_of(person)
        assert browser.get(reverse("profile", args=[comment.profile.public_id])).status_code == 403
        assert browser.get(reverse("profiles", args=[comment.corpus.public_id])).status_code == 403


def test_another_corpus_is_not_there(client_of, comment):
    outsider = UserFactory()
    MembershipFactory(person=outsider, corpus=CorpusFactory(name="summer"), role="researcher")
    browser = client_of(outsider)
    for name, address in pages(comment).items():
        if name != "corpora":
            assert browser.get(address).status_code == 404, name
    assert browser.get(reverse("profile", args=[comment.profile.public_id])).status_code == 404
    assert "winter" not in browser.get(reverse("corpora")).content.decode()


def test_a_role_elsewhere_opens_nothing_more_here(client_of, comment):
    """A labeler of this corpus who is a researcher of another one stays a labeler in this one."""
    person = UserFactory()
    MembershipFactory(person=person, corpus=comment.corpus, role="labeler")
    MembershipFactory(person=person, corpus=CorpusFactory(name="summer"), role="researcher")
    browser = client_of(person)
    assert "glacier plumber" not in browser.get(pages(comment)["comment"]).content.decode()
    assert browser.get(reverse("profile", args=[comment.profile.public_id])).status_code == 404
    assert browser.get(reverse("export", args=[comment.corpus.public_id])).status_code == 404


def test_lists_take_the_same_number_of_queries_for_more_rows(
    client_of, researcher, comment, django_assert_num_queries
):
    browser = client_of(researcher)
    counted = {}
    for name, address in pages(comment).items():
        with CaptureQueriesContext(connection) as captured:
            browser.get(address)
        counted[name] = len(captured)
    for number in range(30):
        more = CommentFactory(thread=comment.thread, parent=comment, position=number)
        SuggestionFactory(comment=more)
        CommentFactory(thread__corpus=comment.corpus)
    for name, address in pages(comment).items():
        with django_assert_num_queries(counted[name]):
            browser.get(address)


def test_comments_are_paged_in_a_stable_order_and_none_is_missed(client_of, researcher, corpus):
    for number in range(120):
        CommentFactory(thread__corpus=corpus, sequence=number + 1, external_id=f"c{number}")
    browser, seen, address = client_of(researcher), [], reverse("comments", args=[corpus.public_id])
    after = ""
    while after is not None:
        page = browser.get(address, {"after": after})
        seen += [comment.external_id for comment in page.context["comments"]]
        after = page.context["more"]
    assert seen == [f"c{number}" for number in range(120)]


def test_a_search_marks_what_it_found_and_says_what_it_looked_for(client_of, researcher, comment):
    browser = client_of(researcher)
    address = pages(comment)["comments"]
    assert "Turning <mark>thirty</mark> did." in browser.get(address, {"q": "THIRTY"}).content.decode()
    assert "No comment matches “forty”" in browser.get(address, {"q": "forty"}).content.decode()


def test_imported_labels_show_under_their_reviewer_s_key(client_of, researcher, comment):
    annotation = Annotation.objects.create(comment=comment, reviewer="human", submitted_at=timezone.now())
    annotation.labels.create(
        attribute="age", state="value", value="33-34", hardness=2, certainty=3, outcome="imported"
    )
    body = client_of(researcher).get(pages(comment)["comment"]).content.decode()
    assert "human (imported)" in body
    assert "33-34" in body


def test_who_adjudicates_sees_labels_without_names_and_who_leads_sees_them(
    client_of, adjudicator, researcher, labeler, corpus
):
    comment = CommentFactory(thread__corpus=corpus)
    annotation = Annotation.objects.create(comment=comment, person=labeler, submitted_at=timezone.now())
    AttributeLabel.objects.create(
        annotation=annotation, attribute="age", state="value", value="30", hardness=1, outcome="added"
    )
    for name in ("comment", "author"):
        url = reverse(name, args=[comment.public_id])
        assert labeler.username not in client_of(adjudicator).get(url).content.decode()
        assert labeler.username in client_of(researcher).get(url).content.decode()
