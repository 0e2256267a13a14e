"""Labelers: the work itself. Fixed words stand before the ids of queues."""

from django.urls import path

from annotation.views import guidelines, keys, lookup, review, review_acts, review_history

urlpatterns = [
    path("review/", review.queues, name="queues"),
    path("review/keys/", keys.review_keys, name="review_keys"),
    path("review/lookup/<slug:attribute>/", lookup.lookup, name="review_lookup"),
    path("review/token/", review_acts.token, name="review_token"),
    path("review/<slug:queue_id>/", review.next_item, name="review"),
    path("review/<slug:queue_id>/guidelines/", guidelines.read, name="review_guidelines"),
    path("review/<slug:queue_id>/skip/", review.skip, name="review_skip"),
    path("review/<slug:queue_id>/history/", review_history.history, name="review_history"),
    path("review/<slug:queue_id>/last/", review_history.last, name="review_last"),
    path("review/<slug:queue_id>/items/<slug:item_id>/", review.item, name="review_item"),
    path("review/<slug:queue_id>/items/<slug:item_id>/draft/", review_acts.draft, name="review_draft"),
    path("review/<slug:queue_id>/items/<slug:item_id>/hold/", review_acts.hold, name="review_hold"),
    path("review/<slug:queue_id>/items/<slug:item_id>/tree/", review_acts.whole_tree, name="review_tree"),
    path("review/<slug:queue_id>/items/<slug:item_id>/flag/", review_acts.flag, name="review_flag"),
    path(
        "review/<slug:queue_id>/items/<slug:item_id>/earlier/", review_history.earlier, name="review_earlier"
    ),
    path("review/<slug:queue_id>/items/<slug:item_id>/later/", review_history.later, name="review_later"),
]
