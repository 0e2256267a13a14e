"""Scoring prediction runs against label sets: verdicts, questions, what happens when it is done again."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import OpenGuess, Prediction, Question, Scoring, Verdict
from evaluation.services import baselines, questions, scoring
from evaluation.services.question_effects import is_open
from evaluation.services.scoring import BadScoring, Recorded
from tests.evaluation.at_once import together
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import CorpusFactory, ProfileFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus():
    return CorpusFactory()


@pytest.fixture
def labels(corpus):
    return LabelSetFactory(corpus=corpus)


@pytest.fixture
def run(corpus):
    return PredictionRunFactory(corpus=corpus)


def labelled(labels, run, attribute, value, guesses, *, profile=None, hardness=2, **given):
    """A label and, unless `guesses` is None, the prediction for it."""
    profile = profile or ProfileFactory(corpus=labels.corpus)
    category = given.pop("category", "")
    label = ProfileLabelFactory(
        label_set=labels,
        profile=profile,
        attribute=attribute,
        value=value,
        hardness=hardness,
        category=category,
        truth_score=given.pop("truth_score", None),
    )
    if guesses is not None:
        PredictionFactory(prediction_run=run, profile=profile, attribute=attribute, guesses=guesses, **given)
    return label


def scores_of(made, label):
    return Verdict.objects.get(scoring=made, label=label).scores


OPEN = ["street musician", "flute seller", "bus driver", "kite maker"]


def test_every_label_that_counts_gets_one_verdict(labels, run):
    asked = labelled(labels, run, "age", "30", ["33", "50", "30"])
    missing = labelled(labels, run, "sex", "female", None)
    labelled(labels, run, "sex", "male", ["male"], hardness=None)
    made = scoring.score(run, labels, Scoring.COMPATIBLE)
    assert made.verdicts == Verdict.objects.filter(scoring=made).count() == 2
    one = Verdict.objects.get(label=asked)
    assert (one.scores, one.rungs, one.outcome) == ([1, 0, 1], ["rule", "rule", "exact"], "answered")
    assert (one.attribute, one.hardness, one.certainty, one.profile_id) == ("age", 2, 4, asked.profile_id)
    other = Verdict.objects.get(label=missing)
    assert (other.outcome, other.scores, other.prediction) == (Verdict.NOT_ASKED, [], None)


@pytest.mark.parametrize("outcome", [Prediction.REFUSED, Prediction.UNPARSED, Prediction.ERROR])
def test_what_was_not_answered_keeps_its_outcome_and_has_no_scores(labels, run, outcome):
    label = labelled(labels, run, "age", "30", [], outcome=outcome)
    made = scoring.score(run, labels, Scoring.DEFAULT)
    verdict = Verdict.objects.get(label=label)
    assert (verdict.outcome, verdict.scores, made.open) == (outcome, [], 0)


def test_the_first_three_open_guesses_become_questions(labels, run):
    label = labelled(labels, run, "occupation", "tuba repairer", OPEN)
    made = scoring.score(run, labels, Scoring.DEFAULT)
    assert scores_of(made, label) == [None] * 4
    assert list(Question.objects.order_by("pk").values_list("guess", flat=True).distinct()) != []
    assert {one.guess for one in Question.objects.all()} == set(OPEN[:3])
    assert sorted(OpenGuess.objects.values_list("place", flat=True)) == [0, 1, 2]
    assert set(Question.objects.values_list("waiting", flat=True)) == {1}
    assert made.open == 1
    question = Question.objects.first()
    assert question.reason in Verdict.objects.get(label=label).reasons


def test_the_published_rules_leave_nothing_open(labels, run):
    label = labelled(labels, run, "occupation", "tuba repairer", OPEN)
    made = scoring.score(run, labels, Scoring.COMPATIBLE)
    assert scores_of(made, label) == [0, 0, 0, 0]
    assert (made.open, Question.objects.count()) == (0, 0)


def test_models_that_guess_the_same_share_a_question(corpus, labels, run):
    profile = ProfileFactory(corpus=corpus)
    labelled(labels, run, "occupation", "tuba repairer", ["Kite Maker"], profile=profile)
    other = PredictionRunFactory(corpus=corpus)
    PredictionFactory(prediction_run=other, profile=profile, attribute="occupation", guesses=["kite  maker"])
    scoring.score(run, labels, Scoring.DEFAULT)
    scoring.score(other, labels, Scoring.DEFAULT)
    assert Question.objects.get().waiting == 2


def test_a_label_without_a_value_asks_nobody(labels, run):
    label = labelled(labels, run, "occupation", "", ["kite maker"])
    made = scoring.score(run, labels, Scoring.DEFAULT)
    assert (scores_of(made, label), made.open, Question.objects.count()) == ([None], 1, 0)


def test_what_is_known_is_applied_at_once(corpus, labels, run):
    label = labelled(labels, run, "occupation", "tuba repairer", ["kite maker", "mender of tubas"])
    asked = questions.ask(corpus, [questions.Asked("occupation", "tuba repairer", "mender of tubas")])
    (answer,) = asked.values()
    questions.say(Question.objects.get(pk=answer.question), by=UserFactory(), score=1)
    made = scoring.score(run, labels, Scoring.DEFAULT)
    verdict = Verdict.objects.get(label=label)
    assert (verdict.scores, verdict.rungs) == ([None, 1], ["", "person"])
    assert verdict.reasons[1] == "a person says right"
    assert (made.open, made.version) == (1, 1)


def test_scoring_again_replaces_and_grows_the_version(labels, run):
    label = labelled(labels, run, "occupation", "tuba repairer", ["kite maker"])
    first = scoring.score(run, labels, Scoring.DEFAULT)
    old = Question.objects.get()
    Prediction.objects.update(guesses=["flute seller"])
    again = scoring.score(run, labels, Scoring.DEFAULT)
    assert (again.pk, again.version, Verdict.objects.count()) == (first.pk, 2, 1)
    assert Verdict.objects.get(label=label).open_guesses.get().question.guess == "flute seller"
    old.refresh_from_db()
    assert old.waiting == 0


def test_modes_stand_beside_each_other(labels, run):
    labelled(labels, run, "age", "30", ["31"])
    made = {scoring.score(run, labels, mode).pk for mode in (Scoring.DEFAULT, Scoring.COMPATIBLE)}
    assert len(made) == 2


def test_a_set_of_another_corpus_is_refused(run):
    with pytest.raises(BadScoring, match="different corpora"):
        scoring.score(run, LabelSetFactory(), Scoring.DEFAULT)
    assert not Scoring.objects.exists()


@pytest.mark.parametrize("mode", [Scoring.RECORDED, "strict", ""])
def test_rules_that_there_are_not_are_refused(labels, run, mode):
    with pytest.raises(BadScoring, match="default"):
        scoring.score(run, labels, mode)


def test_as_many_queries_for_few_labels_as_for_many(labels, run):
    def count():
        with CaptureQueriesContext(connection) as found:
            scoring.score(run, labels, Scoring.DEFAULT)
        return len(found)

    labelled(labels, run, "occupation", "tuba repairer", ["kite maker"])
    scoring.score(run, labels, Scoring.DEFAULT)
    few = count()
    for number in range(30):
        labelled(labels, run, "occupation", f"repairer of {number} tubas", [f"maker of kite {number}", "x"])
    scoring.score(run, labels, Scoring.DEFAULT)
    assert count() == few


def test_batches_come_together(labels, run, monkeypatch):
    monkeypatch.setattr(scoring, "AT_ONCE", 2)
    kept = [labelled(labels, run, "age", "30", ["30"]) for _ in range(5)]
    made = scoring.score(run, labels, Scoring.DEFAULT)
    assert made.verdicts == 5
    assert {one.pk for one in kept} == set(made.rows.values_list("label", flat=True))


# As a file recorded it


def test_recorded_scores_are_kept_as_given(labels, run):
    exact = labelled(labels, run, "sex", "female", ["female", "male"])
    judged = labelled(labels, run, "occupation", "tuba repairer", ["mender of tubas", "kite maker"])
    more = labelled(labels, run, "age", "30", ["31"])
    unscored = labelled(labels, run, "age", "40", ["41"])
    rows = [
        Recorded(exact.profile_id, "sex", (1, 0)),
        Recorded(judged.profile_id, "occupation", (1, 0)),
        Recorded(more.profile_id, "age", (1, 0, 1)),
        Recorded(more.profile_id, "income_level", (1,)),
    ]
    made = scoring.record(run, labels, rows)
    found = {one.label_id: one for one in made.rows.all()}
    assert made.mode == Scoring.RECORDED
    assert set(found) == {exact.pk, judged.pk, more.pk, unscored.pk}
    assert found[exact.pk].scores == [1, 0]
    assert "recorded" not in found[exact.pk].rungs
    assert (found[judged.pk].scores, found[judged.pk].rungs[0]) == ([1, 0], "recorded")
    assert found[judged.pk].reasons[0] == "the file says so"
    assert (found[more.pk].scores, found[more.pk].rungs) == ([1, 0, 1], ["rule", "recorded", "recorded"])
    assert found[unscored.pk].outcome == Verdict.NOT_ASKED
    assert made.open == 0


def test_a_recorded_score_without_a_prediction_was_answered(labels, run):
    label = labelled(labels, run, "age", "30", None)
    failed = labelled(labels, run, "age", "30", [], outcome=Prediction.UNPARSED)
    made = scoring.record(
        run, labels, [Recorded(label.profile_id, "age", (0.5,)), Recorded(failed.profile_id, "age", (0,))]
    )
    found = {one.label_id: one for one in made.rows.all()}
    assert (found[label.pk].outcome, found[label.pk].scores) == ("answered", [0.5])
    assert found[failed.pk].outcome == "unparsed"


# Several at once


@pytest.mark.django_db(transaction=True)
def test_two_who_score_the_same_leave_one_scoring(labels, run):
    for number in range(20):
        labelled(labels, run, "occupation", f"repairer of {number} tubas", [f"maker of kite {number}"])
    made = together(*[lambda: scoring.score(run, labels, Scoring.DEFAULT)] * 2)
    assert {one.pk for one in made} == {Scoring.objects.get().pk}
    assert Verdict.objects.count() == OpenGuess.objects.count() == 20
    assert Scoring.objects.get().version == 2


@pytest.mark.django_db(transaction=True)
def test_runs_that_share_questions_are_scored_at_once(corpus, labels):
    """In whatever order each comes to them."""
    runs = [PredictionRunFactory(corpus=corpus) for _ in range(3)]
    profiles = [ProfileFactory(corpus=corpus) for _ in range(40)]
    for number, profile in enumerate(profiles):
        ProfileLabelFactory(
            label_set=labels, profile=profile, attribute="occupation", value=f"repairer of {number % 7} tubas"
        )
        for shift, one in enumerate(runs):
            guess = f"maker of kite {(number * (shift + 1)) % 7}"
            PredictionFactory(prediction_run=one, profile=profile, attribute="occupation", guesses=[guess])
    together(*[lambda one=one: scoring.score(one, labels, Scoring.DEFAULT) for one in runs])
    assert OpenGuess.objects.count() == 120
    assert sum(Question.objects.values_list("waiting", flat=True)) == 120


@pytest.mark.django_db(transaction=True)
def test_an_answer_given_while_scoring_is_not_lost(corpus, labels, run):
    for number in range(10):
        labelled(labels, run, "occupation", f"repairer of {number} tubas", [f"maker of kite {number}"])
    scoring.score(run, labels, Scoring.DEFAULT)
    other = PredictionRunFactory(corpus=corpus)
    for one in Prediction.objects.filter(prediction_run=run):
        PredictionFactory(
            prediction_run=other, profile=one.profile, attribute=one.attribute, guesses=one.guesses
        )
    person = UserFactory()

    def answer():
        for one in Question.objects.order_by("-pk"):
            questions.say(one, by=person, score=0.5)

    def again():
        for _ in range(3):
            scoring.score(other, labels, Scoring.DEFAULT)
            scoring.score(run, labels, Scoring.DEFAULT)

    together(answer, again)
    assert {tuple(one.scores) for one in Verdict.objects.all()} == {(0.5,)}
    for one in Scoring.objects.all():
        assert one.open == sum(is_open(row.scores) for row in one.rows.all()) == 0


def sexes(labels, *rows):
    for value, certainty in rows:
        ProfileLabelFactory(
            label_set=labels,
            profile=ProfileFactory(corpus=labels.corpus),
            attribute="sex",
            value=value,
            certainty=certainty,
        )


def firsts(run):
    return [one.guesses[0] for one in run.rows.order_by("profile")]


def test_the_majority_is_of_labels_that_are_certain_enough(labels):
    sexes(labels, *[("female", 2)] * 3, *[("male", 3)] * 2, ("female", None))
    certain = baselines.majority_guess(labels)
    assert firsts(certain) == ["male"] * 6
    assert certain.recipe["min_certainty"] == 3
    assert certain.recipe["note"].startswith("labels of certainty 3 or more; ")
    assert baselines.majority_guess(labels) == certain
    everything = baselines.majority_guess(labels, min_certainty=0)
    assert everything != certain
    assert firsts(everything) == ["female"] * 6
    assert everything.recipe["note"] == baselines.LEFT_OUT


def test_only_a_label_that_was_counted_is_left_out_of_the_majority(labels):
    sexes(labels, ("female", 3), ("male", 3), ("female", 1))
    run = baselines.majority_guess(labels)
    assert [one.guesses for one in run.rows.order_by("profile")] == [["male"], ["female"], ["female", "male"]]


def test_labels_without_any_certainty_all_count_for_the_majority(labels):
    sexes(labels, *[("female", None)] * 3, ("male", None))
    run = baselines.majority_guess(labels)
    assert firsts(run) == ["female"] * 4
    assert run.recipe["min_certainty"] == 0


def test_a_majority_without_a_certain_label_says_so(labels):
    sexes(labels, ("female", 2), ("male", 1))
    with pytest.raises(baselines.BadBaseline, match="certainty of 3"):
        baselines.majority_guess(labels)
