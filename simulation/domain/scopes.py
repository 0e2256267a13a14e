"""What a personal token may be allowed to do through the API."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """A scope opens a door; whether its person may go through is decided by roles, as on the pages."""

    READ = "read"
    """Read whatever the person may read on the pages."""
    TAG = "tag"
    """Push suggestions of taggers outside."""
    LABEL = "label"
    """Take comments of a queue and submit annotations."""
    IMPORT = "import"
    """Send files into a corpus."""
    RUN = "run"
    """Start and steer runs: they may cost money."""
    RELEASE = "release"
    """Make releases and withdraw them."""
    MANAGE = "manage"
    """Make corpora and queues."""


WORDS: dict[Scope, str] = {
    Scope.READ: "read what I may read",
    Scope.TAG: "push suggestions of a tagger",
    Scope.LABEL: "take comments of a queue and submit labels",
    Scope.IMPORT: "import files",
    Scope.RUN: "start and steer runs (may cost money)",
    Scope.RELEASE: "make releases and withdraw them",
    Scope.MANAGE: "make corpora and queues",
}
