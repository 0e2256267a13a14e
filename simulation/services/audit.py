"""Writes down what a person with power over others' work did."""

from collections.abc import Mapping
from typing import Any, Protocol

from simulation.models import AuditEntry, Corpus, User


class Addressed(Protocol):
    """Anything with a public id."""

    @property
    def public_id(self) -> Any: ...


def record(
    *,
    by: User | None,
    action: str,
    target: Addressed,
    corpus: Corpus | None = None,
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """One entry, in the transaction of the act itself: both happen or neither.

    `by` is None for a command of the machine's operator. `action` reads "noun.verb", as "role.granted".
    `details` hold public ids, roles and numbers; never an address, a name or a text, because an entry
    cannot be erased.
    """
    return AuditEntry.objects.create(
        actor=by,
        action=action,
        object_type=type(target).__name__.lower(),
        object_id=target.public_id,
        corpus_id_text=corpus.public_id if corpus else "",
        details=dict(details or {}),
    )
