"""Every address of the site, gathered from the apps. Each view declares who may use it."""

from django.urls import include, path

from synthpai_web import operations, views

urlpatterns = [
    path("", views.home, name="home"),
    path("operations/", operations.operations, name="operations"),
    path("help/", views.help_page, name="help"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("api/v1/", include("synthpai_web.api_urls")),
    path("", include("simulation.urls")),
    path("", include("annotation.urls")),
    path("", include("evaluation.urls")),
]

handler403 = "synthpai_web.views.forbidden"
handler404 = "synthpai_web.views.not_found"
handler500 = "synthpai_web.views.broken"
