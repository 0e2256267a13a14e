"""A judge model settles what rules leave open."""

from django.urls import path

from evaluation.views import judging

urlpatterns = [
    path("corpora/<slug:corpus_id>/settle/judge/", judging.new, name="matching_new"),
]
