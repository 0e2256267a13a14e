"""Naming runs start by form or command; what they named is a table, files, and part of diversity."""

import csv
import io
import json
import re
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Report, ThreadTopics
from evaluation.services import diversity as counting
from evaluation.services import reports
from evaluation.services.naming import Naming, start_naming
from simulation.models import Run, Thread
from simulation.selectors import workers
from tests.evaluation.communities_scene import ADULTS, named, threads_in, wish
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ProviderFactory,
)
from tests.fakes.llm import reply
from tests.running import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def threads(corpus):
    return threads_in(corpus)


@pytest.fixture
def provider(db):
    return ProviderFactory(name="ours")


@pytest.fixture
def answers(gateway):
    gateway.answers = lambda request, attempt: reply(ADULTS)
    return gateway


@pytest.fixture(autouse=True)
def nobody_works(monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)


def address(corpus, name="communities_new", *more):
    return reverse(name, args=[corpus.public_id, *more])


def sent(provider, **fields):
    return {
        "name": "which ones",
        "provider": provider.public_id,
        "model": "",
        "max_calls": "50",
        "max_tokens": "90000",
        "suggested_calls": "1",
        "suggested_tokens": "1",
        "form": str(uuid.uuid4()),
    } | fields


def words(answered):
    return " ".join(re.sub(r"<[^>]+>", " ", answered.content.decode()).split())


def body(answered):
    return b"".join(answered.streaming_content).decode()


def test_the_form_says_beforehand_what_it_will_take(client_of, admin, corpus, threads, provider):
    page = client_of(admin).get(address(corpus))
    assert "Threads 3 Calls 3 " in words(page)
    assert "Cost nothing" in words(page)
    assert not Run.objects.exists()
    part = client_of(admin).post(address(corpus), sent(provider), headers={"HX-Request": "true"})
    assert 'id="forecast"' in part.content.decode()
    assert "<html" not in part.content.decode()
    assert not Run.objects.exists()


def test_a_press_starts_a_run_and_the_same_form_starts_no_other(
    client_of, admin, corpus, threads, provider, answers
):
    fields = sent(provider, askreddit="on", model="other")
    client = client_of(admin)
    first, again = client.post(address(corpus), fields), client.post(address(corpus), fields)
    run = Run.objects.get()
    assert first.url == again.url == reverse("run", args=[run.public_id])
    assert (run.kind, run.max_calls, run.plan["askreddit"]) == ("topics", 50, True)
    assert run.plan["models"]["namer"]["model"] == "other"
    assert "No thread is named yet" in words(client.get(first.url))
    work_off(run, Naming())
    page = words(client.get(first.url))
    assert "/r/Adulting , /r/Aging , /r/nostalgia" in page
    assert "Communities by thread" in page
    assert "naming of communities with other" in page
    assert "3 of 3 threads" in words(client.get(reverse("runs")))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "required"),
        ({"model": "m" * 101}, "at most 100"),
        ({"max_calls": "0"}, "greater than or equal to 1"),
        ({"soft_cost": "2", "max_cost": "1"}, "warns before the cap"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(client_of, admin, corpus, threads, provider, fields, said):
    answer = client_of(admin).post(address(corpus), sent(provider, **fields))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Run.objects.exists()


def test_a_model_without_a_price_and_a_language_without_a_prompt_are_refused(
    client_of, admin, corpus, threads, provider
):
    paid = ProviderFactory(name="paid", base_url="https://api.example.org/v1", default_model="unheard-of")
    answer = client_of(admin).post(address(corpus), sent(paid))
    assert (answer.status_code, "price" in answer.content.decode()) == (422, True)
    corpus.language = "fr"
    corpus.save()
    answer = client_of(admin).post(address(corpus), sent(provider))
    assert (answer.status_code, "There is no prompt" in answer.content.decode()) == (422, True)
    assert not Run.objects.exists()


def test_a_corpus_without_threads_or_providers_says_what_is_missing(client_of, admin, corpus):
    page = words(client_of(admin).get(address(corpus)))
    assert "The corpus has no threads." in page
    assert "No provider yet." in page


def test_only_who_may_spend_starts_runs_and_only_who_sees_profiles_sees_what_was_named(
    client_of, corpus, threads, researcher, labeler, adjudicator, stranger, answers
):
    run = named(corpus)
    pages = [address(corpus, "communities"), address(corpus, "communities_file", run.public_id, "csv")]
    for person in (researcher, labeler, adjudicator, stranger):
        assert client_of(person).get(address(corpus)).status_code == 403
    for person in (labeler, adjudicator, stranger):
        assert {client_of(person).get(page).status_code for page in pages} == {403}
    assert {client_of(researcher).get(page).status_code for page in pages} == {200}
    elsewhere = MembershipFactory(role="admin", corpus=CorpusFactory()).person
    for page in [address(corpus), *pages]:
        assert client_of(elsewhere).get(page).status_code == 404
    theirs = reverse(
        "communities_file", args=[elsewhere.memberships.get().corpus.public_id, run.public_id, "csv"]
    )
    assert client_of(elsewhere).get(theirs).status_code == 404


def test_the_table_says_for_each_thread_what_was_named_or_why_not(
    client_of, researcher, corpus, threads, gateway
):
    said = {"song": "/r/Adulting, /r/AGING, /r/Aging", "bag": "I can't help with that."}

    def say(request, attempt):
        shown = request.messages[1].content
        return reply(next((text for key, text in said.items() if key in shown), "Nice weather."))

    gateway.answers = say
    run = named(corpus)
    browser = client_of(researcher)
    page = browser.get(address(corpus, "communities"))
    shown = words(page)
    assert "Threads named 1 of 3" in shown
    assert "1 with fewer than three" in shown
    assert "Without 2 1 refused, 1 unreadable" in shown
    assert "thread_age_1 age /r/Adulting, /r/AGING" in shown.replace("Age", "age")
    assert [row.reason for row in page.context["page"].rows] == ["", "refused", "unreadable"]
    without = browser.get(address(corpus, "communities"), {"run": run.public_id, "what": "without"})
    assert [row.root for row in without.context["page"].rows] == [
        "root of thread_occupation_1",
        "root of odd",
    ]
    assert "No thread matches." in words(browser.get(address(corpus, "communities"), {"what": "waiting"}))
    failures = words(browser.get(reverse("run_failures", args=[run.public_id])))
    assert "Communities of thread 2" in failures
    assert "The thread has no communities from this run." in failures


def test_the_files_have_all_threads_and_the_published_form_those_with_names(
    client_of, researcher, corpus, threads, gateway
):
    gateway.answers = lambda request, attempt: reply(
        "I can't help with that." if "bag" in request.messages[1].content else ADULTS
    )
    run = named(corpus)
    browser = client_of(researcher)
    table = body(browser.get(address(corpus, "communities_file", run.public_id, "csv")))
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["thread_id"], row["target"], row["topics"], row["reason"]) for row in rows] == [
        ("thread_age_1", "age", ADULTS, ""),
        ("thread_occupation_1", "occupation", "", "refused"),
        ("odd", "", ADULTS, ""),
    ]
    answered = browser.get(address(corpus, "communities_file", run.public_id, "jsonl"))
    assert answered.headers["Content-Disposition"].endswith('.jsonl"')
    assert [json.loads(line) for line in body(answered).splitlines()] == [
        {"id": "root of thread_age_1", "thread_id": "thread_age_1", "topics": ADULTS},
        {"id": "root of odd", "thread_id": "odd", "topics": ADULTS},
    ]
    for key, kind in ((run.public_id, "xml"), ("nothere", "csv")):
        assert browser.get(address(corpus, "communities_file", key, kind)).status_code == 404


def test_long_tables_have_pages_and_the_queries_do_not_grow(client_of, researcher, corpus, answers):
    browser, counts = client_of(researcher), []
    for more in (3, 60):
        for _ in range(more):
            CommentFactory(thread__corpus=corpus)
        named(corpus)
        browser.get(address(corpus, "communities"))
        with CaptureQueriesContext(
            connection,
        ) as seen:
            page = browser.get(address(corpus, "communities"))
        counts.append(len(seen))
    assert counts[0] == counts[1]
    assert len(page.context["page"].rows) == 50
    after = page.context["page"].after
    rest = browser.get(address(corpus, "communities"), {"after": after})
    assert len(rest.context["page"].rows) == 13
    assert "The list ends before this place." in words(
        browser.get(address(corpus, "communities"), {"after": 999})
    )
    assert browser.get(address(corpus, "communities"), {"after": "9" * 30}).status_code == 200


def test_a_thread_that_was_deleted_is_told(client_of, researcher, corpus, threads, answers):
    run = named(corpus)
    Thread.objects.get(external_id="odd").comments.filter(parent__isnull=False).delete()
    Thread.objects.get(external_id="odd").comments.all().delete()
    Thread.objects.get(external_id="odd").delete()
    assert "a thread that was deleted" in words(client_of(researcher).get(address(corpus, "communities")))
    lines = body(client_of(researcher).get(address(corpus, "communities_file", run.public_id, "jsonl")))
    assert len(lines.splitlines()) == 2


def test_nothing_named_yet_says_what_to_do(client_of, researcher, admin, corpus, threads):
    page = words(client_of(researcher).get(address(corpus, "communities")))
    assert "No communities are named yet" in page
    assert "An admin of this corpus can start that." in page
    assert address(corpus) in client_of(admin).get(address(corpus, "communities")).content.decode()


# What diversity makes of it


def counted(corpus, **parameters):
    report = reports.make(corpus, Report.DIVERSITY, {"run": "", **parameters})
    assert reports.is_current(report)
    found = counting.numbers(report)
    assert found is not None
    return found


def different(found):
    return {one.name for groups in found.topics.values() for one in groups.groups}


def test_diversity_counts_the_last_run_that_is_done_or_the_one_that_is_chosen(corpus, threads, gateway):
    Thread.objects.filter(external_id="odd").update(extra={"topics": "/r/Goats, /r/goats , /r/keys"})
    own = counted(corpus)
    assert (different(own), own.naming.name, own.naming.distinct, own.naming.written) == (
        {"/r/goats", "/r/keys"},
        "",
        2,
        3,
    )
    gateway.answers = lambda request, attempt: reply("/r/One, /r/Two, /r/Three")
    first = named(corpus, name="first")
    gateway.answers = lambda request, attempt: reply("/r/Four, /r/FOUR, /r/Five, /r/Six")
    last = named(corpus, name="last", askreddit=True)
    start_naming(corpus, wish(name="not done"), by=None)
    found = counted(corpus)
    assert different(found) == {"/r/four", "/r/five", "/r/six"}
    by = found.naming
    assert (by.run, by.name, by.model, by.askreddit) == (last.public_id, "last", "scripted", True)
    assert (by.threads, by.namings, by.distinct, by.written) == (3, 9, 3, 3)
    assert different(counted(corpus, topics=first.public_id)) == {"/r/one", "/r/two", "/r/three"}
    assert different(counted(corpus, topics="imported")) == {"/r/goats", "/r/keys"}


def test_whatever_changes_the_names_makes_the_report_old(corpus, threads, answers):
    def stamp():
        return reports.MAKERS[Report.DIVERSITY].stamp(corpus, {"run": ""})

    seen = [stamp()]
    Thread.objects.filter(external_id="odd").update(extra={"topics": ["/r/Goats"]})
    seen.append(stamp())
    Thread.objects.filter(external_id="odd").update(extra={"topics": ["/r/Sheep"]})
    seen.append(stamp())
    run = start_naming(corpus, wish(), by=None)
    assert stamp() == seen[-1]
    work_off(run, Naming())
    seen.append(stamp())
    named(corpus)
    seen.append(stamp())
    assert len(set(seen)) == len(seen)


def test_a_run_that_is_gone_is_said_and_not_counted(corpus, threads, answers):
    report = reports.make(corpus, Report.DIVERSITY, {"run": "", "topics": "nothere"})
    report.refresh_from_db()
    assert report.problem


def test_the_diversity_page_offers_the_runs_and_says_whose_names_these_are(
    client_of, researcher, admin, corpus, threads, answers, monkeypatch
):
    first, last = named(corpus, name="first"), named(corpus, name="last")
    counted(corpus)
    page = client_of(researcher).get(address(corpus, "diversity"))
    assert "3 different communities : 9 namings for 3 threads, by scripted in last" in words(page)
    assert "r/AskReddit was left out" in words(page)
    assert f'<option value="{first.public_id}">first</option>' in page.content.decode()
    assert "Name communities…" not in words(page)
    assert "Name communities…" in words(client_of(admin).get(address(corpus, "diversity")))
    counted(corpus, topics=first.public_id)
    chosen = client_of(researcher).get(address(corpus, "diversity"), {"topics": first.public_id})
    assert "by scripted in first" in words(chosen)
    assert f"topics={first.public_id}" in chosen.context["query"]
    unknown = client_of(researcher).get(address(corpus, "diversity"), {"topics": "nothere"})
    assert "by scripted in last" in words(unknown)
    assert last.name == "last"


# The command


def command(*given, **options):
    out = io.StringIO()
    call_command("name_communities", *given, stdout=out, **options)
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_the_command_names_and_reports(corpus, threads, provider):
    said = json.loads(command(corpus=corpus.name, provider="ours", here=1, json=True))
    assert (said["threads"], said["named"], said["namings"], said["state"]) == (3, 3, 9, "done")
    assert (said["threads_with_askreddit"], ThreadTopics.objects.count()) == (0, 3)
    said = json.loads(
        command(corpus=corpus.name, provider="ours", here=1, json=True, with_askreddit=True, name="with")
    )
    assert said["named"] == 3
    assert Run.objects.get(name="with").plan["askreddit"] is True
    heard = io.StringIO()
    call_command("diversity", "--corpus", corpus.name, "--topics", said["run"], stdout=heard)
    assert "namings for 3 threads, by with" in heard.getvalue()


def refused(*given, **options):
    with pytest.raises(CommandError) as caught:
        command(*given, **options)
    return caught.value.returncode, str(caught.value)


def test_the_command_says_what_is_missing(corpus, threads, provider, tmp_path):
    for options, said in (
        ({}, "Say --provider NAME to have a model asked, or --import FILE."),
        ({"provider": "theirs"}, "there are: ours"),
        ({"provider": "ours", "max_cost": "much"}, "--max-cost"),
        ({"provider": "ours", "temperature": 9.0}, "emperature"),
        ({"provider": "ours", "file": "x.jsonl"}, "--import asks no model"),
        ({"file": str(tmp_path / "x.jsonl")}, "x.jsonl"),
    ):
        code, heard = refused(corpus=corpus.name, **options)
        assert (code, said in heard) == (2, True), heard
    assert refused(corpus="nowhere", file="x.jsonl")[1] == (
        f"There is no corpus 'nowhere'; there are: {corpus.name}."
    )
    assert not Run.objects.exists()
