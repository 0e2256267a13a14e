"""Communities that models name for threads."""

from django.urls import path

from evaluation.views import communities, naming

urlpatterns = [
    path("corpora/<slug:corpus_id>/communities/", communities.page, name="communities"),
    path("corpora/<slug:corpus_id>/communities/new/", naming.new, name="communities_new"),
    path(
        "corpora/<slug:corpus_id>/communities/<slug:key>.<slug:kind>",
        communities.file,
        name="communities_file",
    ),
]
