"""Figures: page, SVG and table of each."""

from django.urls import path

from evaluation.views import figures

urlpatterns = [
    path("corpora/<slug:corpus_id>/figures/", figures.index, name="figures"),
    path("corpora/<slug:corpus_id>/figures/<slug:figure>/", figures.figure, name="figure"),
    path("corpora/<slug:corpus_id>/figures/<slug:figure>.svg", figures.svg, name="figure_svg"),
    path("corpora/<slug:corpus_id>/figures/<slug:figure>.csv", figures.table, name="figure_table"),
]
