"""The addresses of this app, by what people do there."""

from evaluation.urls import (
    boards,
    diversity,
    figures,
    inferring,
    judging,
    labels,
    masking,
    quality,
    results,
    scoring,
)

urlpatterns = [
    *boards.urlpatterns,
    *figures.urlpatterns,
    *diversity.urlpatterns,
    *results.urlpatterns,
    *labels.urlpatterns,
    *scoring.urlpatterns,
    *judging.urlpatterns,
    *inferring.urlpatterns,
    *masking.urlpatterns,
    *quality.urlpatterns,
]
