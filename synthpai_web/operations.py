"""The page that tells an admin of the installation whether it is in good health."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from simulation.domain.roles import Right
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs
from simulation.selectors.people import manages_installation
from synthpai_web import health, retention
from synthpai_web.backups import nightly

LITTLE = 0.1
"""A share of the disk that is left below which the page warns."""


@dataclass(frozen=True)
class Room:
    """The disk below a folder of ours."""

    what: str
    folder: str
    free: int
    share: float

    @property
    def is_little(self) -> bool:
        return self.share < LITTLE


@needs(Right.MANAGE_PEOPLE)
@require_safe
def operations(request: PersonRequest) -> HttpResponse:
    """Parts, workers, queues of messages, disk, backups, what is forgotten when."""
    if not manages_installation(request.user):
        raise PermissionDenied("This page is for admins of the whole installation.")
    now = timezone.now()
    context = {
        "section": "people",
        "checks": health.readiness(),
        "workers": sorted(workers.alive().items()),
        "waiting": _waiting(),
        "rooms": _rooms(),
        "warning": nightly.warning(now),
        "night": nightly.last_night(),
        "backups": nightly.stored(10),
        "backup_folder": nightly.folder(),
        "keep": settings.BACKUP_KEEP,
        "at": settings.BACKUP_AT,
        "on": settings.BACKUP,
        "rules": retention.RULES,
    }
    return render(request, "operations/operations.html", context)


def _waiting() -> list[tuple[str, int | None]]:
    """Queue of messages -> how many wait in it; None where the broker does not answer."""
    found: list[tuple[str, int | None]] = []
    for name in settings.CELERY_TASK_QUEUES_NAMES:
        try:
            found.append((name, int(workers.broker().llen(name))))
        except (RedisError, OSError):
            found.append((name, None))
    return found


def _rooms() -> list[Room]:
    """The disks, each folder by the nearest one above it that is there."""
    rooms = []
    for what, folder in (("Uploads and releases", settings.MEDIA_ROOT), ("Backups", nightly.folder())):
        there = next(one for one in (Path(folder), *Path(folder).parents) if one.exists())
        usage = shutil.disk_usage(there)
        rooms.append(Room(what, str(folder), usage.free, usage.free / usage.total))
    return rooms
