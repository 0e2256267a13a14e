"""What people add to a release that is ready: a DOI, a withdrawal. What it is made of never changes."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from evaluation.domain.citing import BadDoi, doi_of
from evaluation.models import Release
from simulation.domain.typed import require_typed
from simulation.models import User
from simulation.services import audit

LONGEST_NOTICE = 2_000


class Refused(ValueError):
    """What cannot be done so; `field` is the one to mend, "" for the whole."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def withdraw(release: Release, *, by: User | None, notice: str, typed: str) -> Release:
    """Says of a ready release that it should not be used any more, and why. The files stay as they are.

    Raises Refused; NotConfirmed where `typed` is not its name.
    """
    now = _ready(release)
    if now.withdrawn_at:
        raise Refused("", f"Release {now.name} was withdrawn already, on {now.withdrawn_at:%Y-%m-%d}.")
    plain = notice.strip()
    if not plain:
        raise Refused("notice", "Say why, and what to use instead: everybody who has the release reads it.")
    if len(plain) > LONGEST_NOTICE:
        raise Refused("notice", f"The notice has {len(plain)} characters; at most {LONGEST_NOTICE} are kept.")
    require_typed(typed, now.name)
    now.withdrawn_at, now.withdrawn_by, now.notice = timezone.now(), by, plain
    now.save(update_fields=["withdrawn_at", "withdrawn_by", "notice"])
    audit.record(by=by, action="release.withdrawn", target=now, corpus=now.corpus)
    return now


@transaction.atomic
def set_doi(release: Release, *, by: User | None, doi: str, typed: str = "") -> Release:
    """Keeps the DOI under which a ready release is known elsewhere; nothing happens where it is that already.

    One that is there is changed only by who types the release's name: people may have cited it. Raises
    Refused, NotConfirmed.
    """
    now = _ready(release)
    try:
        wanted = doi_of(doi)
    except BadDoi as error:
        raise Refused("doi", str(error)) from None
    if wanted == now.doi:
        return now
    if not wanted:
        raise Refused("doi", "A DOI is never taken back; it can be corrected.")
    before = now.doi
    if before:
        require_typed(typed, now.name)
    now.doi = wanted
    now.save(update_fields=["doi"])
    audit.record(
        by=by,
        action="release.doi_changed" if before else "release.doi_set",
        target=now,
        corpus=now.corpus,
        details={"doi": wanted, **({"before": before} if before else {})},
    )
    return now


def _ready(release: Release) -> Release:
    """The row, locked. Raises Refused for one without files."""
    now = (
        Release.objects.select_for_update(no_key=True, of=("self",))
        .select_related("corpus")
        .get(pk=release.pk)
    )
    if now.state != Release.READY:
        raise Refused("", f"Release {now.name} is {now.state}: only one that is ready can be changed so.")
    return now
