"""A worker makes a release: into a folder of its own, which takes its place when all files are whole.

A worker may be killed at any moment. While one is at work its connection holds a lock of the release's own,
which is no row lock and no transaction: the files are read in a transaction that must be their own. The lock
goes with the connection, and the sweep finds it free and the row unfinished. Whoever comes to the end changes
the row only if nobody has begun anew meanwhile (`started_at`), and moves the folder in the same transaction:
of two there is one winner. A folder without a row that is ready means nothing, and is removed.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from evaluation.domain.releasing import BadQuery
from evaluation.exchange import release_files
from evaluation.exchange.release_verifying import MANIFEST, digest_of
from evaluation.models import Release
from simulation.domain.webhooks import Event
from simulation.models import new_public_id
from simulation.services import audit, webhooks

ATTEMPTS = 3
UNHEARD = timedelta(seconds=60)
LOCK = 0x5352
"""First half of the advisory lock's key; the second is the row."""
STOPPED = (
    "It stopped on an error of ours; nothing was released. The server's log has the details: tell whoever"
    " runs this installation."
)
OPEN = (Release.QUEUED, Release.RUNNING)
log = logging.getLogger("synthpai.releases")


class Stopped(Exception):
    """The release is not to be made any more; the message says why."""


def root() -> Path:
    """Where the folders of releases lie."""
    return Path(settings.MEDIA_ROOT) / "releases"


def folder_of(release: Release) -> Path:
    """Where the files of a release lie, or will."""
    return root() / str(release.public_id)


@contextmanager
def held(key: int) -> Iterator[bool]:
    """Whether the release is ours until the end, or until this connection is lost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, key])
        mine = bool(cursor.fetchone()[0])
    try:
        yield mine
    finally:
        if mine:
            _let_go(key)


def _let_go(key: int) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, key])
    except (OperationalError, InterfaceError):  # the lock has gone with the connection
        log.warning("the database was lost while a release was made", extra={"release": key})


def make(release_id: int) -> None:
    """Writes the files of a release that nobody else is making; does nothing for one that is over."""
    waiting = Release.objects.filter(pk=release_id, state__in=OPEN)
    with held(release_id) as mine:
        if not mine or not waiting.update(
            state=Release.RUNNING, started_at=timezone.now(), attempts=F("attempts") + 1
        ):
            return
        release = Release.objects.select_related("corpus").get(pk=release_id)
        _clear(release)
        if release.attempts > ATTEMPTS:
            _fail(release, f"The worker was lost {ATTEMPTS} times while making it.")
        else:
            _try(release)


def _try(release: Release) -> None:
    unfinished = root() / f".{release.public_id}.{new_public_id()}"
    unfinished.mkdir(parents=True, mode=0o700)
    folder = unfinished / "files"
    try:
        release_files.write(release, folder, check=_checking(release))
        _finish(release, folder)
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except (Stopped, BadQuery, release_files.NothingToRelease) as error:
        _fail(release, str(error))
    except OSError as error:
        log.exception("release %s cannot be written", release.public_id)
        _fail(release, f"The files cannot be written: {error.strerror or error}. Make room, and try again.")
    except Exception:  # a fault of ours has no name yet; the row must end, whatever it is
        log.exception("release %s stopped", release.public_id)
        _fail(release, STOPPED)
    finally:
        _remove(unfinished)


def _checking(release: Release) -> Callable[[], None]:
    """To be called now and then: raises Stopped where the release is not wanted any more."""

    def check() -> None:
        mine = Release.objects.filter(pk=release.pk, state=Release.RUNNING, started_at=release.started_at)
        if not mine.exists():
            raise Stopped("Somebody else has taken it over.")
        if mine.filter(corpus__trashed_at__isnull=False).exists():
            raise Stopped("The corpus was put into the trash meanwhile. Restore it, and try again.")

    return check


@transaction.atomic
def _finish(release: Release, folder: Path) -> None:
    """The row and the folder, together: only for whoever began last."""
    mine = Release.objects.select_for_update(of=("self",)).select_related("corpus")
    now = mine.filter(pk=release.pk, state=Release.RUNNING, started_at=release.started_at).first()
    if now is None:
        return
    now.manifest = json.loads((folder / MANIFEST).read_bytes())
    now.digest = digest_of(folder / MANIFEST)
    now.size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    place = folder_of(now)
    _remove(place)
    folder.replace(place)
    now.folder = place.relative_to(settings.MEDIA_ROOT).as_posix()
    now.state, now.reason, now.ended_at = Release.READY, "", timezone.now()
    now.save(update_fields=["manifest", "digest", "size", "folder", "state", "reason", "ended_at"])
    audit.record(
        by=now.by,
        action="release.made",
        target=now,
        corpus=now.corpus,
        details={"digest": now.digest, "bytes": now.size},
    )
    _tell(now)


@transaction.atomic
def _fail(release: Release, reason: str) -> None:
    mine = Release.objects.filter(pk=release.pk, state=Release.RUNNING, started_at=release.started_at)
    if mine.update(state=Release.FAILED, reason=reason, ended_at=timezone.now()):
        _tell(Release.objects.select_related("corpus").get(pk=release.pk))


def _tell(release: Release) -> None:
    """Whoever wants to know, once for each try that came to an end."""
    payload = {"release": str(release.public_id), "state": release.state, "digest": release.digest}
    began = release.started_at.timestamp() if release.started_at else 0
    about = f"{release.public_id}.{began:.6f}"
    webhooks.tell(corpus=release.corpus, event=Event.RELEASE_READY, about=about, payload=payload)


def _clear(release: Release) -> None:
    """Removes what workers that were killed have left of a release that is not ready."""
    for left in [*root().glob(f".{release.public_id}.*"), folder_of(release)]:
        _remove(left)


def so_far(release: Release) -> tuple[int, int]:
    """How many files of a release that is being made are begun, and their bytes."""
    sizes = []
    for path in root().glob(f".{release.public_id}.*/*/*"):
        with suppress(FileNotFoundError):  # it has just been moved to its place
            sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes)


def _remove(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def stale() -> list[int]:
    """Releases that nobody is making although they are not over: their message or worker was lost."""
    before = timezone.now() - UNHEARD
    lost = Q(state=Release.QUEUED, created_at__lt=before) | Q(state=Release.RUNNING, started_at__lt=before)
    keys = Release.objects.filter(lost, corpus__trashed_at=None).values_list("pk", flat=True)
    return [key for key in keys if _is_free(key)]


def _is_free(key: int) -> bool:
    with held(key) as mine:
        return mine
