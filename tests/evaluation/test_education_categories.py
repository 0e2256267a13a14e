"""Education by category: read by rules; what they cannot place is a question, for a judge or a person."""

from collections import Counter

import pytest

from evaluation.domain.scoring_education import read_category
from evaluation.domain.verdicts import attribute_of
from evaluation.exchange.released import find
from evaluation.exchange.released_trees import read_degrees, read_facts
from evaluation.models import LabelSet, Opinion, PredictionRun, Question, Scoring, Verdict
from evaluation.services import questions, scoring
from simulation.domain.schooling import schooling
from simulation.models import Run
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import ProfileFactory, RunFactory
from tests.published import FOLDER, needs_published_data

EDUCATION = attribute_of("education")
PLACED = ["PhD", "Bachelor's degree in Botany", "studying towards a Masters", "high school"]
UNPLACED = ["self-taught", "the school of life", "trained by an uncle", "some courses", "a scholar"]


def scored(labels, run, value, guesses, mode, **label):
    profile = ProfileFactory(corpus=labels.corpus)
    ProfileLabelFactory(
        label_set=labels, profile=profile, attribute="education", value=value, hardness=2, **label
    )
    PredictionFactory(prediction_run=run, profile=profile, attribute="education", guesses=guesses)
    made = scoring.score(run, labels, mode)
    return Verdict.objects.get(scoring=made, label__profile=profile)


@pytest.mark.parametrize("guess", PLACED)
def test_the_rules_place_it(guess):
    assert read_category(EDUCATION, guess)


@pytest.mark.parametrize("guess", UNPLACED)
def test_the_rules_do_not_place_it(guess):
    assert read_category(EDUCATION, guess) == ""


@pytest.mark.django_db
@pytest.mark.parametrize("origin", [PredictionRun.ASKED, PredictionRun.IMPORTED])
@pytest.mark.parametrize("guess", UNPLACED)
def test_a_guess_that_rules_cannot_place_is_a_question_that_a_judge_or_a_person_settles(
    corpus, researcher, guess, origin
):
    labels, run = LabelSetFactory(corpus=corpus), PredictionRunFactory(corpus=corpus, origin=origin)
    verdict = scored(labels, run, "Masters in Law", [guess], Scoring.DEFAULT, category="Master's")
    assert verdict.scores == [None]
    (question,) = Question.objects.all()
    assert (question.attribute, question.guess, question.state) == ("education", guess, Question.OPEN)
    judge = RunFactory(corpus=corpus, kind=Run.MATCH)
    questions.judged(judge, None, [(question.pk, 0.5)])
    verdict.refresh_from_db()
    assert (verdict.scores, verdict.rungs) == ([0.5], ["judge"])
    questions.say(question, by=researcher, score=1.0)
    verdict.refresh_from_db()
    assert (verdict.scores, verdict.rungs) == ([1.0], ["person"])
    assert Opinion.objects.filter(question=question).count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("value", UNPLACED)
def test_so_is_a_label_that_rules_cannot_place(corpus, value):
    labels, run = LabelSetFactory(corpus=corpus), PredictionRunFactory(corpus=corpus)
    assert scored(labels, run, value, ["Master's"], Scoring.DEFAULT).scores == [None]
    assert Question.objects.get().truth == value


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("value", "guesses", "scores"),
    [
        ("Masters in Law", ["Master's", "MSc in Chemistry", "PhD"], [1, 1, 0]),
        ("studying towards a Bachelors in Law", ["In College", "high school", "self-taught"], [1, 1, 0]),
        ("self-taught", ["Master's"], [0]),
    ],
)
def test_the_published_rules_compare_categories_read_from_the_words_of_what_was_made_here(
    corpus, value, guesses, scores
):
    labels = LabelSetFactory(corpus=corpus, kind=LabelSet.ROLLED_UP)
    run = PredictionRunFactory(corpus=corpus, origin=PredictionRun.ASKED)
    assert scored(labels, run, value, guesses, Scoring.COMPATIBLE).scores == scores
    assert Question.objects.count() == 0, "they leave nothing open"


@pytest.mark.django_db
def test_of_imported_files_only_the_categories_they_have_count(corpus):
    labels = LabelSetFactory(corpus=corpus, kind=LabelSet.IMPORTED)
    run = PredictionRunFactory(corpus=corpus, origin=PredictionRun.IMPORTED)
    verdict = scored(labels, run, "Masters in Law", ["Master's"], Scoring.COMPATIBLE, category="Master's")
    assert verdict.scores == [0]


@pytest.mark.published
@needs_published_data
def test_the_educations_of_the_published_profiles_are_read_as_they_were_mapped():
    release = find(FOLDER)
    given = {one.key: one.category for one in read_degrees(release.categories)}
    read = {one.key: schooling(one.fields["education"]).category for one in read_facts(release.profiles)}
    as_given = {"In College": "In College/HS Diploma"}
    assert {key: as_given.get(one, one) for key, one in read.items()} == given
    assert Counter(read.values()) == {
        "Master's": 103,
        "College Degree": 90,
        "PhD": 48,
        "In College": 38,
        "HS Diploma": 21,
    }
