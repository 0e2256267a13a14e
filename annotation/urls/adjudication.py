"""Adjudicators: what annotators see differently."""

from django.urls import path

from annotation.views import adjudication

urlpatterns = [
    path("adjudication/", adjudication.queues, name="adjudication"),
    path("adjudication/<slug:queue_id>/", adjudication.queue, name="adjudication_queue"),
    path("adjudication/<slug:queue_id>/settle/", adjudication.settle, name="adjudication_settle"),
    path("adjudication/<slug:queue_id>/items/<slug:item_id>/", adjudication.item, name="adjudicate"),
    path(
        "adjudication/<slug:queue_id>/items/<slug:item_id>/truth/",
        adjudication.truth,
        name="adjudicate_truth",
    ),
]
