"""The guidelines of a queue: every change is a version more, none is ever rewritten."""

from __future__ import annotations

from django.db import transaction

from annotation.domain.markdown import clean
from annotation.models import Guideline, Queue
from annotation.selectors.queue_settings import guideline_of
from simulation.models import User
from simulation.services import audit


class Overtaken(Exception):
    """Somebody else saved a version since the page was opened."""

    def __init__(self, current: Guideline) -> None:
        super().__init__(f"version {current.version} was saved meanwhile")
        self.current = current


@transaction.atomic
def add_version(
    *, by: User | None, queue: Queue, text: str, base_version: int | None = None
) -> Guideline | None:
    """Puts `text` (Markdown) in force as the next version; None when it says what is in force already.

    `base_version` is the version that the writer began with (0: none). Raises Overtaken, and changes nothing,
    when another one is in force by now.
    """
    Queue.objects.select_for_update(no_key=True).only("pk").get(pk=queue.pk)
    current = guideline_of(queue)
    text = clean(text)
    if text == (current.text if current else ""):
        return None
    version = current.version if current else 0
    if current and base_version is not None and base_version != version:
        raise Overtaken(current)
    added = Guideline.objects.create(queue=queue, version=version + 1, text=text, by=by)
    audit.record(
        by=by,
        action="guidelines.changed",
        target=queue,
        corpus=queue.corpus,
        details={"version": added.version, "characters": len(text)},
    )
    return added
