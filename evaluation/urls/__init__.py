"""The addresses of this app, by what people do there."""

from evaluation.urls import (
    boards,
    communities,
    diversity,
    figures,
    inferring,
    judging,
    labels,
    lineage,
    masking,
    quality,
    releases,
    results,
    scoring,
)

urlpatterns = [
    *boards.urlpatterns,
    *figures.urlpatterns,
    *diversity.urlpatterns,
    *communities.urlpatterns,
    *results.urlpatterns,
    *releases.urlpatterns,
    *labels.urlpatterns,
    *scoring.urlpatterns,
    *lineage.urlpatterns,
    *judging.urlpatterns,
    *inferring.urlpatterns,
    *masking.urlpatterns,
    *quality.urlpatterns,
]
