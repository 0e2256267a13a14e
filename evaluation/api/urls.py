"""Addresses of the API under /api/v1/: label sets, predictions, the leaderboard, releases."""

from django.urls import path

from evaluation.api import boards, releases, results

CORPUS = "corpora/<slug:corpus_id>"

urlpatterns = [
    path(f"{CORPUS}/label-sets/", results.LabelSets.as_view(), name="api_label_sets"),
    path("label-sets/<slug:label_set_id>/labels/", results.Labels.as_view(), name="api_labels"),
    path(f"{CORPUS}/prediction-runs/", results.PredictionRuns.as_view(), name="api_prediction_runs"),
    path("prediction-runs/<slug:run_id>/", results.OnePredictionRun.as_view(), name="api_prediction_run"),
    path("prediction-runs/<slug:run_id>/predictions/", results.Predictions.as_view(), name="api_predictions"),
    path(f"{CORPUS}/leaderboard/", boards.Board.as_view(), name="api_leaderboard"),
    path(f"{CORPUS}/releases/", releases.Releases.as_view(), name="api_releases"),
    path("releases/<slug:release_id>/", releases.OneRelease.as_view(), name="api_release"),
    path("releases/<slug:release_id>/files/", releases.ReleaseFiles.as_view(), name="api_release_files"),
    path(
        "releases/<slug:release_id>/files/<str:name>/",
        releases.OneReleaseFile.as_view(),
        name="api_release_file",
    ),
    path("releases/<slug:release_id>/withdraw/", releases.Withdrawals.as_view(), name="api_withdrawal"),
    path("releases/<slug:release_id>/differences/", releases.Differences.as_view(), name="api_difference"),
]
