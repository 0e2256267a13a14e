"""Releases: made, looked at, taken, compared, withdrawn, sent elsewhere."""

from django.urls import path

from evaluation.views import release_differences, release_files, releases

urlpatterns = [
    path("corpora/<slug:corpus_id>/releases/", releases.index, name="releases"),
    path("corpora/<slug:corpus_id>/releases/new/", releases.new, name="release_new"),
    path("releases/<slug:release_id>/", releases.one, name="release"),
    path("releases/<slug:release_id>/again/", releases.again, name="release_again"),
    path("releases/<slug:release_id>/discard/", releases.discard, name="release_discard"),
    path("releases/<slug:release_id>/withdraw/", releases.withdraw, name="release_withdraw"),
    path("releases/<slug:release_id>/doi/", releases.doi, name="release_doi"),
    path("releases/<slug:release_id>/push/", release_files.push, name="release_push"),
    path("releases/<slug:release_id>/files.zip", release_files.packed, name="release_zip"),
    path("releases/<slug:release_id>/files/<path:name>", release_files.file, name="release_file"),
    path("releases/<slug:release_id>/compare/", release_differences.ask, name="release_compare"),
    path(
        "releases/<slug:release_id>/differences/<slug:old_id>/",
        release_differences.one,
        name="release_difference",
    ),
    path(
        "releases/<slug:release_id>/differences/<slug:old_id>/lines.jsonl",
        release_differences.lines,
        name="release_difference_lines",
    ),
]
