"""Labels against the personas' truth, before and after somebody settles what is open; revised sets."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import LabelSet, ProfileLabel, Question, Scoring
from evaluation.services import label_sets, questions
from evaluation.services.label_sets import BadLabels, Compared
from simulation.models import AuditEntry, Profile
from tests.evaluation.label_ground import author, content
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory, VerdictFactory
from tests.factories.simulation import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def labels(corpus):
    """Of one author: an age that is right, a place that is less precise, a wrong sex, an occupation and an
    income that no rule can tell, the latter not known of the author; and one that does not count."""
    made = LabelSetFactory(corpus=corpus, name="ours", kind=LabelSet.ROLLED_UP, policy="minimum hardness")
    profile = author(corpus)
    for attribute, value, hardness in (
        ("age", "33", 2),
        ("city_country", "Norway", 3),
        ("sex", "male", 1),
        ("occupation", "makes bottles", 4),
        ("income_level", "low", 2),
        ("relationship_status", "single", None),
    ):
        ProfileLabelFactory(
            label_set=made, profile=profile, attribute=attribute, value=value, hardness=hardness
        )
    return made


def scores(label_set):
    return {row.attribute: (row.truth_score, row.truth_rung) for row in label_set.rows.all()}


def settle(score, by=None, **options):
    question = Question.objects.get(attribute="occupation")
    return questions.say(question, by=by or UserFactory(), score=score, **options)


def test_each_label_that_counts_is_scored_by_rule_or_becomes_a_question(labels):
    found = label_sets.compare_with_profiles(labels)
    assert scores(labels) == {
        "age": (1, "rule"),
        "city_country": (0.5, "rule"),
        "sex": (0, "rule"),
        "occupation": (None, ""),
        "income_level": (None, ""),
        "relationship_status": (None, ""),
    }
    assert found == Compared(right=1, less_precise=1, wrong=1, open=1, unknown=1)
    question = Question.objects.get()
    assert (question.truth, question.guess, question.waiting) == ("glassblower", "makes bottles", 1)
    assert labels.rows.get(truth_question=question).attribute == "occupation"
    assert (labels.version, labels.recipe["compared"]) == (2, "default")
    assert AuditEntry.objects.get(action="labels.compared").details["open"] == 1


def test_comparing_again_changes_nothing(labels):
    label_sets.compare_with_profiles(labels)
    before = list(labels.rows.order_by("pk").values())
    label_sets.compare_with_profiles(labels)
    assert list(labels.rows.order_by("pk").values()) == before
    assert (labels.version, Question.objects.count(), Question.objects.get().waiting) == (2, 1, 1)


def test_comparing_again_follows_a_profile_that_was_changed(labels):
    label_sets.compare_with_profiles(labels)
    profile = Profile.objects.get()
    profile.facts |= {"occupation": "makes bottles", "age": 70}
    profile.save()
    label_sets.compare_with_profiles(labels)
    assert scores(labels)["occupation"] == (1, "exact")
    assert scores(labels)["age"] == (0, "rule")
    assert (labels.version, Question.objects.get().waiting) == (3, 0)


def test_a_known_answer_is_taken_at_once(labels, corpus):
    asked = questions.Asked("occupation", "Glassblower", "makes  bottles")
    questions.ask(corpus, [asked])
    settle(0.5)
    found = label_sets.compare_with_profiles(labels)
    assert scores(labels)["occupation"] == (0.5, "person")
    assert (found.open, found.less_precise) == (0, 2)


def test_the_published_rules_leave_nothing_open(labels):
    label_sets.compare_with_profiles(labels, mode=Scoring.COMPATIBLE)
    assert scores(labels)["occupation"] == (0, "similarity")
    assert not Question.objects.exists()
    with pytest.raises(BadLabels, match="no set of rules"):
        label_sets.compare_with_profiles(labels, mode="odd")


def test_scores_that_a_file_recorded_stay(labels):
    rows = labels.rows.filter(attribute__in=("sex", "occupation"))
    rows.update(truth_score=1, truth_rung="recorded")
    found = label_sets.compare_with_profiles(labels)
    assert scores(labels)["sex"] == scores(labels)["occupation"] == (1, "recorded")
    assert (found.kept, found.wrong, found.open) == (2, 0, 0)


def test_labels_follow_an_answer_and_another_one(labels):
    label_sets.compare_with_profiles(labels)
    person = UserFactory()
    for number, score in enumerate((1, 0, None), start=3):
        settle(score, person)
        labels.refresh_from_db()
        assert scores(labels)["occupation"] == (score, "" if score is None else "person")
        assert labels.version == number
    settle(0.5, person)
    settle(None, person, withdrawn=True)
    assert scores(labels)["occupation"] == (None, "")


def test_what_nobody_waits_for_changes_no_set(labels, corpus):
    label_sets.compare_with_profiles(labels)
    other = questions.ask(corpus, [questions.Asked("occupation", "nurse", "medic")])
    label_sets.truth_settled([one.question for one in other.values()])
    label_sets.truth_settled([])
    labels.refresh_from_db()
    assert labels.version == 2


def test_a_revised_set_has_what_is_not_wrong_and_takes_in_what_is_settled_later(labels, researcher):
    label_sets.compare_with_profiles(labels)
    made = label_sets.revise(labels, name="ours, revised", by=researcher)
    assert content(made) == {"age": ("33", 2, 4), "city_country": ("Norway", 3, 4)}
    assert scores(made) == {"age": (1, "rule"), "city_country": (0.5, "rule")}
    assert (made.kind, made.policy, made.source, made.labels, made.profiles) == (
        "revised",
        "minimum hardness",
        labels,
        2,
        1,
    )
    settle(0.5)
    made.refresh_from_db()
    assert content(made)["occupation"] == ("makes bottles", 4, 4)
    assert scores(made)["occupation"] == (0.5, "person")
    assert (made.labels, made.version) == (3, 2)


def test_a_label_that_turns_out_wrong_leaves_the_revised_set_and_the_others_keep_their_verdicts(labels):
    label_sets.compare_with_profiles(labels)
    person = UserFactory()
    settle(1, person)
    made = label_sets.revise(labels, name="revised")
    rows = {row.attribute: row for row in made.rows.all()}
    for attribute in ("age", "occupation"):
        VerdictFactory(
            scoring__label_set=made, scoring__prediction_run__corpus=labels.corpus, label=rows[attribute]
        )
    settle(0, person)
    made.refresh_from_db()
    assert content(made)["occupation"] == ("", None, None), "emptied, as in the published file"
    assert content(made).keys() == {"age", "city_country", "occupation"}
    assert (made.labels, made.version) == (2, 2)
    assert made.rows.get(attribute="age").verdicts.count() == 1
    assert made.rows.get(attribute="occupation").verdicts.count() == 1
    assert ProfileLabel.objects.get(pk=rows["age"].pk).label_set == made


def test_a_label_that_changes_in_the_revised_set_stays_the_same_row(labels):
    label_sets.compare_with_profiles(labels)
    person = UserFactory()
    settle(1, person)
    made = label_sets.revise(labels, name="revised")
    before = made.rows.get(attribute="occupation")
    settle(0.5, person)
    after = made.rows.get(attribute="occupation")
    assert (after.pk, before.truth_score, after.truth_score) == (before.pk, 1, 0.5)


def test_comparing_a_set_anew_renews_what_was_revised_from_it(labels):
    label_sets.compare_with_profiles(labels)
    made = label_sets.revise(labels, name="revised")
    Profile.objects.update(facts={"age": 80, "sex": "male"})
    label_sets.compare_with_profiles(labels)
    made.refresh_from_db()
    assert {key: row for key, row in content(made).items() if row[0]} == {"sex": ("male", 1, 4)}
    assert (made.labels, made.version) == (1, 2)


def test_what_cannot_be_compared_or_revised_is_refused(labels, corpus):
    with pytest.raises(BadLabels, match="compare the set with them first"):
        label_sets.revise(labels, name="revised")
    label_sets.compare_with_profiles(labels)
    with pytest.raises(BadLabels, match="choose another name"):
        label_sets.revise(labels, name="ours")
    made = label_sets.revise(labels, name="revised")
    with pytest.raises(BadLabels, match="nothing to revise"):
        label_sets.revise(made, name="twice")
    with pytest.raises(BadLabels, match="nothing to compare"):
        label_sets.compare_with_profiles(made)
    with pytest.raises(BadLabels, match="no label that counts"):
        label_sets.compare_with_profiles(LabelSetFactory(corpus=corpus, name="empty"))
    assert set(LabelSet.objects.values_list("name", flat=True)) == {"ours", "revised", "empty"}


def test_an_education_is_compared_by_its_level(corpus):
    made = LabelSetFactory(corpus=corpus)
    profile = author(corpus, education="Master of Science in Physics")
    ProfileLabelFactory(label_set=made, profile=profile, attribute="education", value="Master's")
    assert label_sets.compare_with_profiles(made).right == 1


def test_the_number_of_queries_does_not_grow_with_the_labels(corpus):
    numbers = []
    for size in (2, 12):
        made = LabelSetFactory(corpus=corpus)
        for place in range(size):
            profile = author(corpus, f"Author {size} {place}")
            ProfileLabelFactory(label_set=made, profile=profile, value="80")
            ProfileLabelFactory(
                label_set=made, profile=profile, attribute="occupation", value=f"job {size} {place}"
            )
        with CaptureQueriesContext(connection) as comparing:
            label_sets.compare_with_profiles(made)
        for question in Question.objects.filter(guess__startswith=f"job {size}"):
            questions.say(question, by=UserFactory(), score=1)
        with CaptureQueriesContext(connection) as revising:
            label_sets.revise(made, name=f"revised {size}")
        numbers.append((len(comparing), len(revising)))
    assert numbers[0] == numbers[1]
