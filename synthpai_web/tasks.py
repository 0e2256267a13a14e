"""Doors for the worker: what the installation does for itself."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from synthpai_web import retention
from synthpai_web.backups import nightly as backups


@shared_task
def nightly() -> None:
    """The backup of tonight, then what is to be forgotten: in this order, so that it is in the backup once
    more. Where there is no good one, nothing is forgotten tonight."""
    now = timezone.now()
    if settings.BACKUP and not backups.back_up(now=now).ok:
        return
    retention.run(now=now)
