"""What checks of tags found, who may see it, and starting one."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation.models import SuggestionCheck
from annotation.selectors import tag_checks
from simulation.models import Run
from simulation.selectors import workers
from simulation.services import engine
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.simulation import CommentFactory, ProfileFactory, ProviderFactory
from tests.factories.tagging import check, check_run, tag, tagging_run

pytestmark = pytest.mark.django_db
SECRET = "glassblower"


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr(engine, "ask_for_hands", lambda *_: None)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.fixture
def checked(corpus):
    """Three tags of a run and an imported one, checked; one wrong."""
    profile = ProfileFactory(corpus=corpus, facts={"age": 34, "occupation": SECRET, "sex": "male"})
    first = CommentFactory(thread__corpus=corpus, profile=profile)
    second = CommentFactory(thread=first.thread, profile=profile)
    run, judge = tagging_run(corpus, [first, second], name="tags 1"), check_run(corpus, name="check 1")
    check(judge, tag(run, first, "occupation", "nurse", "medic", hardness=2), 0, 0)
    check(judge, tag(run, first, "sex", "male", hardness=1, hardness_word="direct"), 1, by="rule")
    check(judge, tag(run, second, "occupation", "artist", "glassblower", hardness=4), 0.5, 1)
    check(judge, SuggestionFactory(comment=second, attribute="age"), 0, 0, 0, by="rule")
    return run, judge


def address(corpus, name="tag_checks", *more):
    return reverse(name, args=[corpus.public_id, *more])


def test_counts_by_run_attribute_and_hardness(corpus, checked):
    ours, imported = tag_checks.summary(corpus)
    assert (ours.name, imported.name) == ("tags 1", "imported")
    jobs = dict(ours.by_attribute)["occupation"]
    assert (jobs.n, jobs.right, jobs.less_precise, jobs.wrong, jobs.kept) == (2, 0, 1, 1, 1)
    assert jobs.kept_share.percent == 50.0
    assert jobs.kept_share.low < 50 < jobs.kept_share.high
    assert (ours.all.n, ours.all.right, ours.all.kept) == (3, 1, 2)
    assert [(word[0], tally.n) for word, tally in ours.by_hardness] == [("1", 1), ("2", 1), ("4", 1)]
    assert (imported.all.n, imported.all.kept) == (1, 0)


def test_the_latest_check_counts_unless_one_run_is_asked_for(corpus, checked):
    run, first = checked
    again = check_run(corpus, name="check 2")
    check(again, run.suggestions.get(attribute="sex"), 0)
    assert tag_checks.summary(corpus)[0].all.kept == 1
    assert tag_checks.summary(corpus, by=first)[0].all.kept == 2
    assert [one.all.n for one in tag_checks.summary(corpus, of="imported")] == [1]


def test_the_page_lists_what_was_not_kept_with_the_truth(client_of, researcher, corpus, checked):
    page = client_of(researcher).get(address(corpus))
    rows = page.context["wrong"].rows
    assert {(row.suggestion.attribute, row.truth) for row in rows} == {("occupation", SECRET), ("age", "34")}
    assert SECRET in words(page)
    narrowed = client_of(researcher).get(address(corpus), {"attribute": "age", "by": checked[1].public_id})
    assert [row.truth for row in narrowed.context["wrong"].rows] == ["34"]


def test_the_list_is_paged(corpus, checked, monkeypatch):
    monkeypatch.setattr(tag_checks, "WRONG", 1)
    first = tag_checks.not_kept(corpus)
    second = tag_checks.not_kept(corpus, after=first.after)
    assert [row.truth for row in (*first.rows, *second.rows)] == ["34", SECRET]
    assert (bool(first.after), second.after) == (True, 0)


def test_the_files_have_the_numbers_of_the_page(client_of, researcher, corpus, checked):
    browser = client_of(researcher)
    counts = browser.get(address(corpus, "tag_checks_table", "summary"))
    rows = list(csv.DictReader(io.StringIO(counts.content.decode())))
    jobs = next(row for row in rows if row["attribute"] == "occupation")
    assert (jobs["checked"], jobs["less_precise"], jobs["wrong"], jobs["kept_percent"]) == (
        "2",
        "1",
        "1",
        "50.0",
    )
    wrong = browser.get(address(corpus, "tag_checks_table", "wrong"))
    listed = list(csv.DictReader(io.StringIO(wrong.content.decode())))
    assert {row["truth"] for row in listed} == {SECRET, "34"}
    assert {row["verdicts"] for row in listed} == {"no; no", "no; no; no"}
    assert browser.get(address(corpus, "tag_checks_table", "other")).status_code == 404


def test_who_may_not_see_profiles_gets_no_checks(client_of, labeler, adjudicator, corpus, checked):
    for person in (labeler, adjudicator):
        browser = client_of(person)
        for where in (
            address(corpus),
            address(corpus, "tag_checks_table", "summary"),
            address(corpus, "tag_checks_table", "wrong"),
            address(corpus, "tag_check_new"),
        ):
            assert browser.get(where).status_code == 403


def test_no_page_that_a_labeler_can_open_contains_a_check(client_of, labeler, corpus, checked):
    """Neither the truth, nor a verdict, nor which of the suggestions were kept: with the checks and without
    them, every page reads the same."""
    queue = queue_over(corpus)
    comment = checked[0].suggestions.first().comment
    browser = client_of(labeler)
    pages = [
        reverse("corpus", args=[corpus.public_id]),
        reverse("comments", args=[corpus.public_id]),
        reverse("thread", args=[comment.thread.public_id]),
        reverse("comment", args=[comment.public_id]),
        reverse("review", args=[queue.public_id]),
        reverse("review_history", args=[queue.public_id]),
        reverse("home"),
        reverse("queues"),
    ]

    def read():
        answers = [browser.get(page, follow=True) for page in pages]
        assert {answer.status_code for answer in answers} == {200}
        return [plain(answer.content.decode()) for answer in answers]

    with_checks = read()
    assert not any(SECRET in page for page in with_checks)
    SuggestionCheck.objects.all().delete()
    assert read() == with_checks
    SuggestionCheck.objects.bulk_create(
        SuggestionCheck(
            run=checked[1], suggestion=one, scores=[1], verdicts=["yes"], kept=True, decided_by="judge"
        )
        for one in checked[0].suggestions.all()
    )
    assert read() == with_checks


def plain(page):
    """Without what changes from one visit to the next: tokens, moments and marks of a form."""
    page = re.sub(r'(?:value|content|nonce)="[A-Za-z0-9]{32,}"', "", page)
    page = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", page)
    return re.sub(r"\d\d:\d\d(?::\d\d)?|\d{4}-\d\d-\d\dT[\d:.+]+|&quot;X-CSRFToken[^}]*", "", page)


# Starting a check


def fields(browser, corpus, **changes):
    form = browser.get(address(corpus, "tag_check_new")).context["form"]
    held = {field.html_name: field.value() for field in form}
    held = {name: value for name, value in held.items() if value not in (None, False, [])}
    return {name: value for name, value in (held | changes).items() if value is not None}


def test_a_check_is_started_by_its_form(client_of, admin, corpus, checked):
    ProviderFactory(name="Ours")
    browser = client_of(admin)
    sent = fields(browser, corpus, only_unchecked=None, runs=[checked[0].public_id])
    looked = browser.post(address(corpus, "tag_check_new"), sent, headers={"HX-Request": "true"})
    caps = {name: looked.context["form"][name].value() for name in ("max_calls", "max_tokens")}
    caps |= {"suggested_calls": caps["max_calls"], "suggested_tokens": caps["max_tokens"]}
    answer = browser.post(address(corpus, "tag_check_new"), sent | caps | {"max_cost": "2.50"})
    run = Run.objects.get(kind=Run.JUDGE, state="queued")
    assert answer.headers["Location"] == reverse("run", args=[run.public_id])
    assert run.steps.count() == 2
    assert run.plan["runs"] == [checked[0].public_id]
    assert (run.max_cost, run.created_by) == (2_500_000_000, admin)
    again = browser.post(address(corpus, "tag_check_new"), sent | caps)
    assert again.headers["Location"] == answer.headers["Location"]


def test_where_all_is_checked_there_is_nothing_to_start(client_of, admin, corpus, checked):
    ProviderFactory(name="Ours")
    browser = client_of(admin)
    answer = browser.post(address(corpus, "tag_check_new"), fields(browser, corpus))
    assert answer.status_code == 422
    assert "all are checked" in words(answer)


def test_researchers_do_not_start_checks(client_of, researcher, corpus, checked):
    assert client_of(researcher).get(address(corpus, "tag_check_new")).status_code == 403
