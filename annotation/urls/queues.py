"""Leads: making, steering and watching queues."""

from django.urls import path

from annotation.views import gold, guidelines, holds, overview, queue_settings, queues, trash

urlpatterns = [
    path("corpora/<slug:corpus_id>/queues/new/", queues.create, name="queue_create"),
    path("queues/<slug:queue_id>/", overview.overview, name="queue_overview"),
    path("queues/<slug:queue_id>/tables/<slug:table>.csv", overview.table, name="queue_table"),
    path("queues/<slug:queue_id>/people/<slug:person_id>/", overview.person, name="queue_person"),
    path("queues/<slug:queue_id>/holds/release/", holds.release, name="queue_release"),
    path("queues/<slug:queue_id>/holds/release-ended/", holds.release_ended, name="queue_release_ended"),
    path("queues/<slug:queue_id>/holds/reassign/", holds.reassign, name="queue_reassign"),
    path("queues/<slug:queue_id>/reopen/", holds.reopen, name="queue_reopen"),
    path("queues/<slug:queue_id>/reopen-skipped/", holds.reopen_skipped, name="queue_reopen_skipped"),
    path("queues/<slug:queue_id>/state/", queues.set_state, name="queue_state"),
    path("queues/<slug:queue_id>/settings/", queue_settings.settings, name="queue_settings"),
    path("queues/<slug:queue_id>/people/", queue_settings.people, name="queue_people"),
    path("queues/<slug:queue_id>/guidelines/", guidelines.edit, name="queue_guidelines"),
    path("queues/<slug:queue_id>/gold/", gold.items, name="queue_gold"),
    path("queues/<slug:queue_id>/gold/remove/", gold.remove, name="queue_gold_remove"),
    path("queues/<slug:queue_id>/trash/", trash.queue_trash, name="queue_trash"),
    path("queues/<slug:queue_id>/restore/", trash.queue_restore, name="queue_restore"),
    path("corpora/<slug:corpus_id>/trash/", trash.corpus_trash, name="corpus_trash"),
    path("corpora/<slug:corpus_id>/restore/", trash.corpus_restore, name="corpus_restore"),
    path("trash/", trash.trash_list, name="trash"),
]
