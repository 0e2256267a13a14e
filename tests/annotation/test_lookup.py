"""Typeahead: names of places and occupations from public lists, for those who review."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.factories.simulation import CommentFactory, ProfileFactory


def look(browser, attribute, text=None):
    return browser.get(reverse("review_lookup", args=[attribute]), {} if text is None else {"q": text})


def test_a_labeler_finds_places_and_occupations_by_their_beginning(client_of, labeler):
    browser = client_of(labeler)
    answer = look(browser, "city_country", "wien")
    assert answer.json()["values"][0] == "Vienna, Austria"
    assert answer["Cache-Control"] == "private, max-age=3600"
    assert look(browser, "birth_city_country", "mün").json()["values"][0] == "Munich, Germany"
    assert look(browser, "occupation", "Programm").json()["values"][0] == "software developer"
    assert len(look(browser, "city_country", "s").json()["values"]) == 8


@pytest.mark.parametrize("text", [None, "", "   ", "zzzzzz", "a" * 101, "%_'\"<script>"])
def test_nothing_is_found_for_nothing(client_of, labeler, text):
    assert look(client_of(labeler), "city_country", text).json() == {"values": []}


@pytest.mark.parametrize("attribute", ["age", "sex", "education", "income", "income_level", "nonsense"])
def test_there_is_nothing_to_look_up_for_other_attributes(client_of, labeler, attribute):
    assert look(client_of(labeler), attribute, "x").status_code == 404


def test_who_does_not_review_gets_nothing(client, client_of, stranger, researcher):
    assert look(client, "occupation", "nurse").status_code == 302
    assert look(client_of(stranger), "occupation", "nurse").status_code == 403
    assert look(client_of(researcher), "occupation", "nurse").status_code == 403


def test_suggestions_come_from_lists_and_never_from_the_corpus(client_of, labeler, corpus):
    profile = ProfileFactory(corpus=corpus, facts={"occupation": "xylophone smuggler"})
    CommentFactory(thread__corpus=corpus, profile=profile, text="I am a xylophone smuggler.")
    browser = client_of(labeler)
    with CaptureQueriesContext(connection) as asked:
        assert look(browser, "occupation", "xylo").json() == {"values": []}
    tables = {query["sql"].split("FROM")[1].split()[0].strip('"') for query in asked}
    assert tables <= {"django_session", "simulation_user", "simulation_membership"}
