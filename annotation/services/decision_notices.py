"""Tells webhooks that items were adjudicated: which ones, never what was decided."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count

from annotation.models import Item
from simulation.domain.webhooks import Event
from simulation.models import Corpus
from simulation.services import webhooks


def tell(*, corpus: Corpus, items: Sequence[int]) -> None:
    """One message an item, and another one when its decisions change; in the transaction that decided."""
    if not items or not webhooks.wanted(corpus_id=corpus.pk, event=Event.ITEM_ADJUDICATED):
        return
    decided = Item.objects.filter(pk__in=items).annotate(changes=Count("decision_events"))
    names = ("public_id", "queue__public_id", "comment__public_id", "changes")
    payloads = {
        f"{item}.{changes}": {"item": item, "queue": queue, "comment": comment, "changes": changes}
        for item, queue, comment, changes in decided.order_by("pk").values_list(*names)
    }
    webhooks.tell_all(corpus=corpus, event=Event.ITEM_ADJUDICATED, payloads=payloads)
