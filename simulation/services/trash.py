"""Corpora are put into the trash and taken out of it again; the site deletes none."""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from simulation.domain.typed import require_typed
from simulation.models import Corpus, User
from simulation.selectors import trash
from simulation.services import audit


class TrashError(Exception):
    """Why it was not done, in a sentence for the person who asked."""


class RunUnderWay(TrashError):
    """A run would go on writing and spending where nobody sees it."""


class AlreadyDone(TrashError):
    """Somebody was quicker, or the button was pressed twice; nothing was changed."""


@transaction.atomic
def trash_corpus(*, by: User, corpus: Corpus, typed: str) -> Corpus:
    """Hide a corpus with everything in it until it is restored; `typed` is its name, as a confirmation.

    Raises PermissionDenied, NotConfirmed, RunUnderWay, AlreadyDone.
    """
    locked = _locked(by, corpus)
    if locked.trashed_at is not None:
        raise AlreadyDone(f"“{locked.name}” is in the trash already.")
    require_typed(typed, locked.name)
    if run := trash.run_under_way(locked):
        raise RunUnderWay(
            f"The run “{run.name}” is {run.state}, and would go on where nobody sees it."
            " Pause or cancel it first."
        )
    locked.trashed_at, locked.trashed_by = timezone.now(), by
    locked.save(update_fields=["trashed_at", "trashed_by"])
    audit.record(by=by, action="corpus.trashed", target=locked, corpus=locked)
    return locked


@transaction.atomic
def restore_corpus(*, by: User, corpus: Corpus) -> Corpus:
    """Show a corpus again, as it was. Raises PermissionDenied, AlreadyDone."""
    locked = _locked(by, corpus)
    if locked.trashed_at is None:
        raise AlreadyDone(f"“{locked.name}” is not in the trash (any more).")
    locked.trashed_at = locked.trashed_by = None
    locked.save(update_fields=["trashed_at", "trashed_by"])
    audit.record(by=by, action="corpus.restored", target=locked, corpus=locked)
    return locked


def _locked(by: User, corpus: Corpus) -> Corpus:
    locked = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    if not trash.trashable_corpora(by).filter(pk=locked.pk).exists():
        raise PermissionDenied("Only an admin of this corpus may put it into the trash or restore it.")
    return locked
