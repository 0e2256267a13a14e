"""make_labels, as scripts call it."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import LabelSet
from tests.evaluation.label_ground import author, comments, content, label, queue_of
from tests.evaluation.test_label_inheriting import suggest
from tests.factories.simulation import UserFactory

pytestmark = pytest.mark.django_db


def run(*options):
    out = io.StringIO()
    call_command("make_labels", "--corpus", *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def labelled(corpus):
    first, second = comments(author(corpus), 2)
    queue_of(corpus)
    label(first, UserFactory(username="lea"), value="makes bottles", hardness=3)
    label(second, "file", "age", "33", hardness=1)
    suggest(second, "sex", "direct")


def test_a_set_is_rolled_up_compared_and_revised(corpus, labelled):
    said = run("winter", "--kind", "rolled_up", "--name", "ours", "--revise", "--json")
    rolled, revised = json.loads(said)
    assert (rolled["labels"], rolled["open"], revised["labels"]) == (2, 1, 1)
    assert content(LabelSet.objects.get(name="ours, revised")) == {"age": ("33", 1, 3)}
    assert "ours 2: 2 labels of 1 profiles, 0 not settled" in run(
        "winter", "--kind", "rolled_up", "--name", "ours 2"
    )


def test_people_and_reviewers_are_chosen_by_name(corpus, labelled):
    run("winter", "--kind", "rolled_up", "--name", "a", "--person", "lea", "--no-imported")
    run("winter", "--kind", "rolled_up", "--name", "b", "--reviewer", "file", "--no-people")
    run("winter", "--kind", "rolled_up", "--name", "c", "--queue", "round 1", "--policy", "latest")
    assert content(LabelSet.objects.get(name="a")).keys() == {"occupation"}
    assert content(LabelSet.objects.get(name="b")).keys() == {"age"}
    assert content(LabelSet.objects.get(name="c")).keys() == {"occupation", "age"}


def test_labels_are_inherited(corpus, labelled):
    run("winter", "--kind", "inherited", "--name", "tags", "--tagger", "imported")
    assert content(LabelSet.objects.get()) == {"sex": ("female", 1, 3)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("summer", "--kind", "inherited", "--name", "x"), "no corpus 'summer'; there are: winter"),
        (("winter", "--kind", "rolled_up", "--name", "x", "--person", "max"), "'max'; there are: lea"),
        (("winter", "--kind", "rolled_up", "--name", "x", "--queue", "q"), "'q'; there are: round 1"),
        (("winter", "--kind", "rolled_up", "--name", "x", "--reviewer", "f"), "'f'; there are: file"),
        (("winter", "--kind", "inherited", "--name", "x", "--run", "r"), "'r'; there are: none"),
        (("winter", "--kind", "rolled_up", "--name", " "), "cannot be blank"),
        (("winter", "--kind", "rolled_up", "--name", "x", "--arm", "blind", "--no-imported"), "No label"),
    ],
)
def test_wrong_usage_says_what_there_is_and_keeps_nothing(corpus, labelled, options, message):
    with pytest.raises(CommandError, match=message) as problem:
        run(*options)
    assert problem.value.returncode == 2
    assert not LabelSet.objects.exists()
