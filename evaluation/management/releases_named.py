"""How commands name a corpus and its releases."""

from __future__ import annotations

from django.core.management.base import CommandError

from annotation.exchange.reading import is_text, readable
from evaluation.models import Release
from simulation.models import Corpus

USAGE = 2
ID_HELP = "public id of a release, or its name together with --corpus"


def corpus_named(name: str) -> Corpus:
    """The corpus of this name that is not in the trash. Raises CommandError."""
    there = Corpus.objects.filter(trashed_at=None)
    found = there.filter(name=name.strip()).first() if is_text(name) else None
    if found is None:
        known = ", ".join(there.values_list("name", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no corpus “{readable(name)}”. There are: {known}.", returncode=USAGE)
    return found


def release_named(name: str, corpus: str = "") -> Release:
    """The release with this public id, or of this name in the corpus. Raises CommandError."""
    rows = Release.objects.select_related("corpus").filter(corpus__trashed_at=None)
    if not is_text(name):
        raise CommandError(f"There is no release “{readable(name)}”.", returncode=USAGE)
    found = rows.filter(public_id=name).first()
    if found is None and corpus:
        rows = rows.filter(corpus=corpus_named(corpus))
        found = rows.filter(name=name.strip()).first()
    if found is None:
        known = (
            ", ".join(f"{one.corpus.name} {one.name} ({one.public_id})" for one in rows[:20]) or "none yet"
        )
        hint = "" if corpus else " Add --corpus to name it by its name."
        raise CommandError(
            f"There is no release “{readable(name)}”. There are: {known}.{hint}", returncode=USAGE
        )
    return found
