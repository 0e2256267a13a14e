"""Tagging runs side by side: the counts, where they differ, the page and its file."""

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.selectors.tag_compare import comparison
from annotation.selectors.tag_differences import differing
from tests.factories.simulation import CommentFactory, CorpusFactory
from tests.factories.tagging import check, check_run, tag, tagging_run

pytestmark = pytest.mark.django_db


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.fixture
def comments(corpus):
    first = CommentFactory(thread__corpus=corpus, sequence=0)
    return [first, *(CommentFactory(thread=first.thread, sequence=n) for n in range(1, 6))]


@pytest.fixture
def pair(corpus, comments):
    """Two runs over six comments; the second could not read the answer about the last."""
    one = tagging_run(corpus, comments, name="full", group="g1", cost=6_000, tokens=3_000)
    two = tagging_run(
        corpus, comments[:5], skipped=comments[5:], variant="tag_brief", name="brief", group="g1"
    )
    tag(one, comments[0], "age", "30", "35", "25", certainty=4)
    tag(
        two, comments[0], "age", "33", "35", "25", certainty=2, hardness_word="complicated", hardness=4
    )  # the same
    tag(one, comments[1], "age", "30", "30", "30")
    tag(two, comments[1], "age", "50", "50", "50")  # another age
    tag(one, comments[2], "city_country", "Graz, Austria")
    tag(two, comments[2], "city_country", "Austria")  # less precise
    tag(one, comments[3], "sex", "male")  # alone
    tag(two, comments[4], "sex", "female")  # alone
    tag(one, comments[5], "sex", "male")  # the other run has not dealt with it
    return one, two


def test_only_comments_that_every_run_dealt_with_are_compared(pair):
    found = comparison(pair, sees_truth=True)
    assert found.common == 5
    rows = dict(found.rows)
    assert list(rows) == ["age", "sex", "city_country"]
    assert [cell.tagged for cell in rows["sex"]] == [1, 1]
    assert [cell.alone for cell in rows["sex"]] == [1, 1]
    assert [cell.alone for cell in rows["age"]] == [0, 0]


def test_agreement_is_of_meaning_not_of_words(pair):
    rows = dict(comparison(pair, sees_truth=True).rows)
    ages, places = rows["age"][1], rows["city_country"][1]
    assert (ages.both, ages.same, ages.less_precise, ages.agreement.percent) == (2, 1, 0, 50.0)
    assert (places.both, places.same, places.less_precise) == (1, 0, 1)
    assert rows["sex"][1].agreement.percent is None


def test_certainty_hardness_tokens_and_trouble_are_told(pair):
    found = comparison(pair, sees_truth=True)
    full, brief = dict(found.rows)["age"]
    assert (full.certainty, brief.certainty) == (3.5, 2.5)
    assert brief.mix == [("indirect", 50), ("complicated", 50)]
    one, two = found.columns
    assert (one.tokens_per_1000, one.cost_per_1000) == (500_000, 1_000_000)
    assert (two.done, two.unreadable, two.refused, two.known) == (5, 1, 0, 6)


def test_the_latest_check_counts_and_only_for_those_who_may_know_the_truth(corpus, pair, comments):
    first, second = check_run(corpus), check_run(corpus)
    ours = {one.comment_id: one for one in pair[0].suggestions.filter(attribute="age")}
    for run, scores in ((first, (0, 0, 0)), (second, (1, 0, 0))):
        check(run, ours[comments[0].pk], *scores)
    check(first, ours[comments[1].pk], 0, 0, 0)
    cell = dict(comparison(pair, sees_truth=True).rows)["age"][0]
    assert (cell.kept, cell.checked) == (1, 2)
    assert dict(comparison(pair, sees_truth=False).rows)["age"][0].checked == 0


def test_three_runs_are_compared_with_the_first_and_alone_means_none_of_the_others(corpus, pair, comments):
    three = tagging_run(corpus, comments, name="third", group="g1")
    tag(three, comments[3], "sex", "male")
    tag(three, comments[1], "age", "31")
    rows = dict(comparison([*pair, three], sees_truth=True).rows)
    assert [cell.alone for cell in rows["sex"]] == [0, 1, 0]
    assert [(cell.both, cell.same) for cell in rows["age"]] == [(0, 0), (2, 1), (1, 1)]


def test_comments_on_which_they_differ_come_in_the_order_of_the_corpus(pair, comments):
    sample = differing(pair)
    assert [row.comment for row in sample.rows] == comments[1:5]
    assert sample.after == ""
    (ages,) = sample.rows[0].said
    assert [(letter, said.words[0]) for letter, said in ages.guesses] == [("A", "30"), ("B", "50")]
    assert [said and said.words for _, said in sample.rows[2].said[0].guesses] == [["male"], None]


def test_paging_loses_and_doubles_nothing(pair, comments, monkeypatch):
    monkeypatch.setattr("annotation.selectors.tag_differences.SHOWN", 1)
    monkeypatch.setattr("annotation.selectors.tag_differences.LOOKED_AT", 2)
    seen, after = [], ""
    for _ in range(10):
        sample = differing(pair, after=after)
        seen += [row.comment for row in sample.rows]
        if not (after := sample.after):
            break
    assert seen == comments[1:5]


def test_more_comments_and_attributes_take_no_more_queries(client_of, researcher, corpus, pair):
    browser, where = client_of(researcher), reverse("tag_compare", args=[corpus.public_id]) + "?group=g1"
    browser.get(where)
    with CaptureQueriesContext(connection) as few:
        browser.get(where)
    for number in range(30):
        comment = CommentFactory(thread=corpus.threads.first(), sequence=10 + number)
        for run in pair:
            run.steps.create(
                key=f"more/{number}",
                kind="tag",
                number=number,
                comment=comment,
                state="done",
                due_at=run.created_at,
            )
            for attribute in ("education", "occupation"):
                tag(run, comment, attribute, f"{run.name} {number}")
    with CaptureQueriesContext(connection) as many:
        page = browser.get(where)
    assert len(page.context["sample"].rows) == 20
    assert len(many) == len(few)


def test_the_page_says_what_differs_and_its_file_has_the_same_numbers(client_of, researcher, corpus, pair):
    browser = client_of(researcher)
    ids = f"{pair[0].public_id},{pair[1].public_id}"
    page = browser.get(reverse("tag_compare", args=[corpus.public_id]), {"runs": ids})
    assert "50.0 %" in words(page)
    assert "Where they differ" in words(page)
    file = browser.get(reverse("tag_compare_table", args=[corpus.public_id]), {"runs": ids})
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    brief = next(row for row in rows if (row["attribute"], row["run"]) == ("age", "B"))
    assert (brief["tagged"], brief["same_first_guess"], brief["agreement_percent"]) == ("2", "1", "50.0")
    assert brief["prompt"] == "tag_brief"
    assert "kept" in brief


def test_who_may_not_see_profiles_sees_no_truth(client_of, adjudicator, corpus, pair):
    run = check_run(corpus)
    for one in pair[0].suggestions.all():
        check(run, one, 1)
    browser, asked = client_of(adjudicator), {"group": "g1"}
    page = browser.get(reverse("tag_compare", args=[corpus.public_id]), asked)
    file = browser.get(reverse("tag_compare_table", args=[corpus.public_id]), asked)
    assert page.status_code == file.status_code == 200
    assert "Kept" not in words(page)
    assert "kept" not in file.content.decode()


def test_labelers_do_not_compare(client_of, labeler, corpus, pair):
    browser = client_of(labeler)
    for name in ("tag_compare", "tag_compare_table"):
        assert browser.get(reverse(name, args=[corpus.public_id]), {"group": "g1"}).status_code == 403


def test_runs_of_another_corpus_are_not_there(client_of, researcher, corpus, pair):
    other = tagging_run(CorpusFactory())
    asked = {"runs": [pair[0].public_id, other.public_id]}
    answer = client_of(researcher).get(reverse("tag_compare", args=[corpus.public_id]), asked)
    assert answer.status_code == 422
    assert "Choose two to six tagging runs of this corpus." in words(answer)


def test_without_a_choice_the_runs_are_listed(client_of, researcher, corpus, pair):
    page = client_of(researcher).get(reverse("tag_compare", args=[corpus.public_id]))
    assert [run.public_id for run in page.context["listed"]] == [pair[1].public_id, pair[0].public_id]
    assert "full" in words(page)
