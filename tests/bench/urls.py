"""The site's addresses and the bare pair."""

from django.urls import path

from synthpai_web.urls import urlpatterns as site
from tests.bench import bare

urlpatterns = [
    path("bare/next/", bare.claim, name="bare_next"),
    path("bare/submit/", bare.submit, name="bare_submit"),
    *site,
]
