"""Labels that authors inherit from the tags of models, without any person."""

import pytest

from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet
from evaluation.services import label_sets
from evaluation.services.label_sets import BadLabels
from tests.evaluation.label_ground import author, comments, content
from tests.factories.annotation import SuggestionFactory
from tests.factories.simulation import CommentFactory
from tests.factories.tagging import check, check_run, tag, tagging_run

pytestmark = pytest.mark.django_db


def suggest(comment, attribute, word, certainty=3, **more):
    numbers = {"direct": 1, "indirect": 2, "complicated": 4}
    return SuggestionFactory(
        comment=comment,
        attribute=attribute,
        guesses=["whatever"],
        hardness_word=word,
        hardness=numbers.get(word),
        certainty=certainty,
        **more,
    )


@pytest.mark.parametrize(
    ("policy", "marks", "place"),
    [
        (Policy.MINIMUM_HARDNESS, (1, 2), 1),
        (Policy.MOST_CERTAIN, (4, 5), 0),
        (Policy.LATEST, (2, 3), 2),
        (Policy.MOST_FREQUENT, (1, 2), 1),
    ],
)
def test_the_fact_is_the_label_and_the_policy_chooses_the_tag(corpus, policy, marks, place):
    profile = author(corpus)
    said = comments(profile, 3)
    suggest(said[0], "occupation", "complicated", 5)
    suggest(said[1], "occupation", "direct", 2)
    suggest(said[2], "occupation", "indirect", 3)
    made = label_sets.inherit(corpus, name="inherited", policy=policy)
    assert content(made) == {"occupation": ("glassblower", *marks)}
    row = made.rows.get()
    assert (row.comment, row.truth_score, row.truth_rung) == (said[place], 1, "exact")
    assert (made.kind, made.labels, made.profiles) == ("inherited", 1, 1)


def test_what_is_not_known_or_has_no_known_hardness_gives_no_label(corpus):
    (comment,) = comments(author(corpus), 1)
    suggest(comment, "income_level", "direct")
    suggest(comment, "occupation", "odd")
    suggest(CommentFactory(thread__corpus=corpus), "age", "direct")
    with pytest.raises(BadLabels, match="No label"):
        label_sets.inherit(corpus, name="inherited")
    suggest(comment, "education", "direct", None)
    made = label_sets.inherit(corpus, name="inherited")
    assert content(made) == {"education": ("Master's", 1, None)}
    assert made.rows.get().category == "Master's"
    assert made.recipe["counts"]["unknown"] == 1
    assert LabelSet.objects.count() == 1


def test_tags_are_narrowed_by_tagger_run_and_check(corpus):
    profile = author(corpus)
    first, second = comments(profile, 2)
    run, judge, again = tagging_run(corpus, [first], name="tags"), check_run(corpus), check_run(corpus)
    refused = tag(run, first, "occupation", "medic", hardness_word="direct", hardness=1)
    kept = tag(run, second, "occupation", "glassmaker", hardness_word="complicated", hardness=4)
    suggest(second, "occupation", "indirect", tagger="other")
    check(judge, refused, 1)
    check(again, refused, 0)
    check(judge, kept, 1)

    def hardness(**options):
        name = f"set {LabelSet.objects.count()}"
        return label_sets.inherit(corpus, name=name, **options).rows.get().hardness

    assert hardness(which="every") == 1
    assert hardness() == hardness(which="not refused") == 2
    assert hardness(which="kept") == 4
    assert hardness(run=run, which="every") == 1
    assert hardness(run=run, which="not refused") == 4
    assert hardness(tagger="other") == 2
    with pytest.raises(BadLabels, match="no choice of tags"):
        hardness(which="odd")


def test_looking_says_the_same_and_keeps_nothing(corpus):
    for name in ("Quill", "Rune"):
        suggest(comments(author(corpus, name), 1)[0], "occupation", "direct")
    found = label_sets.inherit_forecast(
        corpus, policy=Policy.MINIMUM_HARDNESS, tagger="", run=None, which="every"
    )
    assert (found.labels, found.profiles, found.by_attribute) == (2, 2, {"occupation": [2, 0, 0, 0, 0]})
    assert not LabelSet.objects.exists()


def test_an_inherited_set_is_neither_compared_nor_revised(corpus):
    suggest(comments(author(corpus), 1)[0], "occupation", "direct")
    made = label_sets.inherit(corpus, name="inherited")
    with pytest.raises(BadLabels, match="nothing to compare"):
        label_sets.compare_with_profiles(made)
    with pytest.raises(BadLabels, match="nothing to revise"):
        label_sets.revise(made, name="revised")
