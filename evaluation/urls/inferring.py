"""Asking models about authors."""

from django.urls import path

from evaluation.views import inferring

urlpatterns = [
    path("corpora/<slug:corpus_id>/inference/new/", inferring.new, name="inference_new"),
]
