"""Every address of the API, gathered from the apps; its description; and the answer to an unknown one."""

from django.urls import include, path, re_path

from synthpai_web import api_pages

urlpatterns = [
    path("", include("simulation.api.urls")),
    path("", include("annotation.api.urls")),
    path("", include("evaluation.api.urls")),
    path("schema/", api_pages.Schema.as_view(), name="api_schema"),
    path("docs/", api_pages.reference, name="api_docs"),
    re_path(r"", api_pages.Unknown.as_view(), name="api_unknown"),
]
