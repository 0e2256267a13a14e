"""Labels change under a scoring: verdicts are not lost, pages say so, and it is scored anew."""

import pytest

from evaluation.models import OpenGuess, Scoring, Verdict
from evaluation.selectors import boards
from evaluation.services import label_sets, questions, reports, scoring
from evaluation.services.scoring_stale import follow_labels
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(corpus, admin):
    """Four authors whose labels were settled as right, revised and scored."""
    source = LabelSetFactory(corpus=corpus, name="source", kind="rolled_up")
    run = PredictionRunFactory(corpus=corpus)
    for number in range(4):
        author = ProfileFactory(corpus=corpus, facts={"occupation": f"keeper of ferry {number}"})
        label = ProfileLabelFactory(
            label_set=source, profile=author, attribute="occupation", value=f"ferry hand {number}"
        )
        PredictionFactory(prediction_run=run, profile=author, attribute="occupation", guesses=[label.value])
    label_sets.compare_with_profiles(source)
    for one in corpus.questions.all():
        questions.say(one, by=admin, score=1)
    revised = label_sets.revise(source, name="revised")
    return scoring.score(run, revised, Scoring.DEFAULT)


def board(scored):
    corpus = scored.label_set.corpus
    choice = boards.choose(corpus, {"labels": scored.label_set.public_id})
    reports.make(corpus, "board", choice.parameters)
    return boards.load(corpus, choice)


def test_a_slip_and_its_undoing_lose_no_verdict(scored, admin):
    """What a wrong press took out of the revised set comes back with its verdicts."""
    assert board(scored).is_current
    (one, *_) = scored.label_set.corpus.questions.order_by("pk")
    questions.say(one, by=admin, score=0)
    scored.label_set.refresh_from_db()
    assert scored.label_set.labels == 3
    questions.say(one, by=admin, score=None, withdrawn=True)
    questions.say(one, by=admin, score=1)
    scored.label_set.refresh_from_db()
    assert scored.label_set.labels == 4
    assert Verdict.objects.filter(scoring=scored).count() == 4
    assert follow_labels() == 1
    loaded = board(scored)
    assert loaded.is_current
    assert loaded.board.entries[0].overall["top1"].asked.n == 4


def test_a_board_over_older_labels_is_not_current_until_it_is_scored_anew(scored, admin, client_of):
    (one, *_) = scored.label_set.corpus.questions.order_by("pk")
    questions.say(one, by=admin, score=0)
    loaded = board(scored)
    assert not loaded.is_current
    assert loaded.stale == 1
    page = client_of(admin).get(f"/scorings/{scored.public_id}/").content.decode()
    assert "The labels have changed since." in page
    assert follow_labels() == 1
    assert follow_labels() == 0
    loaded = board(scored)
    assert loaded.is_current
    assert loaded.board.labels == loaded.board.entries[0].overall["top1"].asked.n == 3
    page = client_of(admin).get(f"/scorings/{scored.public_id}/").content.decode()
    assert "The labels have changed since." not in page


def test_counts_are_those_of_the_rows_after_it(scored, admin):
    (one, *_) = scored.label_set.corpus.questions.order_by("pk")
    for score in (0, 1, 0):
        questions.say(one, by=admin, score=score)
    follow_labels()
    scored.refresh_from_db()
    assert scored.verdicts == Verdict.objects.filter(scoring=scored).count() == 3
    for question in scored.label_set.corpus.questions.all():
        guesses = OpenGuess.objects.filter(question=question).count()
        assert question.waiting == guesses + question.labels.count()


def test_what_a_file_recorded_is_never_scored_anew(scored):
    Scoring.objects.update(mode=Scoring.RECORDED, labels_version=0)
    assert follow_labels() == 0
    assert not Scoring.objects.get().is_stale
