"""Where labels come from."""

from django.urls import path

from evaluation.views import lineage

urlpatterns = [
    path("comments/<slug:comment_id>/lineage/<slug:attribute>/", lineage.of_comment, name="comment_lineage"),
    path("releases/<slug:release_id>/lineage/", lineage.of_release, name="lineage"),
]
