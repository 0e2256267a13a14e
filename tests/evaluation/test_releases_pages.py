"""The pages of releases: who sees them, what they say, what they start, and the files they give."""

import io
import json
import zipfile

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.exchange import release_differences, release_making, release_push
from evaluation.models import Release
from evaluation.services.releases import withdraw
from evaluation.tasks import make_difference, make_release, push_release
from simulation.models import AuditEntry
from simulation.selectors import workers
from tests.evaluation import releases_by_hand as scene
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ThreadFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def told(monkeypatch, settings, tmp_path):
    """What workers were told of; none is there."""
    said = []
    for task, name in ((make_release, "make"), (make_difference, "difference"), (push_release, "push")):
        monkeypatch.setattr(task, "delay_on_commit", lambda *given, name=name: said.append((name, *given)))
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    settings.MEDIA_ROOT = tmp_path
    return said


@pytest.fixture
def comments(corpus):
    thread = ThreadFactory(corpus=corpus)
    made = [CommentFactory(thread=thread, text=f"Comment {number}") for number in range(2)]
    SuggestionFactory(comment=made[0])
    return made


@pytest.fixture
def release(corpus, tmp_path):
    return scene.ready(
        corpus,
        tmp_path,
        comments=[scene.comment(1)],
        labels=[scene.label(1, "30")],
        more={
            "README.md": "---\nlicense: x\n---\n# Winter\n\n<script>alert(1)</script> **bold**\n",
            "metrics.json": json.dumps(METRICS),
        },
    )


def estimate(value, n=0):
    return {"value": value, "low": None, "high": None, "n": n}


METRICS = {
    "agreement": [
        {"part": "ordinary", "attribute": key, "measure": measure, "units": 4, "raters": 2, **found}
        for key in ("age", "")
        for measure, found in (
            ("percent", {"value": 0.75, "low": 0.5, "high": 1.0}),
            ("nominal", {"value": None, "low": None, "high": None}),
        )
    ],
    "shifts": [
        {
            "answers": "all",
            "attribute": "",
            "assisted": estimate(0.9, 10),
            "blind": estimate(0.6, 5),
            "shift": estimate(0.3),
        }
    ],
}


def of(one, name="release", *more):
    return reverse(name, args=[one.public_id, *more])


def text(answer):
    return answer.content.decode()


PAGES = ("release", "release_withdraw", "release_doi", "release_push", "release_zip")


def test_others_do_not_see_them(client_of, labeler, adjudicator, stranger, corpus, release):
    other = scene.ready(corpus, release_making.root().parent, "1.1")
    release_differences.ask(by=None, old=release, new=other)
    foreign = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    pages = [of(corpus, "releases"), of(corpus, "release_new"), *(of(release, name) for name in PAGES)]
    pages += [of(release, "release_file", "labels.jsonl")]
    pages += [
        of(other, name, release.public_id) for name in ("release_difference", "release_difference_lines")
    ]
    acts = [of(release, name) for name in ("release_again", "release_discard", "release_compare")]
    for person, status in ((labeler, 403), (adjudicator, 403), (stranger, 403), (foreign, 404)):
        browser = client_of(person)
        assert {browser.get(page).status_code for page in pages} == {status}
        assert {browser.post(act).status_code for act in acts} == {status}
        assert browser.post(of(release, "release_withdraw"), {"notice": "x"}).status_code == status


def test_the_list_asks_the_same_number_of_queries_for_many(client_of, researcher, corpus, release, tmp_path):
    browser = client_of(researcher)
    page = of(corpus, "releases")
    browser.get(page)
    with CaptureQueriesContext(
        connection,
    ) as few:
        answer = browser.get(page)
    assert "1.0" in text(answer)
    for number in range(5):
        Release.objects.create(corpus=corpus, name=f"2.{number}", by=researcher)
    with CaptureQueriesContext(connection) as many:
        browser.get(page)
    assert len(many) == len(few)


def test_the_list_is_paged(client_of, researcher, corpus):
    Release.objects.bulk_create(Release(corpus=corpus, name=f"1.{number}") for number in range(33))
    first = client_of(researcher).get(of(corpus, "releases"))
    page = first.context["page"]
    second = client_of(researcher).get(of(corpus, "releases"), {"before": page.before}).context["page"]
    assert [one.name for one in page.rows[:1]] == ["1.32"]
    assert [one.name for one in second.rows] == ["1.2", "1.1", "1.0"]
    assert second.before == ""


def test_the_corpus_and_its_export_lead_there(client_of, researcher, corpus, release):
    for name in ("corpus", "export"):
        assert of(corpus, "releases") in text(client_of(researcher).get(of(corpus, name)))


def fields(**more):
    return {"name": "1.0", "policy": "single", "min_words": 0, **more}


def test_a_release_is_asked_for_and_a_worker_told(client_of, researcher, corpus, comments, told):
    answer = client_of(researcher).post(
        of(corpus, "release_new"), fields(attributes=["age"], title="Winter", threads=" \r\n")
    )
    one = Release.objects.get()
    assert answer["Location"] == of(one)
    assert (one.name, one.title, one.by, one.policy) == ("1.0", "Winter", researcher, "single")
    assert one.query["attributes"] == ["age"]
    assert one.query["threads"] == []
    assert told == [("make", one.pk)]


def test_looking_makes_nothing_and_names_the_filter_that_takes_all(client_of, researcher, corpus, comments):
    browser, page = client_of(researcher), of(corpus, "release_new")
    first = browser.get(page)
    assert first.context["found"].counts["comments"] == 2
    assert first.context["form"]["name"].value() == "1.0"
    answer = browser.post(page, fields(min_words=99, look="1"))
    assert answer.status_code == 200
    assert "the filter “only comments of so many words” took the last" in text(answer)
    part = browser.post(page, fields(), headers={"HX-Request": "true"})
    assert 'id="forecast"' in text(part)
    assert "<html" not in text(part)
    assert "No label counts by this policy" in text(part)
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"name": ""}, "This field is required"),
        ({"name": "a b"}, "it is part of file names"),
        ({"policy": "agreeing"}, "Say how many people must say the same"),
        ({"min_words": 99}, "No comment is left"),
        ({"policy": "nonsense"}, "is not one of the available choices"),
        ({"attributes": ["nonsense"]}, "is not one of the available choices"),
        ({"threads": "x" * 201}, "is no name"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(client_of, researcher, corpus, comments, more, says, told):
    answer = client_of(researcher).post(of(corpus, "release_new"), fields(**more))
    assert answer.status_code == 422
    assert says in text(answer)
    assert not Release.objects.exists()
    assert told == []


def test_while_it_is_made_the_page_asks_again_and_then_shows_all(client_of, researcher, corpus, comments):
    browser = client_of(researcher)
    browser.post(of(corpus, "release_new"), fields())
    one = Release.objects.get()
    part = browser.get(of(one), headers={"HX-Request": "true"})
    assert "every 1500ms" in text(part)
    assert "Waiting for a worker" in text(browser.get(of(one)))
    make_release(one.pk)
    assert browser.get(of(one), headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    body = text(browser.get(of(one)))
    assert "every 1500ms" not in body
    assert "labels.parquet" in body
    assert "load_dataset" in body
    assert "@misc{winter-" in body


def test_the_page_shows_files_card_quality_and_digest(client_of, researcher, release):
    body = text(client_of(researcher).get(of(release)))
    assert release.digest in body
    assert "<strong>bold</strong>" in body
    assert "<script>alert" not in body
    assert "75.0 (50.0 to 100.0)" in body
    assert "90.0" in body
    assert of(release, "release_file", "labels.jsonl") in body


def test_the_page_takes_the_same_queries_whatever_was_released(
    client_of, researcher, release, corpus, tmp_path
):
    browser = client_of(researcher)
    browser.get(of(release))
    with CaptureQueriesContext(connection) as few:
        browser.get(of(release))
    for number in range(4):
        scene.ready(corpus, tmp_path, f"2.{number}")
    with CaptureQueriesContext(connection) as many:
        browser.get(of(release))
    assert len(many) == len(few)


def test_files_that_are_gone_are_said_and_the_page_still_opens(client_of, researcher, release, tmp_path):
    for name in ("README.md", "metrics.json", "manifest.json"):
        (tmp_path / release.folder / name).unlink()
    browser = client_of(researcher)
    assert "3 files of it are not on the server any more" in text(browser.get(of(release)))
    assert browser.get(of(release, "release_zip")).status_code == 404


def test_files_are_downloaded_as_they_are_and_that_is_written_down(client_of, researcher, release, tmp_path):
    browser = client_of(researcher)
    answer = browser.get(of(release, "release_file", "labels.jsonl"))
    assert b"".join(answer) == (tmp_path / release.folder / "labels.jsonl").read_bytes()
    assert answer["Content-Type"].startswith("application/x-ndjson")
    assert "winter-1.0-labels.jsonl" in answer["Content-Disposition"]
    zipped = browser.get(of(release, "release_zip"))
    assert "winter-1.0/manifest.json" in zipfile.ZipFile(io.BytesIO(b"".join(zipped))).namelist()
    assert browser.get(of(release, "release_file", "nothing.csv")).status_code == 404
    assert browser.get(of(release) + "files/../../secret").status_code == 404
    taken = AuditEntry.objects.filter(action="release.taken").order_by("id")
    assert [one.details for one in taken] == [{"file": "labels.jsonl"}, {"file": "all files"}]


def test_a_release_that_is_not_ready_has_no_files(client_of, researcher, corpus):
    one = Release.objects.create(corpus=corpus, name="1.0")
    for page in (of(one, "release_zip"), of(one, "release_file", "labels.jsonl")):
        assert client_of(researcher).get(page).status_code == 404


def test_a_withdrawal_takes_a_notice_and_the_name_and_then_everything_says_so(client_of, researcher, release):
    browser, page = client_of(researcher), of(release, "release_withdraw")
    assert browser.post(page, {"notice": "", "typed": "1.0"}).status_code == 422
    wrong = browser.post(page, {"notice": "Wrong <ages>.", "typed": "1"})
    assert (wrong.status_code, "is not the name" in text(wrong)) == (422, True)
    assert browser.post(page, {"notice": "Wrong <ages>.", "typed": "1.0"}).status_code == 302
    body = text(browser.get(of(release)))
    assert "Do not use it any more." in body
    assert "Wrong &lt;ages&gt;." in body
    assert "Withdrawn}" in body
    answer = browser.get(of(release, "release_file", "labels.jsonl"))
    assert answer["X-Release-Withdrawn"]
    assert "withdrawn-winter-1.0-labels.jsonl" in answer["Content-Disposition"]
    assert browser.post(page, {"notice": "again", "typed": "1.0"}).status_code == 422


def test_a_doi_is_set_and_cited(client_of, researcher, release):
    browser, page = client_of(researcher), of(release, "release_doi")
    assert "is no DOI" in text(browser.post(page, {"doi": "zenodo"}))
    assert browser.post(page, {"doi": "https://doi.org/10.5281/zenodo.1"}).status_code == 302
    assert "doi = {10.5281/zenodo.1}" in text(browser.get(of(release)))
    assert "Nothing was typed" in text(browser.post(page, {"doi": "10.5281/zenodo.2"}))
    assert browser.post(page, {"doi": "10.5281/zenodo.2", "typed": "1.0"}).status_code == 302


def test_a_failed_one_is_tried_again_or_discarded(client_of, researcher, corpus, told):
    browser = client_of(researcher)
    one = Release.objects.create(corpus=corpus, name="1.0", state="failed", reason="The disk is full.")
    assert "The disk is full." in text(browser.get(of(one)))
    browser.post(of(one, "release_again"))
    assert told == [("make", one.pk)]
    browser.post(of(one, "release_discard"))
    assert Release.objects.get().state == "queued"
    Release.objects.update(state="failed")
    browser.post(of(one, "release_discard"))
    assert not Release.objects.exists()


# Comparing


@pytest.fixture
def two(corpus, release, tmp_path):
    new = scene.ready(
        corpus,
        tmp_path,
        "1.1",
        comments=[scene.comment(1, "a new text")],
        labels=[scene.label(1, "<b>31</b>"), scene.label(2, "40")],
    )
    return release, new


def test_two_are_compared_by_a_worker_and_shown(client_of, researcher, two, told):
    old, new = two
    browser = client_of(researcher)
    answer = browser.post(of(new, "release_compare"), {"other": old.public_id})
    page = of(new, "release_difference", old.public_id)
    assert answer["Location"] == page
    assert told[0][0] == "difference"
    assert "every 1500ms" in text(browser.get(page))
    make_difference(told[0][1])
    assert browser.get(page, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    body = text(browser.get(page))
    assert "the comment was edited" in body.lower()
    assert "&lt;b&gt;31&lt;/b&gt;" in body
    narrowed = browser.get(page, {"table": "labels", "change": "relabelled"})
    assert [row["comment_id"] for row in narrowed.context["page"].rows] == ["c1"]
    lines = browser.get(of(new, "release_difference_lines", old.public_id), {"table": "labels"})
    assert len(b"".join(lines).splitlines()) == 2
    browser.post(of(new, "release_compare"), {"other": old.public_id})
    assert len(told) == 1


def test_the_page_of_a_difference_takes_the_same_queries_for_many(client_of, researcher, corpus, tmp_path):
    browser = client_of(researcher)
    counted = []
    for n in (1, 120):
        old, new = (
            scene.ready(corpus, tmp_path, f"{n}.{age}", labels=[scene.label(k, age) for k in range(n)])
            for age in ("30", "31")
        )
        release_differences.make(release_differences.ask(by=None, old=old, new=new).pk)
        page = of(new, "release_difference", old.public_id)
        browser.get(page)
        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(page)
        counted.append(len(queries))
    assert counted[0] == counted[1]
    following = browser.get(page, {"after": answer.context["page"].after})
    assert len(following.context["page"].rows) == 50


def test_nothing_chosen_and_nothing_to_show_are_said(client_of, researcher, two):
    old, new = two
    browser = client_of(researcher)
    assert browser.post(of(new, "release_compare"), {"other": "x"})["Location"] == of(new)
    assert browser.post(of(new, "release_compare"), {"other": new.public_id})["Location"] == of(new)
    assert browser.get(of(new, "release_difference", old.public_id)).status_code == 404


# Sending


def test_what_would_be_sent_is_shown_and_then_a_worker_told(
    client_of, researcher, release, monkeypatch, told
):
    monkeypatch.setenv("HF_TOKEN", "secret words")
    browser, page = client_of(researcher), of(release, "release_push")
    said = {"repository": "me/winter", "variable": "HF_TOKEN"}
    looked = browser.post(page, said | {"look": "1"})
    assert "me/winter" in text(looked)
    assert "its owner only" in text(looked)
    assert told == []
    assert browser.post(page, said)["Location"] == of(release)
    assert told == [("push", release.pk, "me/winter", "HF_TOKEN", False)]
    body = text(browser.get(of(release)))
    assert "being sent since" in body
    assert "secret words" not in body + json.dumps(list(AuditEntry.objects.values_list("details", flat=True)))
    assert "It is being sent to me/winter already" in text(browser.post(page, said))


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"repository": "winter", "variable": "HF_TOKEN"}, "A repository reads owner/name"),
        ({"repository": "me/winter", "variable": "SECRET_KEY"}, "ends in _TOKEN"),
        ({"repository": "me/winter", "variable": "NO_SUCH_TOKEN"}, "is empty or not set"),
    ],
)
def test_what_cannot_be_sent_is_refused(client_of, researcher, release, monkeypatch, said, says, told):
    monkeypatch.setenv("HF_TOKEN", "x")
    answer = client_of(researcher).post(of(release, "release_push"), said)
    assert (answer.status_code, told) == (422, [])
    assert says in text(answer)


def test_a_withdrawn_release_and_a_missing_library_are_said(client_of, researcher, release, monkeypatch):
    browser, page = client_of(researcher), of(release, "release_push")
    monkeypatch.setenv("HF_TOKEN", "x")
    withdraw(release, by=researcher, notice="Wrong.", typed="1.0")
    assert "This release was withdrawn" in text(browser.get(page))
    said = {"repository": "me/winter", "variable": "HF_TOKEN"}
    assert "it is not sent anywhere any more" in text(browser.post(page, said))
    monkeypatch.setattr(release_push, "missing", lambda: release_push.HOW)
    assert "Sending to a hub is not installed here" in text(browser.get(page))
