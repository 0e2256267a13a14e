"""Sets of labels."""

from django.urls import path

from evaluation.views import labels

urlpatterns = [
    path("corpora/<slug:corpus_id>/labels/new/", labels.new, name="label_set_new"),
    path("labels/<slug:set_id>/", labels.one, name="label_set"),
    path("labels/<slug:set_id>.csv", labels.table, name="label_set_table"),
    path("labels/<slug:set_id>/compare/", labels.compare, name="label_set_compare"),
    path("labels/<slug:set_id>/revise/", labels.revise, name="label_set_revise"),
]
