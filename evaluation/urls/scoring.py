"""Scoring, and settling what rules leave open."""

from django.urls import path

from evaluation.views import scoring, settling

urlpatterns = [
    path("corpora/<slug:corpus_id>/scoring/new/", scoring.new, name="scoring_new"),
    path("scorings/<slug:scoring_id>/", scoring.scoring, name="scoring"),
    path("scorings/<slug:scoring_id>.csv", scoring.table, name="scoring_table"),
    path("scorings/<slug:scoring_id>/difference/", scoring.difference, name="scoring_difference"),
    path("corpora/<slug:corpus_id>/settle/", settling.settle, name="settle"),
    path("corpora/<slug:corpus_id>/settled/", settling.settled, name="settled"),
    path("questions/<slug:question_id>/", settling.question, name="question"),
    path("questions/<slug:question_id>/answer/", settling.answer, name="question_answer"),
]
