"""Leaderboards, pairwise differences, references."""

from django.urls import path

from evaluation.views import board_references, boards

urlpatterns = [
    path("models/", boards.models, name="models"),
    path("corpora/<slug:corpus_id>/leaderboard/", boards.leaderboard, name="leaderboard"),
    path("corpora/<slug:corpus_id>/leaderboard/differences/", boards.pairs, name="leaderboard_pairs"),
    path("corpora/<slug:corpus_id>/leaderboard/<slug:table>.csv", boards.table, name="leaderboard_table"),
    path("corpora/<slug:corpus_id>/references/", board_references.references, name="references"),
    path("corpora/<slug:corpus_id>/references/new/", board_references.new, name="reference_new"),
]
