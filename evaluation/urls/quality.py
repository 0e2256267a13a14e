"""Label quality: suggestions against people, people against each other, models against people."""

from django.urls import path

from evaluation.views import quality

urlpatterns = [
    path("corpora/<slug:corpus_id>/label-quality/", quality.page, name="label_quality"),
    path(
        "corpora/<slug:corpus_id>/label-quality/<slug:table>.csv", quality.table, name="label_quality_table"
    ),
    path(
        "corpora/<slug:corpus_id>/label-quality/<slug:figure>.svg",
        quality.figure,
        name="label_quality_figure",
    ),
]
