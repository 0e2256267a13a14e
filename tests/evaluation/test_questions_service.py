"""Asking, answering, and what follows from an answer."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.domain.questions import key_of
from evaluation.models import OpenGuess, Opinion, Prediction, Question, Report, Scoring, Verdict
from evaluation.services import questions, reports, scoring
from evaluation.services.questions import Asked, BadAnswer
from evaluation.services.scoring import BadScoring, Recorded
from evaluation.services.scoring_recorded import take_recorded
from simulation.models import AuditEntry
from tests.evaluation.at_once import together
from tests.evaluation.test_scoring_service import labelled
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
    QuestionFactory,
)
from tests.factories.simulation import CorpusFactory, ProfileFactory, RunFactory, UserFactory

pytestmark = pytest.mark.django_db

TRUTH, GUESS = "tuba repairer", "kite maker"


@pytest.fixture
def corpus():
    return CorpusFactory()


@pytest.fixture
def labels(corpus):
    return LabelSetFactory(corpus=corpus)


@pytest.fixture
def waiting(corpus, labels):
    """Two models guess the same at two places; the scorings."""
    profile = ProfileFactory(corpus=corpus)
    ProfileLabelFactory(label_set=labels, profile=profile, attribute="occupation", value=TRUTH)
    made = []
    for guesses in ([GUESS], ["flute seller", GUESS.upper()]):
        run = PredictionRunFactory(corpus=corpus)
        PredictionFactory(prediction_run=run, profile=profile, attribute="occupation", guesses=guesses)
        made.append(scoring.score(run, labels, Scoring.DEFAULT))
    return made


@pytest.fixture
def question(waiting):
    return Question.objects.get(key=key_of("occupation", TRUTH, GUESS))


def states(scorings):
    return [
        (one.open, one.version, one.rows.get().scores)
        for one in Scoring.objects.filter(pk__in=[one.pk for one in scorings]).order_by("pk")
    ]


def test_a_question_is_put_down_once(corpus):
    wanted = [Asked("sex", "male", "man", "why"), Asked("sex", " MALE", "Man  "), Asked("sex", "male", "boy")]
    first = questions.ask(corpus, wanted)
    again = questions.ask(corpus, wanted)
    assert first == again
    assert len(first) == Question.objects.count() == 2
    assert first[key_of("sex", "male", "man")].score is None
    assert questions.ask(CorpusFactory(), wanted).keys() == first.keys()
    assert Question.objects.count() == 4


def test_asking_much_takes_no_more_queries(corpus):
    def count(wanted):
        with CaptureQueriesContext(connection) as found:
            questions.ask(corpus, wanted)
        return len(found)

    few = count([Asked("sex", "male", f"a{number}") for number in range(2)])
    assert count([Asked("sex", "male", f"b{number}") for number in range(300)]) == few


def test_an_answer_reaches_every_guess(question, waiting):
    assert (question.waiting, [one.version for one in waiting]) == (2, [1, 1])
    person = UserFactory()
    asked = questions.say(question, by=person, score=0.5)
    assert (asked.state, asked.score, asked.rung, asked.asked_of_people) == ("settled", 0.5, "person", 1)
    assert states(waiting) == [(0, 2, [0.5]), (1, 2, [None, 0.5])]
    verdict = waiting[0].rows.get()
    assert (verdict.rungs, verdict.reasons) == (["person"], ["a person says less precise"])
    entry = AuditEntry.objects.get(action="question.answered")
    assert (entry.actor, entry.object_id) == (person, question.public_id)


def test_to_withdraw_opens_it_again(question, waiting):
    person = UserFactory()
    before = waiting[0].rows.get().reasons
    questions.say(question, by=person, score=1)
    questions.say(question, by=person, score=None, withdrawn=True)
    question.refresh_from_db()
    assert (question.state, question.score, question.rung, question.asked_of_people) == ("open", None, "", 0)
    assert states(waiting) == [(1, 3, [None]), (1, 3, [None, None])]
    assert waiting[0].rows.get().reasons == before
    assert question.opinions.count() == 2


def test_to_say_the_same_twice_is_to_say_it_once(question, waiting):
    person = UserFactory()
    for _ in range(3):
        questions.say(question, by=person, score=1)
    questions.say(question, by=UserFactory(), score=None, withdrawn=True)
    assert question.opinions.count() == 1
    assert states(waiting)[0] == (0, 2, [1])


def test_people_who_differ_leave_it_disputed_until_one_resolves(question, waiting):
    first, second, third = (UserFactory() for _ in range(3))
    questions.say(question, by=first, score=1)
    assert questions.say(question, by=second, score=0).state == "disputed"
    assert states(waiting)[0][::2] == (1, [None])
    settled = questions.say(question, by=third, score=0, resolves=True)
    assert (settled.state, settled.score, settled.asked_of_people) == ("settled", 0, 3)
    assert states(waiting)[0][::2] == (0, [0])


def test_a_second_opinion_waits_for_the_second(question, waiting):
    first, second = UserFactory(), UserFactory()
    questions.want(question, 2, by=first)
    assert questions.say(question, by=first, score=1).state == "open"
    assert states(waiting)[0][2] == [None]
    assert questions.say(question, by=second, score=1).state == "settled"
    with pytest.raises(BadAnswer, match="between 1 and 9"):
        questions.want(question, 0, by=first)


def test_to_want_less_settles_what_was_said(question):
    person = UserFactory()
    questions.want(question, 2, by=person)
    questions.say(question, by=person, score=1)
    assert questions.want(question, 1, by=person).state == "settled"


@pytest.mark.parametrize("score", [0.3, 2, -1])
def test_other_scores_are_refused(question, score):
    with pytest.raises(BadAnswer, match="a score is 1"):
        questions.say(question, by=UserFactory(), score=score)
    assert not Opinion.objects.exists()


def test_a_judge_is_heard_once_and_overruled(question, waiting, corpus):
    run = RunFactory(corpus=corpus)
    for _ in range(2):
        questions.judged(run, None, [(question.pk, 1.0)])
    assert question.opinions.count() == 1
    assert states(waiting)[0] == (0, 2, [1])
    assert waiting[0].rows.get().rungs == ["judge"]
    questions.judged(run, None, [(question.pk, None)])
    assert states(waiting)[0] == (0, 2, [1])
    questions.say(question, by=UserFactory(), score=0)
    assert (states(waiting)[0][2], waiting[0].rows.get().rungs) == ([0], ["person"])


def test_the_agreeing_person_takes_over_from_the_judge(question, waiting, corpus):
    questions.judged(RunFactory(corpus=corpus), None, [(question.pk, 1.0)])
    questions.say(question, by=UserFactory(), score=1)
    assert waiting[0].rows.get().rungs == ["person"]


def test_boards_are_asked_again_when_something_changed(question, corpus):
    reports.ask_for(corpus, "board", {})
    Report.objects.update(asked_at=None)
    person = UserFactory()
    questions.say(question, by=person, score=None)
    assert Report.objects.get().asked_at is None
    questions.say(question, by=person, score=1)
    assert Report.objects.get().asked_at is not None


def test_what_waits_is_counted_with_labels(corpus, labels):
    one, other = QuestionFactory(corpus=corpus, waiting=9), QuestionFactory(corpus=corpus, waiting=9)
    foreign = QuestionFactory(waiting=9)
    ProfileLabelFactory(label_set=labels, truth_question=one)
    questions.count_waiting(corpus, [one.pk])
    assert waits(one, other, foreign) == [1, 9, 9]
    questions.count_waiting(corpus)
    assert waits(one, other, foreign) == [1, 0, 9]


def test_labels_follow_an_answer_too(corpus, labels):
    one = QuestionFactory(corpus=corpus)
    label = ProfileLabelFactory(label_set=labels, truth_question=one)
    questions.say(one, by=UserFactory(), score=0.5)
    label.refresh_from_db()
    assert (label.truth_score, label.truth_rung) == (0.5, "person")


def waits(*rows):
    return [Question.objects.get(pk=one.pk).waiting for one in rows]


@pytest.mark.django_db(transaction=True)
def test_two_people_at_the_same_moment_are_both_heard(question, waiting):
    people = [UserFactory() for _ in range(4)]
    together(
        *[
            lambda person=person, score=score: questions.say(question, by=person, score=score)
            for person, score in zip(people, [1, 1, 1, 0], strict=True)
        ]
    )
    question.refresh_from_db()
    assert (question.state, question.asked_of_people, question.opinions.count()) == ("disputed", 4, 4)
    assert states(waiting)[0][::2] == (1, [None])


@pytest.mark.django_db(transaction=True)
def test_the_same_person_twice_at_the_same_moment_is_heard_once(corpus):
    """Where no scoring depends on it, whose lock would part them already."""
    question, person = QuestionFactory(corpus=corpus), UserFactory()
    together(*[lambda: questions.say(question, by=person, score=1)] * 4)
    assert question.opinions.count() == 1


@pytest.mark.django_db(transaction=True)
def test_answers_to_questions_of_the_same_scorings_do_not_stand_in_each_others_way(waiting):
    people = [UserFactory() for _ in range(4)]
    keys = list(Question.objects.all())
    together(
        *[lambda person=person: [questions.say(one, by=person, score=1) for one in keys] for person in people]
    )
    assert [one[::2] for one in states(waiting)] == [(0, [1]), (0, [1, 1])]


# What an imported file says


def both(labels, run, rows):
    return scoring.record(run, labels, rows), scoring.score(run, labels, Scoring.DEFAULT)


def test_recorded_scores_answer_where_somebody_was_asked(corpus, labels):
    run = PredictionRunFactory(corpus=corpus)
    some = labelled(labels, run, "occupation", TRUTH, [GUESS, "mender of tubas"])
    none = labelled(labels, run, "occupation", "lamp lighter", ["street sweeper"])
    kept, default = both(
        labels,
        run,
        [Recorded(some.profile_id, "occupation", (0, 1)), Recorded(none.profile_id, "occupation", (0,))],
    )
    taken = take_recorded(kept, default)
    assert (taken.questions, taken.conflicts, taken.silent) == (2, 0, 1)
    assert Verdict.objects.get(scoring=default, label=some).scores == [None, 1]
    verdict = Verdict.objects.get(scoring=default, label=none)
    assert (verdict.scores, verdict.rungs, verdict.reasons) == (
        [0],
        ["recorded"],
        ["an imported file says wrong"],
    )
    assert take_recorded(kept, default) == taken
    assert Opinion.objects.count() == 2
    default.refresh_from_db()
    assert default.open == 1


def test_a_recorded_zero_of_an_age_is_a_rules(corpus, labels):
    run = PredictionRunFactory(corpus=corpus)
    label = labelled(labels, run, "age", "30", ["in the prime of life"])
    kept, default = both(labels, run, [Recorded(label.profile_id, "age", (0,))])
    assert OpenGuess.objects.filter(verdict__scoring=default).exists()
    assert take_recorded(kept, default).questions == 0


def test_scores_that_contradict_each_other_answer_nothing(corpus, labels):
    run = PredictionRunFactory(corpus=corpus)
    pair = [labelled(labels, run, "occupation", TRUTH, [GUESS]) for _ in range(2)]
    rows = [Recorded(one.profile_id, "occupation", (score,)) for one, score in zip(pair, (1, 0), strict=True)]
    kept, default = both(labels, run, rows)
    assert take_recorded(kept, default).conflicts == 1
    assert Question.objects.get().state == "open"


def test_files_that_contradict_each_other_take_back_what_the_first_said(corpus, labels):
    runs = [PredictionRunFactory(corpus=corpus) for _ in range(2)]
    label = labelled(labels, runs[0], "occupation", TRUTH, [GUESS])
    PredictionFactory(prediction_run=runs[1], profile=label.profile, attribute="occupation", guesses=[GUESS])
    found = [
        take_recorded(*both(labels, run, [Recorded(label.profile_id, "occupation", (score,))]))
        for run, score in zip(runs, (1, 0.5), strict=True)
    ]
    assert [one.conflicts for one in found] == [0, 1]
    assert Question.objects.get().state == "open"
    assert {tuple(one.scores) for one in Verdict.objects.filter(scoring__mode="default")} == {(None,)}
    assert "contradict" in found[1].words


def test_what_a_corrected_file_says_no_more_is_withdrawn(corpus):
    one, other, foreign = QuestionFactory(corpus=corpus), QuestionFactory(corpus=corpus), QuestionFactory()
    questions.recorded(foreign.corpus, "a file", [(foreign.pk, 1)])
    questions.recorded(corpus, "b file", [(other.pk, 1)])
    questions.recorded(corpus, "a file", [(one.pk, 1), (other.pk, 0)])
    assert stands(one, other, foreign) == [1, None, 1]
    assert questions.recorded(corpus, "a file", [(one.pk, 0.5)]) == 0
    assert stands(one, other, foreign) == [0.5, 1, 1]
    last = other.opinions.order_by("pk").last()
    assert (last.source, last.note, last.score, last.withdrawn) == ("recorded", "a file", None, True)
    count = Opinion.objects.count()
    questions.recorded(corpus, "a file", [(one.pk, 0.5)])
    assert Opinion.objects.count() == count
    assert questions.recorded(corpus, "a file", [(one.pk, 0.5), (other.pk, 1)]) == 0
    assert stands(one, other) == [0.5, 1]


def stands(*rows):
    return [Question.objects.get(pk=one.pk).score for one in rows]


def test_scores_against_another_set_are_not_withdrawn(corpus, labels):
    run = PredictionRunFactory(corpus=corpus)
    for its, truth in ((labels, TRUTH), (LabelSetFactory(corpus=corpus), "lamp lighter")):
        label = labelled(its, run, "occupation", truth, [GUESS])
        take_recorded(*both(its, run, [Recorded(label.profile_id, "occupation", (0.5,))]))
    assert set(Question.objects.values_list("score", flat=True)) == {0.5}


def test_scorings_that_do_not_belong_together_are_refused(corpus, labels, waiting):
    with pytest.raises(BadScoring, match="same predictions"):
        take_recorded(waiting[0], waiting[1])
    with pytest.raises(BadScoring, match="default rules only"):
        take_recorded(waiting[0], waiting[0])


def test_predictions_are_not_touched(question):
    before = list(Prediction.objects.values_list("guesses", flat=True))
    questions.say(question, by=UserFactory(), score=1)
    assert list(Prediction.objects.values_list("guesses", flat=True)) == before
