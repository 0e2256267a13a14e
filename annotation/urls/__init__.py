"""The addresses of this app, by who works there."""

from annotation.urls import adjudication, corpora, queues, review

urlpatterns = [*review.urlpatterns, *adjudication.urlpatterns, *queues.urlpatterns, *corpora.urlpatterns]
