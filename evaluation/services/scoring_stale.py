"""Scorings follow their labels: where a label set has changed since, its runs are scored anew."""

from __future__ import annotations

import logging

from django.db import IntegrityError, OperationalError
from django.db.models import F

from evaluation.models import Scoring
from evaluation.services.scoring import score

AT_ONCE = 50
log = logging.getLogger("synthpai.scoring")


def follow_labels() -> int:
    """Scores anew what was scored against older labels, the oldest first; how many. Asked again, it goes on.

    What a file recorded stays as it is: nobody can score it again. A scoring that cannot be made now, since
    somebody holds what it needs, is left for the next time.
    """
    old = Scoring.objects.exclude(mode=Scoring.RECORDED).exclude(labels_version=F("label_set__version"))
    done = 0
    for one in old.select_related("prediction_run", "label_set").order_by("scored_at")[:AT_ONCE]:
        try:
            score(one.prediction_run, one.label_set, one.mode, by=one.created_by)
            done += 1
        except (OperationalError, IntegrityError):  # somebody replaces what it needs
            log.warning("scoring %s could not be made anew yet", one.public_id)
    return done
