"""Making a corpus."""

from __future__ import annotations

from django.db import transaction

from simulation.models import Corpus, User
from simulation.services import audit


@transaction.atomic
def create_corpus(*, name: str, by: User | None = None, description: str = "", licence: str = "") -> Corpus:
    """A new, empty corpus; `by` is None for a command of the machine's operator.

    Raises ValidationError for an empty or too long field, IntegrityError for a name that is taken.
    """
    corpus = Corpus(name=name.strip(), description=description, licence=licence)
    corpus.full_clean(validate_unique=False, validate_constraints=False)
    corpus.save()
    audit.record(by=by, action="corpus.created", target=corpus, corpus=corpus)
    return corpus
