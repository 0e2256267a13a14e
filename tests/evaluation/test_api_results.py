"""Label sets, predictions and the leaderboard for scripts: the numbers of the pages."""

import pytest

from evaluation.models import Prediction, Report
from evaluation.services import reports
from simulation.domain.scopes import Scope
from tests.api import api_of
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
    ScoringFactory,
    VerdictFactory,
)
from tests.factories.simulation import CorpusFactory, MembershipFactory, ProfileFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(corpus):
    profile = ProfileFactory(corpus=corpus)
    labels = LabelSetFactory(corpus=corpus)
    label = ProfileLabelFactory(label_set=labels, profile=profile, attribute="age", value="30", hardness=2)
    run = PredictionRunFactory(corpus=corpus)
    guess = PredictionFactory(prediction_run=run, profile=profile, attribute="age", guesses=["30"])
    PredictionFactory(
        prediction_run=run, profile=profile, attribute="sex", guesses=[], outcome=Prediction.REFUSED
    )
    scoring = ScoringFactory(prediction_run=run, label_set=labels)
    VerdictFactory(scoring=scoring, label=label, prediction=guess, profile=profile)
    return scoring


def test_sets_labels_runs_and_guesses_are_read(researcher, corpus, scored):
    api = api_of(researcher, [Scope.READ])
    at = f"/api/v1/corpora/{corpus.public_id}"
    labels = api.get(f"{at}/label-sets/").json()["results"][0]
    assert api.get(f"/api/v1/label-sets/{labels['id']}/labels/").json()["results"][0]["value"] == "30"
    run = api.get(f"{at}/prediction-runs/").json()["results"][0]
    assert api.get(f"/api/v1/prediction-runs/{run['id']}/").json() == run
    rows = api.get(f"/api/v1/prediction-runs/{run['id']}/predictions/").json()["results"]
    assert [(one["attribute"], one["outcome"], one["guesses"]) for one in rows] == [
        ("age", "answered", ["30"]),
        ("sex", "refused", []),
    ]
    refused = api.get(f"/api/v1/prediction-runs/{run['id']}/predictions/", outcome="refused")
    assert len(refused.json()["results"]) == 1


def test_the_board_is_asked_for_and_then_read(researcher, corpus, scored):
    api = api_of(researcher, [Scope.READ])
    address = f"/api/v1/corpora/{corpus.public_id}/leaderboard/"
    first = api.get(address).json()
    assert (first["lines"], first["is_current"]) == ([], False)
    assert Report.objects.filter(kind="board", asked_at__isnull=False).count() == 1
    reports.make_asked()
    found = api.get(address).json()
    assert found["is_current"]
    assert found["lines"][0]["asked"]["n"] == 1
    assert found["label_set"] == scored.label_set.public_id


@pytest.mark.parametrize("asked", [{"labels": "x" * 12}, {"mode": "compatible"}])
def test_a_board_of_what_was_never_scored_is_not_there(researcher, corpus, scored, asked):
    address = f"/api/v1/corpora/{corpus.public_id}/leaderboard/"
    assert api_of(researcher, [Scope.READ]).get(address, **asked).status_code == 404


def test_the_truth_is_for_who_may_see_profiles_there(labeler, adjudicator, corpus, scored):
    paths = [f"/api/v1/corpora/{corpus.public_id}/{one}/" for one in ("label-sets", "prediction-runs")]
    paths += [f"/api/v1/corpora/{corpus.public_id}/leaderboard/"]
    paths += [f"/api/v1/label-sets/{scored.label_set.public_id}/labels/"]
    paths += [f"/api/v1/prediction-runs/{scored.prediction_run.public_id}/predictions/"]
    foreign = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    for person, status in ((labeler, 403), (adjudicator, 403), (foreign, 404)):
        api = api_of(person, [Scope.READ])
        assert [api.get(path).status_code for path in paths] == [status] * len(paths)
