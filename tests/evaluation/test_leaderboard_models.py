"""The corpora with results: their best line, what is next, and who sees any of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from simulation.domain.roles import Role
from tests.evaluation.board_scene import address, counted, results, words
from tests.factories.evaluation import LabelSetFactory, PredictionRunFactory, ScoringFactory
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


def test_models_lists_corpora_with_their_best_line_and_what_is_next(client_of, researcher, corpus):
    counted(corpus, results(corpus))
    labels_only, runs_only, unscored, unsettled = (
        CorpusFactory(name=name) for name in ("labels only", "runs only", "unscored", "unsettled")
    )
    LabelSetFactory(corpus=labels_only)
    PredictionRunFactory(corpus=runs_only)
    LabelSetFactory(corpus=unscored)
    PredictionRunFactory(corpus=unscored)
    ScoringFactory(prediction_run__corpus=unsettled, open=4)
    CorpusFactory(name="bare")
    page = client_of(researcher).get(reverse("models"))
    found = {one.corpus.name: one for one in page.context["found"].results}
    assert {name: one.next for name, one in found.items()} == {
        "winter": "",
        "labels only": "predictions",
        "runs only": "labels",
        "unscored": "scoring",
        "unsettled": "settle",
    }
    assert (found["winter"].best.name, found["winter"].best.said.value) == ("model 0 truth", "100.0")
    assert (found["winter"].runs, found["winter"].models) == (3, 2)
    assert "Settle 4 open" in words(page)
    assert [one.name for one in page.context["found"].without] == ["bare"]


def test_models_without_results_show_the_way_in(client_of, researcher, corpus):
    page = client_of(researcher).get(reverse("models"))
    assert "No results yet" in words(page)
    assert address(corpus, "results_import") in page.content.decode()


def test_models_asks_equally_often_for_more_corpora(client_of, researcher, django_assert_num_queries):
    browser = client_of(researcher)

    def add():
        one = CorpusFactory()
        counted(one, results(one, profiles=2))

    add()
    browser.get(reverse("models"))
    with CaptureQueriesContext(connection) as few:
        browser.get(reverse("models"))
    for _ in range(4):
        add()
    with django_assert_num_queries(len(few)):
        assert len(browser.get(reverse("models")).context["found"].results) == 5


def test_who_may_not_see_profiles_sees_no_board(client_of, labeler, adjudicator, stranger, corpus):
    counted(corpus, results(corpus))
    pages = [
        reverse("models"),
        address(corpus),
        address(corpus, "leaderboard_pairs"),
        address(corpus, "leaderboard_table", "ranking"),
        address(corpus, "references"),
        address(corpus, "reference_new"),
    ]
    for person in (labeler, adjudicator, stranger):
        for page in pages:
            assert client_of(person).get(page).status_code == 403


def test_a_researcher_of_another_corpus_finds_nothing_here(client_of, corpus):
    counted(corpus, results(corpus))
    other = CorpusFactory(name="other")
    guest = MembershipFactory(corpus=other, role=Role.RESEARCHER.value).person
    browser = client_of(guest)
    for name, *more in (
        ("leaderboard",),
        ("leaderboard_pairs",),
        ("leaderboard_table", "ranking"),
        ("references",),
        ("reference_new",),
    ):
        assert browser.get(address(corpus, name, *more)).status_code == 404
        assert browser.get(address(other, name, *more)).status_code in (200, 404)
    assert browser.get(reverse("models")).context["found"].results == []
    labels = corpus.label_sets.get()
    ScoringFactory(prediction_run__corpus=other)
    asked = browser.get(address(other), {"labels": labels.public_id})
    assert asked.context["choice"].label_set.corpus == other
