"""Profiles of a corpus, for those who may see the truth about its authors."""

from django.db.models import Count

from simulation.models import Corpus, Profile, User


def in_corpus(person: User, corpus: Corpus, *, after: int = 0, size: int = 100) -> list[Profile]:
    """Up to `size` + 1 profiles behind key `after`, with the number of their comments."""
    rows = Profile.objects.visible_to(person).filter(corpus=corpus, pk__gt=after)
    return list(rows.annotate(n_comments=Count("comments")).order_by("pk")[: size + 1])
