"""The page of artefacts: who may see it, what it shows, what its buttons do."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation
from simulation import tasks
from simulation.domain.roles import Role
from simulation.models import Artefact, Comment, CommentEdit
from simulation.selectors import artefacts as found
from simulation.selectors import workers
from simulation.services import artefacts
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ProfileFactory

pytestmark = pytest.mark.django_db
DIRTY = "the soup was great <br>"
CLEAN = "the soup was great"


@pytest.fixture(autouse=True)
def a_worker(monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def finding(corpus):
    CommentFactory(thread__corpus=corpus, text=DIRTY, username="Otter")
    artefacts.scan_corpus(corpus)
    return Artefact.objects.get()


@pytest.fixture
def page(client_of, admin):
    return client_of(admin)


def listed(corpus, query=""):
    return reverse("artefacts", args=[corpus.public_id]) + query


def at(finding):
    return reverse("artefact", args=[finding.comment.corpus.public_id, finding.public_id])


def body_of(answer, status=200):
    assert answer.status_code == status
    return answer.content.decode()


def edited(finding, **more):
    return {"act": "edit", "text": CLEAN, "expected_text": finding.comment.text, **more}


def test_the_page_shows_rule_place_author_and_thread(page, corpus, finding):
    body = body_of(page.get(listed(corpus)))
    assert "the soup was great <mark>&lt;br&gt;</mark>" in body
    assert "Markup" in body
    assert "HTML, Markdown, JSON" in body
    assert "Otter" in body
    assert reverse("thread", args=[finding.comment.thread.public_id]) in body
    assert "Last scanned" in body


def test_only_who_may_start_runs_here_sees_it(client_of, corpus, finding, researcher, labeler, stranger):
    addresses = [
        listed(corpus),
        at(finding),
        reverse("artefacts_scan", args=[corpus.public_id]),
        reverse("artefacts_bulk", args=[corpus.public_id]),
    ]
    foreign = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory()).person
    for person, status in ((researcher, 403), (labeler, 403), (stranger, 403), (foreign, 404)):
        client = client_of(person)
        for address in addresses:
            assert client.post(address, {"act": "clear"}).status_code in (status, 405)
        for address in addresses[:2]:
            assert client.get(address).status_code == status
    assert Artefact.objects.get().state == "open"


def test_a_finding_of_another_corpus_is_not_there(page, finding):
    other = CorpusFactory()
    address = reverse("artefact", args=[other.public_id, finding.public_id])
    assert page.get(address).status_code == 404
    assert page.post(address, {"act": "clear"}).status_code == 404


def test_the_link_on_the_corpus_page_says_how_many_are_open(page, corpus, finding, client_of, researcher):
    address = reverse("corpus", args=[corpus.public_id])
    link = re.search(rf'href="{listed(corpus)}"[^>]*>(.*?)</a>', body_of(page.get(address)), re.S)
    assert re.search(r">1<", link[1])
    assert listed(corpus) not in body_of(client_of(researcher).get(address))


def test_filters_by_rule_and_state(page, corpus, finding):
    assert "<mark>" in body_of(page.get(listed(corpus, "?rule=markup")))
    assert "<mark>" not in body_of(page.get(listed(corpus, "?rule=loop")))
    assert "<mark>" not in body_of(page.get(listed(corpus, "?state=cleared")))
    assert "<mark>" in body_of(page.get(listed(corpus, "?state=all")))
    assert "<mark>" in body_of(page.get(listed(corpus, "?rule=nonsense&state=nonsense&after=x")))


def test_pages_go_forth_and_back(page, corpus):
    for _ in range(found.PAGE + 3):
        CommentFactory(thread__corpus=corpus, text=DIRTY)
    artefacts.scan_corpus(corpus)
    first = body_of(page.get(listed(corpus)))
    assert first.count("<mark>") == found.PAGE
    following = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    second = body_of(page.get(listed(corpus, following)))
    assert second.count("<mark>") == 3
    assert 'rel="next"' not in second
    back = re.search(r'rel="prev" href="([^"]+)"', second)[1].replace("&amp;", "&")
    again = body_of(page.get(listed(corpus, back)))
    assert re.findall(r'id="f-\w+"', again) == re.findall(r'id="f-\w+"', first)
    assert 'rel="prev"' not in again


def test_the_number_of_queries_does_not_depend_on_what_it_shows(page, corpus, admin):
    def count(comments):
        for _ in range(comments):
            profile = ProfileFactory(corpus=corpus)
            made = CommentFactory(thread__corpus=corpus, text=DIRTY, profile=profile)
            Annotation.objects.create(comment=made, person=admin, submitted_at=timezone.now())
            CommentEdit.objects.create(comment=made, before="a", after="b", by=admin)
        artefacts.scan_corpus(corpus)
        page.get(listed(corpus))
        with CaptureQueriesContext(connection) as caught:
            body_of(page.get(listed(corpus)))
        return len(caught)

    assert count(1) == count(12)


def test_clear_withdraw_and_back(page, corpus, finding):
    for act, state, comment in (
        ("clear", "cleared", "active"),
        ("reopen", "open", "active"),
        ("withdraw", "withdrawn", "withdrawn"),
        ("restore", "open", "active"),
    ):
        answer = page.post(at(finding), {"act": act, "state": "all"})
        assert answer.status_code == 302
        assert answer["Location"].startswith(listed(corpus, "?state=all"))
        finding.refresh_from_db()
        assert (finding.state, Comment.objects.get().state) == (state, comment)
    assert page.post(at(finding), {"act": "explode"}).status_code == 400


def test_an_edit_and_its_history(page, corpus, finding, admin):
    assert page.post(at(finding), edited(finding, reason="left markup")).status_code == 302
    comment = Comment.objects.get()
    assert (comment.text, comment.original_text) == (CLEAN, DIRTY)
    body = body_of(page.get(listed(corpus, "?state=edited")))
    assert "<del>the soup was great &lt;br&gt;</del>" in body
    assert f"<ins>{CLEAN}</ins>" in body
    assert "left markup" in body
    assert admin.username in body


def test_a_conflict_keeps_what_was_typed_and_shows_the_text_as_it_is(page, finding):
    sent = edited(finding, text="my own words")
    Comment.objects.update(text="somebody else <br> was here")
    body = body_of(page.post(at(finding), sent), 409)
    assert "my own words</textarea>" in body
    assert "somebody else" in body
    assert Comment.objects.get().text == "somebody else <br> was here"
    seen = re.search(r'name="expected_text" value="([^"]*)"', body)[1]
    assert "was here" in seen
    again = edited(finding, text="my own words", expected_text="somebody else <br> was here")
    assert page.post(at(finding), again).status_code == 302
    assert Comment.objects.get().text == "my own words"


def test_an_empty_text_is_refused_with_what_to_do(page, finding):
    body = body_of(page.post(at(finding), edited(finding, text=" ")), 422)
    assert "withdraw it instead" in body
    assert Comment.objects.get().text == DIRTY


def test_a_labelled_comment_asks_to_be_told_twice(page, finding, admin):
    Annotation.objects.create(comment=finding.comment, person=admin, submitted_at=timezone.now())
    refused = body_of(page.post(at(finding), edited(finding)), 422)
    assert "People have labelled this comment" in refused
    assert Comment.objects.get().text == DIRTY
    assert page.post(at(finding), edited(finding, force="on")).status_code == 302
    assert Comment.objects.get().text == CLEAN


def test_without_javascript_the_text_without_the_place_is_proposed_on_a_page(page, finding):
    body = body_of(page.get(at(finding) + "?cut=1"))
    assert re.search(rf"<textarea[^>]*>\s*{CLEAN}</textarea>", body)
    assert Comment.objects.get().text == DIRTY


@pytest.mark.parametrize("act", ["clear", "withdraw"])
def test_all_of_a_rule_is_counted_first(page, corpus, finding, act):
    address = reverse("artefacts_bulk", args=[corpus.public_id])
    body = body_of(page.post(address, {"rule": "markup", "act": act}))
    assert 'name="confirm" value="1"' in body
    assert Artefact.objects.get().state == "open"
    CommentFactory(thread__corpus=corpus, text=DIRTY)
    artefacts.scan_corpus(corpus)
    changed = body_of(page.post(address, {"rule": "markup", "act": act, "confirm": "1"}), 409)
    assert "There are 2 open findings" in changed
    assert page.post(address, {"rule": "markup", "act": act, "confirm": "2"}).status_code == 302
    assert not Artefact.objects.filter(state="open").exists()
    assert page.post(address, {"rule": "nothing", "act": act}).status_code == 400


def test_scan_now_is_work_for_a_worker(page, corpus, admin, monkeypatch):
    CommentFactory(thread__corpus=corpus, text=DIRTY)
    sent = []
    monkeypatch.setattr(tasks.scan_artefacts, "delay_on_commit", lambda *ids: sent.append(ids))
    assert page.post(reverse("artefacts_scan", args=[corpus.public_id])).status_code == 302
    assert sent == [(corpus.pk, admin.pk)]
    tasks.scan_artefacts(*sent[0])
    assert found.open_in(corpus) == 1
    assert found.last_scan(corpus).actor == admin
    assert found.last_scan(CorpusFactory()) is None


def test_without_a_worker_the_page_says_so(page, corpus, monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)
    assert "No worker is running" in body_of(page.get(listed(corpus)))


def test_the_command_scans_and_lists(corpus, finding):
    out = io.StringIO()
    call_command("find_artefacts", corpus="winter", json=True, stdout=out)
    said = json.loads(out.getvalue())
    assert (said["comments"], said["found"], said["open"]) == (1, 0, 1)
    assert said["findings"][0]["excerpt"] == "<br>"
    out = io.StringIO()
    call_command("find_artefacts", corpus="winter", rule="loop", stdout=out)
    assert "1 open" in out.getvalue()
    assert "<br>" not in out.getvalue()
    for wrong in ({"corpus": "nowhere"}, {"corpus": "winter", "rule": "nothing"}):
        with pytest.raises(CommandError, match="there are:"):
            call_command("find_artefacts", **wrong)
