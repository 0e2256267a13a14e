"""Addresses of the API under /api/v1/: the person, corpora, profiles, threads, comments, runs."""

from django.urls import path

from simulation.api import comments, corpora, me, profiles, run_start, runs, threads

urlpatterns = [
    path("me/", me.Me.as_view(), name="api_me"),
    path("corpora/", corpora.Corpora.as_view(), name="api_corpora"),
    path("corpora/<slug:corpus_id>/", corpora.OneCorpus.as_view(), name="api_corpus"),
    path("corpora/<slug:corpus_id>/threads/", threads.Threads.as_view(), name="api_threads"),
    path("threads/<slug:thread_id>/", threads.OneThread.as_view(), name="api_thread"),
    path("corpora/<slug:corpus_id>/comments/", comments.Comments.as_view(), name="api_comments"),
    path("comments/<slug:comment_id>/", comments.OneComment.as_view(), name="api_comment"),
    path("corpora/<slug:corpus_id>/profiles/", profiles.Profiles.as_view(), name="api_profiles"),
    path("profiles/<slug:profile_id>/", profiles.OneProfile.as_view(), name="api_profile"),
    path("corpora/<slug:corpus_id>/runs/", run_start.CorpusRuns.as_view(), name="api_run_start"),
    path("corpora/<slug:corpus_id>/dry-runs/", run_start.DryRuns.as_view(), name="api_dry_run"),
    path("presets/", run_start.Presets.as_view(), name="api_presets"),
    path("providers/", run_start.Providers.as_view(), name="api_providers"),
    path("runs/", runs.Runs.as_view(), name="api_runs"),
    path("runs/<slug:run_id>/", runs.OneRun.as_view(), name="api_run"),
    path("runs/<slug:run_id>/events/", runs.RunEvents.as_view(), name="api_run_events"),
    path("runs/<slug:run_id>/control/", runs.RunControl.as_view(), name="api_run_control"),
    path("runs/<slug:run_id>/caps/", runs.RunCaps.as_view(), name="api_run_caps"),
]
