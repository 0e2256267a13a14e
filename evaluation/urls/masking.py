"""Maskings of a corpus."""

from django.urls import path

from evaluation.views import masking, masking_rewriting

urlpatterns = [
    path("corpora/<slug:corpus_id>/masking/", masking.index, name="maskings"),
    path("corpora/<slug:corpus_id>/masking/new/", masking.new, name="masking_new"),
    path("corpora/<slug:corpus_id>/masking/rewrite/", masking_rewriting.new, name="masking_rewrite"),
    path("corpora/<slug:corpus_id>/masking/figure.svg", masking.svg, name="masking_figure"),
    path("corpora/<slug:corpus_id>/masking/table.csv", masking.table, name="maskings_table"),
    path("maskings/<slug:masking_id>/", masking.one, name="masking"),
    path("maskings/<slug:masking_id>/again/", masking.again, name="masking_again"),
    path("maskings/<slug:masking_id>/texts.<slug:kind>", masking.texts, name="masking_texts"),
]
