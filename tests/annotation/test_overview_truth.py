"""A queue's labels against the profiles: counted by hand, and only for those who may see profiles."""

import csv

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.domain.truth import Judged, Reckoning, Said, as_text, says_outright, searched_for
from annotation.exchange import tables
from annotation.models import Annotation, Decision
from annotation.selectors.overview_truth import against_profiles
from annotation.services import queues
from simulation.domain.attributes import CATALOGUE, TARGETS
from simulation.domain.roles import RIGHTS, Right, Role
from tests.factories.adjudication import NONE, answer, labelers, value
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory

AGE, PLACE, SEX = (CATALOGUE[key] for key in ("age", "city_country", "sex"))


def reckoned(facts, *said, texts=()):
    found = Reckoning(TARGETS, facts)
    for one in said:
        found.take(Said(*one))
    for comment, text in texts:
        found.read(comment, text)
    return found


def test_a_label_is_compared_with_the_fact_as_text():
    found = reckoned(
        {1: {"age": 30, "city_country": "Zurich, Switzerland"}},
        (1, 1, "age", "34", 2),
        (1, 1, "age", "36", 4),
        (1, 2, "city_country", "Switzerland", 3),
        (1, 2, "city_country", "Oslo, Norway", None),
    )
    assert found.attributes["age"].judged == Judged(same=1, different=1)
    assert found.attributes["city_country"].judged == Judged(less_precise=1, different=1)
    assert found.attributes["age"].right == {1}
    assert found.attributes["city_country"].right == set()
    assert [one.n for one in found.hardness.values()] == [0, 1, 1, 1, 0]


def test_what_is_not_known_of_an_author_is_left_out():
    facts = {1: {"age": 30, "sex": "", "education": None}, 2: {"sex": True}}
    found = reckoned(facts, (1, 1, "sex", "male", 1), (2, 2, "age", "30", 1), (3, 3, "age", "30", 1))
    assert list(found.attributes) == ["age"]
    assert (found.attributes["age"].authors, found.attributes["age"].judged.n) == (1, 0)
    assert not any(one.n for one in found.hardness.values())


@pytest.mark.parametrize(
    ("fact", "text"), [(31, "31"), (31.0, "31"), (" a  b ", "a b"), (None, ""), (True, ""), (["x"], "")]
)
def test_a_fact_as_text(fact, text):
    assert as_text(fact) == text


def test_what_is_looked_for_in_a_text():
    assert searched_for(PLACE, "Zurich, Switzerland") == "Zurich"
    assert searched_for(AGE, "31") == "31"
    assert searched_for(SEX, "male") == "male"
    assert searched_for(CATALOGUE["occupation"], "HR") == ""


@pytest.mark.parametrize(
    ("words", "text", "is_there"),
    [
        ("male", "As a MALE nurse", True),
        ("male", "as a female nurse", False),
        ("31", "I turned 31, sadly.", True),
        ("31", "in 1931", False),
        ("31", "it cost 31,000 or 0.31", False),
        ("part-time cook (nights)", "a part-time\ncook (nights), me", True),
        ("São Paulo", "from Sa\u0303o Paulo", True),
    ],
)
def test_only_whole_words_are_outright(words, text, is_there):
    assert says_outright(words, text) is is_there


def test_a_comment_that_gives_the_fact_away_is_counted_once():
    found = reckoned(
        {1: {"age": 31, "occupation": "HR"}},
        (1, 1, "age", "31", 3),
        (1, 1, "age", "40", 1),
        (1, 2, "age", "31", 2),
        (1, 3, "age", "31", 1),
        (1, 1, "occupation", "HR", 1),
        texts=[(1, "31 and in HR"), (2, "still 31"), (3, "not so young"), (4, "31")],
    )
    leak = found.attributes["age"].leak
    assert (leak.comments, leak.outright, leak.hardness_1) == (3, 2, 1)
    assert found.attributes["occupation"].leak.comments == 0


def worked_in(authors=1, name="truth"):
    """A queue in which two people are asked about two comments of each author, 30, from Zurich."""
    corpus = CorpusFactory()
    for _ in range(authors):
        author = ProfileFactory(corpus=corpus, facts={"age": 30, "city_country": "Zurich, Switzerland"})
        for text in ("I am 30.", "Trams everywhere."):
            CommentFactory(thread__corpus=corpus, profile=author, text=text)
    CommentFactory(thread__corpus=corpus, text="I am 30, and nobody knows me.")
    queue = queues.create(by=None, corpus=corpus, name=name, people_per_item=2)
    people = labelers(2)
    for item in queue.items.order_by("position"):
        for person, age, hardness in zip(people, ("33", "52"), (1, 4), strict=True):
            answer(person, item, age=value(age, hardness), city_country=value("Switzerland", 2))
    return queue


@pytest.fixture
def queue(db):
    return worked_in()


def rows(queue):
    return {row.label: row for row in against_profiles(queue).attributes}


def item_saying(queue, words):
    return queue.items.get(comment__text__startswith=words, comment__profile__isnull=False)


@pytest.fixture
def decision(queue, adjudicator):
    """The age of the comment that says it is decided as 70."""
    item = item_saying(queue, "I am 30")
    fields = {"state": "value", "value": "70", "hardness": 5, "reason": "edge", "by": adjudicator}
    return Decision.objects.create(item=item, attribute="age", **fields)


def test_the_labels_of_a_queue_are_counted(queue):
    found = rows(queue)
    assert list(found) == ["Age", "Residence"]
    age, place = found.values()
    assert (age.authors, age.right, age.recall) == (1, 1, 100.0)
    assert age.judged == Judged(same=2, different=2)
    assert (age.same.percent, age.same.interval) == (50.0, (15.0, 85.0))
    assert (place.authors, place.right, place.judged) == (1, 0, Judged(less_precise=4))
    assert (age.leak.comments, age.leak.outright, age.leak.hardness_1) == (2, 1, 1)
    assert (place.leak.comments, place.leak.outright) == (2, 0)
    assert [(row.number, row.judged.n, row.same.percent) for row in against_profiles(queue).hardness] == [
        (1, 2, 100.0),
        (2, 4, 0.0),
        (3, 0, None),
        (4, 2, 0.0),
        (5, 0, None),
    ]


def test_a_decision_counts_instead_of_the_labels(queue, decision):
    age = rows(queue)["Age"]
    assert age.judged == Judged(same=1, different=2)
    assert (age.leak.comments, age.leak.outright, age.leak.hardness_1) == (2, 1, 0)
    assert against_profiles(queue).hardness[4].judged == Judged(different=1)
    Decision.objects.update(state="none", value="", hardness=None)
    age = rows(queue)["Age"]
    assert age.judged == Judged(same=1, different=1)
    assert (age.leak.comments, age.leak.outright) == (1, 0)


def test_answers_over_quota_of_imports_and_of_other_queues_are_left_out(queue):
    item = item_saying(queue, "Trams")
    other = queues.create(by=None, corpus=queue.corpus, name="other", people_per_item=2)
    assert rows(other)["Age"].judged.n == 0
    first, second = item.annotations.order_by("pk")
    Annotation.objects.filter(pk=first.pk).update(over_quota=True)
    assert rows(queue)["Age"].judged == Judged(same=1, different=2)
    Annotation.objects.filter(pk=second.pk).update(person=None, reviewer="import")
    assert rows(queue)["Age"].judged == Judged(same=1, different=1)
    answer(labelers(1)[0], item_saying(other, "Trams"), rest=NONE, age=value("30"))
    assert rows(other)["Age"].judged == Judged(same=1)


def addresses(queue):
    return [reverse("queue_table", args=[queue.public_id, table]) for table in sorted(tables.OF_PROFILES)]


def test_who_may_see_profiles_sees_it_on_the_page_and_as_csv(queue, researcher, client_of):
    client = client_of(researcher)
    page = client.get(reverse("queue_overview", args=[queue.public_id])).content.decode()
    assert "Against the profiles" in page
    assert "Zurich" not in page
    read = {}
    for address in addresses(queue):
        assert address in page
        answer = client.get(address)
        assert answer.status_code == 200
        read[address.rstrip("/").split("/")[-1].removesuffix(".csv")] = list(
            csv.reader(answer.content.decode().splitlines())
        )
    calibration, leakage, truth = read.values()
    assert truth[1:] == [
        ["Age", "1", "1", "100.0", "4", "2", "0", "2", "50.0", "15.0", "85.0"],
        ["Residence", "1", "0", "0.0", "4", "0", "4", "0", "0.0", "0.0", "49.0"],
    ]
    assert calibration[1] == ["1", "2", "2", "0", "0", "100.0", "34.2", "100.0"]
    assert calibration[3] == ["3", "0", "0", "0", "0", "", "", ""]
    assert leakage[1:] == [["Age", "2", "1", "50.0", "1"], ["Residence", "2", "0", "0.0", "0"]]


def test_a_lead_who_may_not_see_profiles_does_not(queue, researcher, client_of, monkeypatch):
    monkeypatch.setitem(RIGHTS, Role.RESEARCHER, RIGHTS[Role.RESEARCHER] - {Right.SEE_PROFILES})
    client = client_of(researcher)
    page = client.get(reverse("queue_overview", args=[queue.public_id]))
    assert page.status_code == 200
    assert "profiles" not in page.content.decode()
    assert page.context["truth"] is None
    for address in addresses(queue):
        assert address not in page.content.decode()
        assert client.get(address).status_code == 404
    assert client.get(reverse("queue_table", args=[queue.public_id, "people"])).status_code == 200


def test_labelers_and_adjudicators_do_not(queue, labeler, adjudicator, client_of):
    for person in (labeler, adjudicator):
        client = client_of(person)
        for address in [reverse("queue_overview", args=[queue.public_id]), *addresses(queue)]:
            assert client.get(address).status_code == 403


@pytest.mark.django_db
def test_it_takes_four_queries_however_much_was_labelled(researcher, client_of):
    client, asked = client_of(researcher), []
    for queue in (worked_in(1, "small"), worked_in(4, "large")):
        with CaptureQueriesContext(connection) as captured:
            against_profiles(queue)
        assert len(captured) == 4
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("queue_overview", args=[queue.public_id]))
        asked.append(len(captured))
    assert asked[0] == asked[1] <= 23
