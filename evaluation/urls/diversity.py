"""Diversity of a corpus, and whether its comments are told from others."""

from django.urls import path

from evaluation.views import diversity

urlpatterns = [
    path("corpora/<slug:corpus_id>/diversity/", diversity.page, name="diversity"),
    path("corpora/<slug:corpus_id>/diversity/<slug:table>.csv", diversity.table, name="diversity_table"),
    path("corpora/<slug:corpus_id>/diversity/<slug:figure>.svg", diversity.figure, name="diversity_figure"),
    path("corpora/<slug:corpus_id>/realism/", diversity.realism, name="realism"),
    path("corpora/<slug:corpus_id>/realism/<slug:key>.csv", diversity.telling, name="realism_table"),
]
