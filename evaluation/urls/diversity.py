"""Diversity of a corpus, and whether its comments are told from others."""

from django.urls import path

from evaluation.views import diversity, realism

urlpatterns = [
    path("corpora/<slug:corpus_id>/diversity/", diversity.page, name="diversity"),
    path("corpora/<slug:corpus_id>/diversity/<slug:table>.csv", diversity.table, name="diversity_table"),
    path("corpora/<slug:corpus_id>/diversity/<slug:figure>.svg", diversity.figure, name="diversity_figure"),
    path("corpora/<slug:corpus_id>/realism/", diversity.realism, name="realism"),
    path("corpora/<slug:corpus_id>/realism/<slug:key>.csv", realism.telling, name="realism_table"),
    path(
        "corpora/<slug:corpus_id>/realism/<slug:key>/<slug:figure>.svg", realism.figure, name="realism_figure"
    ),
    path(
        "corpora/<slug:corpus_id>/realism/<slug:key>/<slug:table>.csv", realism.table, name="realism_numbers"
    ),
]
