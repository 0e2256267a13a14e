"""Everybody: reading a corpus, bringing data in and out, tagging."""

from django.urls import path

from annotation.views import (
    authors,
    browse,
    exchange,
    import_acts,
    import_columns,
    search,
    tag_checks,
    tag_compare,
    tagging,
)

urlpatterns = [
    path("corpora/<slug:corpus_id>/", browse.corpus, name="corpus"),
    path("corpora/<slug:corpus_id>/comments/", search.comments, name="comments"),
    path("corpora/<slug:corpus_id>/comments/bulk/", search.comments_bulk, name="comments_bulk"),
    path("corpora/<slug:corpus_id>/authors/", authors.in_corpus, name="authors"),
    path("corpora/<slug:corpus_id>/import/", exchange.imports, name="imports"),
    path("corpora/<slug:corpus_id>/export/", exchange.export, name="export"),
    path("corpora/<slug:corpus_id>/export/download/", exchange.download, name="export_download"),
    path("corpora/<slug:corpus_id>/tagging/new/", tagging.new, name="tagging_new"),
    path("corpora/<slug:corpus_id>/tags/compare/", tag_compare.compare, name="tag_compare"),
    path("corpora/<slug:corpus_id>/tags/compare/table/", tag_compare.table, name="tag_compare_table"),
    path("corpora/<slug:corpus_id>/tags/checks/", tag_checks.checks, name="tag_checks"),
    path("corpora/<slug:corpus_id>/tags/checks/new/", tag_checks.new, name="tag_check_new"),
    path("corpora/<slug:corpus_id>/tags/checks/<slug:table>.csv", tag_checks.table, name="tag_checks_table"),
    path("imports/<slug:import_id>/", exchange.import_status, name="import_status"),
    path("imports/<slug:import_id>/problems.csv", import_acts.problems, name="import_problems"),
    path("imports/<slug:import_id>/cancel/", import_acts.cancel, name="import_cancel"),
    path("imports/<slug:import_id>/again/", import_acts.again, name="import_again"),
    path("imports/<slug:import_id>/undo/", import_acts.undo, name="import_undo"),
    path("imports/<slug:import_id>/columns/", import_columns.columns, name="import_columns"),
    path("threads/<slug:thread_id>/", browse.thread, name="thread"),
    path("comments/<slug:comment_id>/", browse.comment, name="comment"),
    path("comments/<slug:comment_id>/author/", authors.author, name="author"),
    path("comments/<slug:comment_id>/author/requeue/", authors.requeue, name="author_requeue"),
]
