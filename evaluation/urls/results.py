"""Results on their way in: files of labels and predictions; the runs that are there."""

from django.urls import path

from evaluation.views import results

urlpatterns = [
    path("corpora/<slug:corpus_id>/results/", results.results, name="results"),
    path("corpora/<slug:corpus_id>/results/import/", results.results_import, name="results_import"),
    path("results/imports/<slug:import_id>/", results.result_import, name="result_import"),
    path("predictions/<slug:run_id>/", results.prediction_run, name="prediction_run"),
]
