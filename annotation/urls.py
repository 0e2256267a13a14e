from django.urls import path

from annotation.views import browse, exchange, queues, review, tagging

urlpatterns = [
    path("review/", review.queues, name="queues"),
    path("review/<slug:queue_id>/", review.next_item, name="review"),
    path("review/<slug:queue_id>/skip/", review.skip, name="review_skip"),
    path("review/<slug:queue_id>/history/", review.history, name="review_history"),
    path("review/<slug:queue_id>/items/<slug:item_id>/", review.item, name="review_item"),
    path("corpora/<slug:corpus_id>/", browse.corpus, name="corpus"),
    path("corpora/<slug:corpus_id>/comments/", browse.comments, name="comments"),
    path("corpora/<slug:corpus_id>/queues/new/", queues.create, name="queue_create"),
    path("corpora/<slug:corpus_id>/import/", exchange.imports, name="imports"),
    path("corpora/<slug:corpus_id>/export/", exchange.export, name="export"),
    path("corpora/<slug:corpus_id>/export/download/", exchange.download, name="export_download"),
    path("corpora/<slug:corpus_id>/tagging/new/", tagging.new, name="tagging_new"),
    path("queues/<slug:queue_id>/state/", queues.set_state, name="queue_state"),
    path("imports/<slug:import_id>/", exchange.import_status, name="import_status"),
    path("threads/<slug:thread_id>/", browse.thread, name="thread"),
    path("comments/<slug:comment_id>/", browse.comment, name="comment"),
]
