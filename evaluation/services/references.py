"""Accuracies from elsewhere are kept, so that leaderboards can be put beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from evaluation.models import Reference
from simulation.models import Corpus, User
from simulation.services import audit


class NameTaken(ValueError):
    """The corpus has a reference of this name already."""


class NothingGiven(ValueError):
    """A reference without a single value."""


@transaction.atomic
def add(
    corpus: Corpus, *, by: User, name: str, values: Mapping[str, Mapping[str, Any]], note: str = ""
) -> Reference:
    """Keeps a reference; `values` as the model has them. Raises NameTaken and NothingGiven."""
    if not values:
        raise NothingGiven
    try:
        with transaction.atomic():
            made = Reference.objects.create(
                corpus=corpus, created_by=by, name=name, values=dict(values), note=note
            )
    except IntegrityError as error:
        raise NameTaken(name) from error
    audit.record(
        by=by, action="reference.added", target=made, corpus=corpus, details={"attributes": len(values)}
    )
    return made
