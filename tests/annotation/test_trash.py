"""The trash: what goes in is seen by nobody and loses nothing, what comes out is as it was."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Draft, Queue, Slot
from annotation.selectors import trash as selectors
from annotation.services import trash
from simulation.domain.roles import Role
from simulation.domain.run_states import RunState
from simulation.domain.typed import NotConfirmed
from simulation.models import AuditEntry, Corpus
from simulation.selectors import trash as paging
from simulation.services import trash as corpora_trash
from tests.api import api_of, problem_in
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory, RunFactory
from tests.guards.test_url_access import views

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, comments=3)


@pytest.fixture
def local_admin(corpus):
    """Admin of the corpus "winter" only."""
    return MembershipFactory(person__username="wilma", role=Role.ADMIN, corpus=corpus).person


def put(queue, by):
    return trash.trash_queue(by=by, queue=queue, typed=queue.name)


def put_corpus(corpus, by):
    return corpora_trash.trash_corpus(by=by, corpus=corpus, typed=corpus.name)


def queue_address(name, queue):
    return reverse(name, args=[queue.public_id])


def corpus_address(name, corpus):
    return reverse(name, args=[corpus.public_id])


def audited():
    found = AuditEntry.objects.exclude(action="queue.created").order_by("id")
    return list(found.values_list("action", "actor__username", "corpus_id_text"))


def answers_of(browser, ids, *, besides):
    """What every address of the site that names one of `ids` answers to a look and to a press."""
    found = {}
    for route, name, _ in views():
        wanted = re.findall(r"<\w+:(\w+)>", route)
        if not ids.keys() & set(wanted) or name in besides or name.startswith("api_"):
            continue  # what the API says is asked below: it reads a body before it looks
        address = reverse(name, kwargs={key: ids.get(key, "1") for key in wanted})
        found[name] = {browser.get(address).status_code, browser.post(address).status_code} - {405}
    return found


# --- Queues -----------------------------------------------------------------------------------------


def test_a_queue_in_the_trash_is_on_no_page_and_loses_nothing(queue, corpus, researcher, labeler, client_of):
    put(queue, researcher)

    queue.refresh_from_db()
    assert queue.trashed_by == researcher
    assert queue.items.count() == queue.slots.count() == 3
    worker, lead = client_of(labeler), client_of(researcher)
    for name in ("review", "review_history"):
        assert worker.get(queue_address(name, queue)).status_code == 404
    assert queue.name not in worker.get(reverse("queues")).content.decode()
    assert queue.name not in lead.get(corpus_address("corpus", corpus)).content.decode()
    assert lead.post(queue_address("queue_state", queue), {"state": "paused"}).status_code == 404
    assert lead.get(queue_address("queue_trash", queue)).status_code == 404
    assert audited() == [("queue.trashed", "rosa", corpus.public_id)]


def test_the_api_knows_no_queue_in_the_trash(queue, admin):
    item = queue.items.first()
    put(queue, admin)
    api, at = api_of(admin), f"queues/{queue.public_id}"
    assert api.get("queues/").json()["results"] == []
    for path in (f"{at}/", f"{at}/items/{item.public_id}/"):
        problem_in(api.get(path), 404)
    problem_in(api.post(f"{at}/claims/"), 404)
    problem_in(api.post(f"{at}/items/{item.public_id}/skip/", {"reason": "other"}), 404)
    problem_in(api.send("patch", f"{at}/", {"state": "open"}), 404)


def test_every_address_of_a_queue_in_the_trash_is_not_found(queue, admin, client_of):
    item = queue.items.first()
    ids = {"queue_id": queue.public_id, "item_id": item.public_id}
    put(queue, admin)
    browser = client_of(admin)

    found = answers_of(browser, ids, besides={"queue_trash", "queue_restore"})

    assert {name: said for name, said in found.items() if said != {404}} == {}
    assert len(found) > 4


def test_a_restored_queue_continues_where_it_was(queue, corpus, researcher, labeler, client_of):
    worker = client_of(labeler)
    first = worker.get(queue_address("review", queue)).context["item"]
    Draft.objects.create(item=first, person=labeler, fields={"age-text": "thir"})
    held = queue.slots.get(state=Slot.LEASED)
    put(queue, researcher)
    shown = reverse("review_item", args=[queue.public_id, first.public_id])
    assert worker.get(shown).status_code == 404
    assert worker.post(shown, {"age-choice": "none"}).status_code == 404
    assert Draft.objects.get().fields == {"age-text": "thir"}

    trash.restore_queue(by=researcher, queue=queue)

    queue.refresh_from_db()
    assert (queue.trashed_at, queue.trashed_by, queue.state) == (None, None, "open")
    assert worker.get(queue_address("review", queue)).context["item"] == first
    assert queue.slots.get(state=Slot.LEASED).pk == held.pk
    assert Draft.objects.get().item == first
    assert [one[0] for one in audited()] == ["queue.trashed", "queue.restored"]


def test_a_paused_queue_comes_back_paused(queue, researcher):
    Queue.objects.filter(pk=queue.pk).update(state="paused")
    put(queue, researcher)

    assert trash.restore_queue(by=researcher, queue=queue).state == "paused"


def test_the_wrong_name_changes_nothing_and_is_said(queue, researcher, client_of):
    answer = client_of(researcher).post(queue_address("queue_trash", queue), {"typed": "Round 1"})

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "“Round 1” is not the name. Type “round 1”" in page
    assert 'value="Round 1"' in page
    queue.refresh_from_db()
    assert queue.trashed_at is None
    assert audited() == []
    with pytest.raises(NotConfirmed):
        trash.trash_queue(by=researcher, queue=queue, typed="")


def test_only_who_manages_the_queues_of_its_corpus_may(queue, labeler, adjudicator, client_of):
    elsewhere = MembershipFactory(role=Role.RESEARCHER, corpus=CorpusFactory()).person
    for person, status in ((labeler, 403), (adjudicator, 403), (elsewhere, 404)):
        browser = client_of(person)
        sent = {"typed": queue.name}
        assert browser.get(queue_address("queue_trash", queue)).status_code == status
        assert browser.post(queue_address("queue_trash", queue), sent).status_code == status
        assert browser.post(queue_address("queue_restore", queue)).status_code == status
        with pytest.raises(PermissionDenied):
            put(queue, person)
        with pytest.raises(PermissionDenied):
            trash.restore_queue(by=person, queue=queue)
    queue.refresh_from_db()
    assert queue.trashed_at is None


def test_a_second_press_does_no_harm(queue, researcher, client_of):
    browser = client_of(researcher)
    sent = {"typed": queue.name}
    browser.post(queue_address("queue_trash", queue), sent)
    again = browser.post(queue_address("queue_trash", queue), sent, follow=True)
    assert "is in the trash already" in again.content.decode()
    browser.post(queue_address("queue_restore", queue))
    again = browser.post(queue_address("queue_restore", queue), follow=True)
    assert "is not in the trash (any more)" in again.content.decode()
    assert [one[0] for one in audited()] == ["queue.trashed", "queue.restored"]


def test_the_page_says_who_is_at_work(queue, researcher, labeler, adjudicator, client_of):
    browser = client_of(researcher)
    page = browser.get(queue_address("queue_trash", queue)).content.decode()
    assert "Nobody holds a comment" in page
    assert "<b>3 comments</b>" in page
    for person in (labeler, adjudicator):
        client_of(person).get(queue_address("review", queue))

    page = browser.get(queue_address("queue_trash", queue)).content.decode()

    assert "<b>2 people hold a comment</b> of it right now" in page
    assert "stays as a draft" in page


def test_a_queue_in_the_trash_keeps_its_name(queue, corpus, researcher):
    assert selectors.queue_named(corpus, "round 1") is None
    put(queue, researcher)

    assert selectors.queue_named(corpus, "round 1") == queue
    assert selectors.queue_named(CorpusFactory(), "round 1") is None


# --- Corpora ----------------------------------------------------------------------------------------


def test_a_corpus_in_the_trash_is_on_no_page_and_loses_nothing(queue, corpus, admin, labeler, client_of):
    run = RunFactory(corpus=corpus, state=RunState.PAUSED)
    comment = corpus.comments.first()
    put_corpus(corpus, admin)

    corpus.refresh_from_db()
    assert (corpus.trashed_by, corpus.comments.count(), corpus.queues.count()) == (admin, 3, 1)
    browser = client_of(admin)
    ids = {
        "corpus_id": corpus.public_id,
        "queue_id": queue.public_id,
        "item_id": queue.items.first().public_id,
        "run_id": run.public_id,
        "comment_id": comment.public_id,
        "thread_id": comment.thread.public_id,
    }
    found = answers_of(browser, ids, besides={"corpus_trash", "corpus_restore"})
    assert {name: said for name, said in found.items() if said != {404}} == {}
    assert len(found) > 20
    assert browser.get(corpus_address("corpus_trash", corpus)).status_code == 404
    assert browser.get(corpus_address("export_download", corpus), {"format": "csv"}).status_code == 404
    for address in ("/", "/corpora/", "/runs/", "/review/"):
        assert f">{corpus.name}<" not in browser.get(address).content.decode()
    assert client_of(labeler).get(queue_address("review", queue)).status_code == 404
    assert audited() == [("corpus.trashed", "ada", corpus.public_id)]


def test_a_restored_corpus_is_as_it_was(queue, corpus, local_admin, labeler, client_of):
    browser = client_of(local_admin)
    taken = browser.post(corpus_address("corpus_trash", corpus), {"typed": "winter"}, follow=True)
    assert "Corpus “winter” is in the trash" in taken.content.decode()

    back = browser.post(corpus_address("corpus_restore", corpus), follow=True)

    assert "Corpus “winter” is back" in back.content.decode()
    assert back.redirect_chain == [(corpus_address("corpus", corpus), 302)]
    corpus.refresh_from_db()
    assert (corpus.trashed_at, corpus.trashed_by) == (None, None)
    assert client_of(labeler).get(queue_address("review", queue)).status_code == 200
    assert [one[0] for one in audited()] == ["corpus.trashed", "corpus.restored"]


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING])
def test_a_corpus_in_which_a_run_is_under_way_stays(state, corpus, admin, client_of):
    RunFactory(corpus=corpus, state=state, name="evening run")
    browser = client_of(admin)
    assert "A run is under way" in browser.get(corpus_address("corpus_trash", corpus)).content.decode()

    answer = browser.post(corpus_address("corpus_trash", corpus), {"typed": "winter"})

    assert answer.status_code == 422
    page = answer.content.decode()
    assert f"The run “evening run” is {state.value}" in page
    assert "Pause or cancel it first" in page
    corpus.refresh_from_db()
    assert corpus.trashed_at is None
    assert audited() == []


@pytest.mark.parametrize("state", [RunState.PAUSED, RunState.HALTED, RunState.DONE, RunState.CANCELLED])
def test_a_run_that_rests_is_no_hindrance(state, corpus, admin):
    RunFactory(corpus=corpus, state=state)
    assert put_corpus(corpus, admin).trashed_at is not None


def test_only_an_admin_of_the_corpus_may(corpus, researcher, labeler, client_of):
    elsewhere = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory()).person
    for person, status in ((labeler, 403), (researcher, 403), (elsewhere, 404)):
        browser = client_of(person)
        assert browser.get(corpus_address("corpus_trash", corpus)).status_code == status
        assert browser.post(corpus_address("corpus_trash", corpus), {"typed": "winter"}).status_code == status
        assert browser.post(corpus_address("corpus_restore", corpus)).status_code == status
        with pytest.raises(PermissionDenied):
            put_corpus(corpus, person)
        with pytest.raises(PermissionDenied):
            corpora_trash.restore_corpus(by=person, corpus=corpus)
    corpus.refresh_from_db()
    assert corpus.trashed_at is None


def test_the_wrong_name_of_a_corpus_changes_nothing(corpus, admin, client_of):
    answer = client_of(admin).post(corpus_address("corpus_trash", corpus), {"typed": "Winter"})

    assert answer.status_code == 422
    assert "“Winter” is not the name. Type “winter”" in answer.content.decode()
    corpus.refresh_from_db()
    assert corpus.trashed_at is None
    with pytest.raises(corpora_trash.AlreadyDone):
        corpora_trash.restore_corpus(by=admin, corpus=corpus)


def test_pressing_twice_on_a_corpus_does_no_harm(corpus, admin, client_of):
    browser = client_of(admin)
    for said in ("is in the trash.", "is in the trash already"):
        sent = browser.post(corpus_address("corpus_trash", corpus), {"typed": "winter"}, follow=True)
        assert said in sent.content.decode()
    for said in ("is back", "is not in the trash (any more)"):
        sent = browser.post(corpus_address("corpus_restore", corpus), follow=True)
        assert said in sent.content.decode()
    assert len(audited()) == 2


# --- The page of the trash --------------------------------------------------------------------------


def test_the_page_says_what_is_in_it_since_when_and_by_whom(queue, corpus, admin, labeler, client_of):
    hidden = CorpusFactory(name="attic")
    queue_over(hidden, comments=2)
    item = queue.items.first()
    Annotation.objects.create(comment=item.comment, item=item, person=labeler, submitted_at=timezone.now())
    item.slots.update(state=Slot.DONE, person=labeler)
    put(queue, admin)
    put_corpus(hidden, admin)

    answer = client_of(admin).get(reverse("trash"))

    found = answer.context["queues"].rows
    assert [(row.queue, row.comments, row.answers) for row in found] == [(queue, 3, 1)]
    found = answer.context["corpora"].rows
    assert [(row.corpus, row.comments, row.answers, row.queues) for row in found] == [(hidden, 2, 0, 1)]
    page = answer.content.decode()
    assert page.count(" by ada") == 2
    assert page.count(">Restore<span") == 2


def test_an_empty_trash_says_how_things_get_there(researcher, admin, client_of):
    page = client_of(researcher).get(reverse("trash")).content.decode()
    assert "No queue in the trash" in page
    assert "No corpus in the trash" not in page
    assert "No corpus in the trash" in client_of(admin).get(reverse("trash")).content.decode()


def test_everybody_sees_what_they_may_restore(queue, corpus, admin, local_admin, researcher, client_of):
    other = queue_over(CorpusFactory(), name="elsewhere")
    put(queue, admin)
    put(other, admin)
    attic = CorpusFactory()
    put_corpus(attic, admin)

    def shown(person):
        context = client_of(person).get(reverse("trash")).context
        return [row.queue for row in context["queues"].rows], [row.corpus for row in context["corpora"].rows]

    assert shown(admin) == ([other, queue], [attic])
    assert shown(researcher) == ([other, queue], [])
    assert shown(local_admin) == ([queue], [])
    put_corpus(corpus, local_admin)
    assert shown(local_admin) == ([], [corpus])
    assert shown(researcher) == ([other], [])


def test_without_the_right_the_page_is_closed(labeler, adjudicator, client_of, client):
    for person in (labeler, adjudicator):
        assert client_of(person).get(reverse("trash")).status_code == 403
    assert client.get(reverse("trash")).headers["Location"] == "/login/?next=/trash/"


def test_the_number_of_queries_does_not_grow_with_the_trash(corpus, admin, client_of):
    browser = client_of(admin)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            browser.get(reverse("trash"))
        return len(captured)

    def fill(number):
        put(queue_over(corpus, name=f"q{number}", comments=1), admin)
        put_corpus(CorpusFactory(), admin)

    fill(0)
    before = queries()
    for number in range(1, 5):
        fill(number)
    assert queries() == before
    assert before < 20


def test_a_full_trash_comes_in_pages_latest_first(corpus, admin, monkeypatch, client_of):
    monkeypatch.setattr(paging, "PAGE", 2)
    now = timezone.now()
    for number in range(5):
        # Three of one moment: a page's edge neither loses nor doubles a row.
        at = now - timedelta(days=max(0, number - 2))
        queue = queue_over(corpus, name=f"q{number}")
        Queue.objects.filter(pk=queue.pk).update(trashed_at=at, trashed_by=admin)
        CorpusFactory(name=f"c{number}", trashed_at=at)
    browser = client_of(admin)

    for key, name in (("queues", "queue"), ("corpora", "corpus")):
        seen, before = [], ""
        while True:
            page = browser.get(reverse("trash"), {key: before}).context[key]
            seen += [getattr(row, name).name[1:] for row in page.rows]
            if not (before := page.before):
                break
        assert seen == ["2", "1", "0", "3", "4"], key
    assert len(browser.get(reverse("trash"), {"queues": "nobody"}).context["queues"].rows) == 2


def test_the_pages_lead_there(corpus, queue, admin, researcher, labeler, client_of):
    for address in ("/corpora/", "/people/"):
        assert 'href="/trash/"' in client_of(admin).get(address).content.decode()
    assert 'href="/trash/"' in client_of(researcher).get("/corpora/").content.decode()
    assert 'href="/trash/"' not in client_of(labeler).get("/corpora/").content.decode()
    lead, worker = (client_of(one).get(corpus_address("corpus", corpus)) for one in (researcher, labeler))
    assert queue_address("queue_trash", queue) in lead.content.decode()
    assert corpus_address("corpus_trash", corpus) not in lead.content.decode()
    assert "/trash/" not in worker.content.decode()
    assert (
        corpus_address("corpus_trash", corpus)
        in client_of(admin).get(corpus_address("corpus", corpus)).content.decode()
    )


def test_nothing_of_the_trash_is_reached_by_a_person_who_is_closed(corpus, admin):
    put_corpus(corpus, admin)
    admin.is_active = False
    assert not Corpus.objects.trashed_with_right(admin, paging.Right.MANAGE_PEOPLE).exists()
    admin.is_active, admin.is_superuser = True, True
    assert Corpus.objects.trashed_with_right(admin, paging.Right.MANAGE_PEOPLE).get() == corpus


def test_no_command_reaches_into_a_corpus_in_the_trash(corpus, settings, tmp_path):
    Corpus.objects.update(trashed_at=timezone.now())
    folder = settings.BASE_DIR / "simulation" / "starter_corpus"
    with pytest.raises(CommandError, match="in the trash"):
        call_command("import_synthpai", folder, corpus=corpus.name, stdout=StringIO())
    with pytest.raises(CommandError, match="There is no corpus"):
        call_command("export_dataset", corpus=corpus.name, out=str(tmp_path / "out.jsonl"))
    with pytest.raises(CommandError, match="There is no corpus"):
        call_command("tag_comments", corpus=corpus.name, provider="none")
