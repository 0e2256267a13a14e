"""COPY speaks like the rest of the database layer."""

import pytest
from django.db import DataError, IntegrityError, transaction

from annotation.exchange.copying import copy_in
from simulation.models import Thread

NAMES = ("corpus_id", "external_id", "source", "target_phrase")


def test_what_the_database_refuses_is_named_as_elsewhere(corpus):
    with pytest.raises(DataError), transaction.atomic():
        copy_in(Thread, NAMES, [(corpus.pk, "x" * 101, "flat", "")])
    with pytest.raises(IntegrityError), transaction.atomic():
        copy_in(Thread, NAMES, [(corpus.pk, "same", "flat", "")] * 2)
