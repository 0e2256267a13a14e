"""Guidelines: versions that are only added, Markdown that lets nothing through, read beside the work."""

import re

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from annotation.domain.markdown import clean, to_html
from annotation.domain.revisions import compare
from annotation.models import Guideline
from annotation.selectors.queue_settings import guideline_of
from annotation.services import guidelines, queues
from simulation.domain.roles import Role
from simulation.models import AuditEntry
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory


@pytest.fixture
def queue(corpus):
    return queue_over(corpus, comments=1)


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


def address(queue, name="queue_guidelines"):
    return reverse(name, args=[queue.public_id])


def write(queue, text, **more):
    return guidelines.add_version(by=None, queue=queue, text=text, **more)


def test_markdown_becomes_html():
    html = to_html(
        "# Age\n\nTake **ranges**, see [the page](https://example.org/a?b=1&c=2).\n\n- one\n- two\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n`code`"
    )
    assert "<h2>Age</h2>" in html
    assert "<strong>ranges</strong>" in html
    assert '<a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer' in html
    assert "<li>one</li>" in html
    assert '<table class="table">' in html
    assert "<code>code</code>" in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick='x'>b</b> c",
        "<div>\n\n<p style='color:red'>**x**</p>\n\n</div>",
        "<svg><g/onload=alert(1)></svg>",
        "<!-- <script>alert(1)</script> -->",
        "- <iframe src='https://evil.example'></iframe>",
        "> <a href='javascript:alert(1)'>x</a>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](//evil.example)",
        "[x](/queues/)",
        "[x][y]\n\n[y]: javascript:alert(1)",
        "<javascript:alert(1)>",
        '```x" onload="alert(1)\n<script>\n```',
        '[x](https://a.example/"onmouseover="alert(1))',
        "[x](https://a.example 't\"onmouseover=\"alert(1)')",
        "![x](https://a.example/pixel.png)",
        "![x](javascript:alert(1))",
        "# <script>alert(1)</script>",
        "| <script> | b |\n|---|---|\n| <img src=x onerror=y> | c |",
    ],
)
def test_html_scripts_pictures_and_other_links_stay_text(text):
    html = to_html(text)
    tags = re.findall(r"<[^>]*>", html)
    allowed = (
        r"</?(p|h[1-6]|ul|ol|li|blockquote|pre|table|thead|tbody|tr|th|td|div|hr|em|strong|s|code|a|br)\b"
    )
    assert all(re.match(allowed, tag) for tag in tags), html
    for tag in tags:
        names = re.findall(r'\s([\w-]+)="[^"]*"', tag)
        assert set(names) <= {"href", "title", "target", "rel", "class", "tabindex", "role", "aria-label"}, (
            tag
        )
        assert re.sub(r'\s[\w-]+="[^"]*"', "", tag).count(" ") == 0, tag
    assert all(re.match(r"https?://|mailto:", link) for link in re.findall(r'href="([^"]*)"', html)), html


def test_links_to_the_web_and_to_mail_are_kept():
    assert 'href="mailto:a@example.org"' in to_html("[write](mailto:a@example.org)")
    assert 'href="http://example.org"' in to_html("<http://example.org>")


def test_lines_are_compared():
    lines = [(line.kind, line.text) for line in compare("a\nb\nc", "a\nB\nc\nd")]
    assert lines == [("same", "a"), ("gone", "b"), ("new", "B"), ("same", "c"), ("new", "d")]
    long = [f"line {number}" for number in range(30)]
    folded = compare("\n".join(long), "\n".join([*long, "more"]))
    assert [line.kind for line in folded] == ["fold", "same", "same", "same", "new"]
    assert folded[0].text == "27 unchanged lines"


def test_line_ends_are_made_the_same():
    assert clean("\r\n a\r\nb\r  \r\n\r\n") == " a\nb"


def test_every_saved_change_is_a_version(browser, queue, researcher):
    assert guideline_of(queue) is None
    assert browser.get(address(queue)).status_code == 200
    browser.post(address(queue), {"text": "# One\r\n", "base": "0"})
    browser.post(address(queue), {"text": "# One\n\nTwo", "base": "1"})
    browser.post(address(queue), {"text": "# One\r\n\r\nTwo\r\n", "base": "2"})
    assert list(queue.guidelines.values_list("version", "text")) == [(1, "# One"), (2, "# One\n\nTwo")]
    assert guideline_of(queue).by == researcher
    entries = AuditEntry.objects.filter(action="guidelines.changed").order_by("id")
    assert [entry.details["version"] for entry in entries] == [1, 2]


def test_the_question_for_the_guidelines_in_force_is_one_query(queue, django_assert_num_queries):
    for number in range(5):
        write(queue, f"text {number}")
    with django_assert_num_queries(1):
        assert guideline_of(queue).version == 5


@pytest.mark.database
def test_the_database_refuses_to_rewrite_a_version(queue):
    written = write(queue, "first")
    for act in (
        lambda: Guideline.objects.filter(pk=written.pk).update(text="other"),
        lambda: Guideline.objects.filter(pk=written.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()
    assert guideline_of(queue).text == "first"


def test_a_preview_shows_the_text_and_saves_nothing(browser, queue):
    page = browser.post(address(queue), {"text": "**soon**", "base": "0", "look": "1"})
    assert page.status_code == 200
    assert "<strong>soon</strong>" in page.content.decode()
    assert not queue.guidelines.exists()


def test_a_version_that_came_in_between_is_told_and_the_text_kept(browser, queue, admin):
    guidelines.add_version(by=admin, queue=queue, text="of ada")
    refused = browser.post(address(queue), {"text": "of rosa", "base": "0"})
    assert refused.status_code == 422
    body = refused.content.decode()
    assert "ada saved version 1 while you wrote" in body
    assert "of rosa" in body
    assert guideline_of(queue).text == "of ada"
    assert 'name="base" value="1"' in body
    assert browser.post(address(queue), {"text": "of rosa", "base": "1"}).status_code == 302
    assert guideline_of(queue).text == "of rosa"


def test_a_text_that_is_too_long_is_refused(browser, queue):
    refused = browser.post(address(queue), {"text": "x" * 40_001, "base": "0"})
    assert refused.status_code == 422
    assert "at most 40000 characters" in refused.content.decode()
    assert not queue.guidelines.exists()


def test_a_version_is_compared_with_the_one_before_escaped(browser, queue, researcher):
    write(queue, "# Age\nold line")
    guidelines.add_version(by=researcher, queue=queue, text="# Age\n<script>alert(1)</script>")
    page = browser.get(address(queue), {"version": "2"}).content.decode()
    assert "old line" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "saved" in page
    assert "rosa" in page
    first = browser.get(address(queue), {"version": "1"})
    assert "The first version" in first.content.decode()
    for missing in ("3", "0", "x", "²", "9" * 30):
        assert browser.get(address(queue), {"version": missing}).status_code == 404


def test_the_list_of_versions_is_paged_and_asks_the_same_for_many(
    browser, queue, django_assert_max_num_queries
):
    write(queue, "text")
    with django_assert_max_num_queries(8) as few:
        browser.get(address(queue))
    Guideline.objects.bulk_create(
        Guideline(queue=queue, version=number, text="text") for number in range(2, 37)
    )
    with django_assert_max_num_queries(8) as many:
        page = browser.get(address(queue)).content.decode()
    assert len(few) == len(many)
    assert "?before=7" in page
    assert "Version 6<" in browser.get(address(queue), {"before": "7"}).content.decode()


def test_who_works_in_the_queue_reads_them(client_of, queue, labeler):
    reader = client_of(labeler)
    assert "There are no guidelines" in reader.get(address(queue, "review_guidelines")).content.decode()
    write(queue, "Read **this** <script>alert(1)</script>")
    page = reader.get(address(queue, "review_guidelines"))
    assert page.status_code == 200
    assert "<strong>this</strong> &lt;script&gt;" in page.content.decode()
    part = reader.get(address(queue, "review_guidelines"), headers={"HX-Request": "true"})
    assert part.content.decode().strip().startswith("<article")
    assert "HX-Request" in part["Vary"]


def test_who_does_not_work_in_the_queue_reads_nothing(client_of, queue, labeler, adjudicator, stranger):
    write(queue, "text")
    assert client_of(stranger).get(address(queue, "review_guidelines")).status_code == 403
    elsewhere = MembershipFactory(corpus=CorpusFactory(), role=Role.LABELER.value).person
    assert client_of(elsewhere).get(address(queue, "review_guidelines")).status_code == 404
    queues.change(by=None, queue=queue, workers=[adjudicator])
    assert client_of(labeler).get(address(queue, "review_guidelines")).status_code == 404
    assert client_of(adjudicator).get(address(queue, "review_guidelines")).status_code == 200


def test_a_column_set_to_the_right_has_a_class_and_no_style():
    html = to_html("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert '<td class="r">2</td>' in html
    assert "style" not in html
