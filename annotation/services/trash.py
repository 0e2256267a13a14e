"""Queues are put into the trash and taken out of it again; the site deletes none.

Nothing else is touched: slots, holds, drafts and answers lie where they were, and work goes on from there.
"""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from annotation.models import Queue
from annotation.selectors import trash
from simulation.domain.typed import require_typed
from simulation.models import User
from simulation.services import audit
from simulation.services.trash import AlreadyDone


@transaction.atomic
def trash_queue(*, by: User, queue: Queue, typed: str) -> Queue:
    """Hide a queue until it is restored; `typed` is its name, as a confirmation. It keeps the name.

    Raises PermissionDenied, NotConfirmed, AlreadyDone.
    """
    locked = _locked(by, queue)
    if locked.trashed_at is not None:
        raise AlreadyDone(f"“{locked.name}” is in the trash already.")
    require_typed(typed, locked.name)
    locked.trashed_at, locked.trashed_by = timezone.now(), by
    locked.save(update_fields=["trashed_at", "trashed_by"])
    audit.record(by=by, action="queue.trashed", target=locked, corpus=locked.corpus)
    return locked


@transaction.atomic
def restore_queue(*, by: User, queue: Queue) -> Queue:
    """Show a queue again, in the state in which it was. Raises PermissionDenied, AlreadyDone."""
    locked = _locked(by, queue)
    if locked.trashed_at is None:
        raise AlreadyDone(f"“{locked.name}” is not in the trash (any more).")
    locked.trashed_at = locked.trashed_by = None
    locked.save(update_fields=["trashed_at", "trashed_by"])
    audit.record(by=by, action="queue.restored", target=locked, corpus=locked.corpus)
    return locked


def _locked(by: User, queue: Queue) -> Queue:
    locked = (
        Queue.objects.select_for_update(no_key=True, of=("self",)).select_related("corpus").get(pk=queue.pk)
    )
    if not trash.trashable_queues(by).filter(pk=locked.pk).exists():
        raise PermissionDenied("Only who manages the queues of this corpus may trash or restore them.")
    return locked
