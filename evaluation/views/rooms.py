"""The corpus of an address, within what a person may do there."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest


def corpus_for(request: PersonRequest, public_id: str, right: Right = Right.SEE_PROFILES) -> Corpus:
    """The corpus, where the person has `right` in it. Raises Http404."""
    return get_object_or_404(Corpus.objects.with_right(request.user, right), public_id=public_id)


def may(request: PersonRequest, corpus: Corpus, right: Right) -> bool:
    """Whether the person has `right` in this very corpus, not just somewhere."""
    return Corpus.objects.with_right(request.user, right).filter(pk=corpus.pk).exists()
