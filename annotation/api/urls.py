"""Addresses of the API under /api/v1/: suggestions, queues, reviewing, annotations, decisions, imports."""

from django.urls import path

from annotation.api import annotations, imports, queues, reviewing, suggestions

CORPUS = "corpora/<slug:corpus_id>"
ITEM = "queues/<slug:queue_id>/items/<slug:item_id>"

urlpatterns = [
    path(f"{CORPUS}/suggestions/", suggestions.Suggestions.as_view(), name="api_suggestions"),
    path(f"{CORPUS}/annotations/", annotations.Annotations.as_view(), name="api_annotations"),
    path(f"{CORPUS}/decisions/", annotations.Decisions.as_view(), name="api_decisions"),
    path(f"{CORPUS}/queues/", queues.QueuesOfCorpus.as_view(), name="api_corpus_queues"),
    path(f"{CORPUS}/imports/", imports.Imports.as_view(), name="api_imports"),
    path("imports/<slug:import_id>/", imports.OneImport.as_view(), name="api_import"),
    path("imports/<slug:import_id>/cancel/", imports.Cancels.as_view(), name="api_import_cancel"),
    path("imports/<slug:import_id>/columns/", imports.Columns.as_view(), name="api_import_columns"),
    path("imports/<slug:import_id>/undo/", imports.Undos.as_view(), name="api_import_undo"),
    path(
        "imports/<slug:import_id>/problems.csv/", imports.ImportProblems.as_view(), name="api_import_problems"
    ),
    path("queues/", queues.Queues.as_view(), name="api_queues"),
    path("queues/<slug:queue_id>/", queues.OneQueue.as_view(), name="api_queue"),
    path("queues/<slug:queue_id>/claims/", reviewing.Claims.as_view(), name="api_claims"),
    path(f"{ITEM}/", reviewing.OneItem.as_view(), name="api_item"),
    path(f"{ITEM}/skip/", reviewing.Skips.as_view(), name="api_skip"),
]
