"""The pages of label sets: making one, what it says of itself, who may see it."""

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import LabelSet, Question
from evaluation.selectors import label_sets as selected
from evaluation.services import label_sets
from tests.evaluation.label_ground import author, comments, content, label, queue_of
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory, VerdictFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
SECRET = "glassblower"


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def new(corpus):
    return reverse("label_set_new", args=[corpus.public_id])


def of(label_set, name="label_set"):
    return reverse(name, args=[label_set.public_id])


@pytest.fixture
def labelled(corpus):
    """One author, two comments, labelled by two people here and by a reviewer of a file."""
    first, second = comments(author(corpus), 2)
    queue_of(corpus)
    lea = UserFactory(username="lea")
    label(first, lea, value="makes bottles", hardness=3)
    label(first, lea, "age", "33", hardness=2)
    label(second, UserFactory(username="max"), "sex", "male", hardness=1)
    label(second, "file a", "city_country", "Norway", hardness=4)
    return first, second


@pytest.fixture
def compared(corpus, labelled):
    made = label_sets.roll_up_corpus(corpus, name="ours", policy="minimum hardness")
    label_sets.compare_with_profiles(made)
    return made


def fields(browser, corpus, kind="rolled_up", **changes):
    form = browser.get(new(corpus), {"kind": kind}).context["form"]
    held = {field.html_name: field.value() for field in form}
    held = {name: value for name, value in held.items() if value not in (None, False, [])}
    return {name: value for name, value in (held | changes).items() if value is not None}


def test_a_set_is_made_by_its_form(client_of, researcher, corpus, labelled):
    browser = client_of(researcher)
    answer = browser.post(new(corpus), fields(browser, corpus, name="first set"), follow=True)
    made = LabelSet.objects.get()
    assert answer.redirect_chain[-1][0] == of(made)
    assert "“first set” is made: 4 labels of 1 profile." in words(answer)
    assert (made.created_by, made.labels, made.policy) == (researcher, 4, "minimum hardness")
    assert fields(browser, corpus)["name"] == "labels 1"


def test_the_choices_of_the_form_reach_the_set(client_of, researcher, corpus, labelled):
    browser = client_of(researcher)
    lea = UserFactory._meta.model.objects.get(username="lea")
    chosen = {"whose": "people", "people": [lea.public_id], "policy": "latest", "use_decisions": None}
    browser.post(new(corpus), fields(browser, corpus, **chosen, several="all agree"))
    made = LabelSet.objects.get()
    assert content(made).keys() == {"age", "occupation"}
    assert made.policy == "latest"
    assert {key: made.recipe[key] for key in ("people", "reviewers", "several", "decisions")} == {
        "people": ["lea"],
        "reviewers": [],
        "several": "all agree",
        "decisions": False,
    }
    browser.post(new(corpus), fields(browser, corpus, whose="imported", reviewers=["file a"]))
    assert content(LabelSet.objects.latest("pk")).keys() == {"city_country"}


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_looking_says_how_many_labels_there_would_be_and_keeps_none(
    client_of, researcher, corpus, labelled, headers
):
    stray = CommentFactory(thread__corpus=corpus)
    label(stray, "file a", value="dyer")
    browser = client_of(researcher)
    sent = fields(browser, corpus, name="", look="1")
    answer = browser.post(new(corpus), sent, headers=headers)
    assert answer.status_code == 200
    assert "Labels 4 Profiles 1 From 4 labels of comments" in words(answer)
    assert "1 values are about comments of 1 author without a profile" in words(answer)
    assert ("<html" in answer.content.decode()) == (not headers)
    assert not LabelSet.objects.exists()


def test_a_form_that_is_wrong_says_where_and_keeps_nothing(client_of, researcher, corpus, compared):
    browser = client_of(researcher)
    for changes, field, message in (
        ({"name": "ours"}, "name", "choose another name"),
        ({"name": " "}, "name", "required"),
        ({"policy": "odd"}, "policy", "valid choice"),
        ({"whose": "people", "arm": "blind"}, None, "No label would come of it"),
    ):
        answer = browser.post(new(corpus), fields(browser, corpus, **changes))
        assert answer.status_code == 422
        errors = answer.context["form"].errors
        assert message in str(errors[field or "__all__"])
        assert message in words(answer)
    assert LabelSet.objects.count() == 1


def test_where_nothing_was_labelled_or_tagged_the_form_says_what_to_do(client_of, researcher, corpus):
    browser = client_of(researcher)
    assert "No comment of this corpus was labelled yet" in words(browser.get(new(corpus)))
    assert "No comment of this corpus was tagged yet" in words(
        browser.get(new(corpus), {"kind": "inherited"})
    )


def test_the_page_says_how_it_was_made_and_how_it_stands(client_of, researcher, compared):
    page = client_of(researcher).get(of(compared))
    said = words(page)
    assert "4 labels of 1 profile." in said
    assert "People everybody" in said
    numbers = page.context["numbers"]
    assert {key: list(row) for key, row in numbers.counts.items()} == {
        "age": [0, 1, 0, 0, 0],
        "sex": [1, 0, 0, 0, 0],
        "city_country": [0, 0, 0, 1, 0],
        "occupation": [0, 0, 1, 0, 0],
    }
    whole = numbers.all
    assert (whole.right, whole.less_precise, whole.wrong, whole.open) == (1, 1, 1, 1)
    assert (whole.n, whole.percent, whole.not_wrong) == (3, 33.3, 66.7)
    assert SECRET in said
    assert "1 is not settled and comes in when they are" in said


def test_shares_have_wilsons_interval_by_attribute_and_a_clustered_one_over_all(corpus):
    made = LabelSetFactory(corpus=corpus)
    for place in range(4):
        profile = author(corpus, f"Author {place}")
        for attribute, score in (("age", 1.0), ("sex", float(place > 1))):
            ProfileLabelFactory(
                label_set=made, profile=profile, attribute=attribute, truth_score=score, truth_rung="rule"
            )
    found = selected.numbers(made)
    by_attribute = dict(found.by_attribute)
    assert by_attribute["sex"].percent == 50
    assert (by_attribute["sex"].interval.low, by_attribute["sex"].interval.high) == (15.0, 85.0)
    assert by_attribute["age"].interval.high == 100
    assert found.all.percent == 75
    assert found.all.interval.low is not None
    assert found.all.interval != by_attribute["sex"].interval
    assert all(truth.is_few for _, truth in found.by_hardness)


def test_one_profile_alone_has_no_clustered_interval(compared):
    found = selected.numbers(compared)
    assert (found.all.interval.low, found.all.interval.words[:14]) == (None, "All items are ")


def test_labels_are_filtered(client_of, researcher, compared):
    browser = client_of(researcher)

    def listed(**asked):
        return {one.row.attribute for one in browser.get(of(compared), asked).context["page"].rows}

    assert listed() == {"age", "sex", "city_country", "occupation"}
    assert listed(attribute="age") == {"age"}
    assert listed(truth="right") == {"age"}
    assert listed(truth="less precise") == {"city_country"}
    assert listed(truth="wrong") == {"sex"}
    assert listed(truth="open") == {"occupation"}
    assert listed(truth="unknown") == set()
    assert listed(hardness="4") == {"city_country"}
    assert listed(hardness="0") == set()
    assert listed(hardness="9", truth="x", attribute="x", after="²") == listed()
    assert "No label of the set is like this" in words(browser.get(of(compared), {"truth": "unknown"}))


def test_the_list_is_paged(compared, monkeypatch):
    monkeypatch.setattr(selected, "LISTED", 3)
    first = selected.listed(compared, selected.Narrowed())
    second = selected.listed(compared, selected.Narrowed(), after=first.after)
    assert (len(first.rows), len(second.rows), second.after) == (3, 1, 0)
    assert len({one.row.pk for one in (*first.rows, *second.rows)}) == 4


def test_the_file_has_every_label_of_the_filter(client_of, researcher, compared):
    browser = client_of(researcher)
    label_set = compared.rows.get(attribute="age")
    label_set.value = "=33"
    label_set.save()

    def rows(**asked):
        answer = browser.get(of(compared, "label_set_table"), asked)
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))

    everything = {row["attribute"]: row for row in rows()}
    assert len(everything) == 4
    assert everything["age"]["value"] == "'=33"
    assert everything["occupation"]["profile_says"] == SECRET
    assert everything["occupation"]["question"] == Question.objects.get().public_id
    assert (everything["sex"]["truth"], everything["sex"]["truth_score"]) == ("wrong", "0.0")
    assert [row["attribute"] for row in rows(truth="wrong")] == ["sex"]


def test_a_set_is_compared_and_revised_by_its_page(client_of, researcher, corpus, labelled):
    made = label_sets.roll_up_corpus(corpus, name="ours", policy="minimum hardness")
    browser = client_of(researcher)
    early = browser.post(of(made, "label_set_revise"), {"name": "revised"})
    assert early.status_code == 422
    assert "compare the set with them first" in words(early)
    answer = browser.post(of(made, "label_set_compare"), {"mode": "default"}, follow=True)
    assert "3 labels are settled, 1 wait for somebody" in words(answer)
    taken = browser.post(of(made, "label_set_revise"), {"name": "ours"})
    assert taken.status_code == 422
    assert "choose another name" in words(taken)
    answer = browser.post(of(made, "label_set_revise"), {"name": "ours, revised"}, follow=True)
    revised = LabelSet.objects.get(kind="revised")
    assert answer.redirect_chain[-1][0] == of(revised)
    assert "2 of 4 labels stay" in words(answer)
    assert (revised.created_by, revised.source) == (researcher, made)
    assert browser.post(of(made, "label_set_compare"), {"mode": "odd"}).status_code == 422


def test_what_was_scored_is_listed_and_says_when_it_is_out_of_date(client_of, researcher, compared):
    row = compared.rows.get(attribute="age")
    VerdictFactory(scoring__label_set=compared, scoring__prediction_run__corpus=compared.corpus, label=row)
    assert "labels changed since" not in words(client_of(researcher).get(of(compared)))
    LabelSet.objects.filter(pk=compared.pk).update(version=compared.version + 1)
    assert "labels changed since" in words(client_of(researcher).get(of(compared)))


def test_who_may_not_see_profiles_gets_nothing(client_of, labeler, adjudicator, corpus, compared):
    for person in (labeler, adjudicator):
        browser = client_of(person)
        for address in (new(corpus), of(compared), of(compared, "label_set_table")):
            assert browser.get(address).status_code == 403
        for name in ("label_set_compare", "label_set_revise"):
            assert browser.post(of(compared, name), {"name": "x"}).status_code == 403


def test_a_researcher_of_another_corpus_finds_nothing(client_of, corpus, compared):
    foreign = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    browser = client_of(foreign)
    for address in (new(corpus), of(compared), of(compared, "label_set_table")):
        assert browser.get(address).status_code == 404
    for address in (new(corpus), of(compared, "label_set_compare"), of(compared, "label_set_revise")):
        assert browser.post(address, {"name": "x"}).status_code == 404
    assert LabelSet.objects.count() == 1


def test_the_number_of_queries_does_not_grow_with_the_set(client_of, researcher, corpus):
    browser, numbers = client_of(researcher), []
    browser.get("/")
    for size in (2, 20):
        made = LabelSetFactory(corpus=corpus)
        for place in range(size):
            profile = author(corpus, f"Author {size} {place}")
            ProfileLabelFactory(label_set=made, profile=profile, truth_score=1, truth_rung="rule")
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(of(made)).status_code == 200
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]
