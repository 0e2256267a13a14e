"""What follows an inference run that is done: its guesses are scored against the labels it asked about."""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import Exists, OuterRef

from evaluation.models import LabelSet, PredictionRun, Scoring
from evaluation.services import scoring
from simulation.domain.run_states import RunState
from simulation.services import engine

log = logging.getLogger("synthpai.runs")


def follow_inferences() -> list[Scoring]:
    """Scores the runs that are done and not scored since. Asked twice, it scores each once.

    A run of which steps were tried again is done again later, and scored again.
    """
    since = Scoring.objects.filter(
        prediction_run=OuterRef("pk"), mode=Scoring.DEFAULT, scored_at__gte=OuterRef("run__ended_at")
    )
    waiting = PredictionRun.objects.filter(
        ~Exists(since),
        origin=PredictionRun.ASKED,
        run__state=RunState.DONE,
        run__plan__labels__isnull=False,
        corpus__trashed_at=None,
        predictions__gt=0,
    ).exclude(run__plan__labels=None)
    found = []
    for pk in waiting.order_by("pk").values_list("pk", flat=True):
        try:
            if one := _once(pk):
                found.append(one)
        except Exception:  # a fault of ours has no name yet; the runs behind this one must not wait for it
            log.exception("prediction run %s could not be scored", pk)
    return found


@transaction.atomic
def _once(pk: int) -> Scoring | None:
    """Whoever locks the row scores it; others pass on."""
    locked = PredictionRun.objects.select_for_update(skip_locked=True, of=("self",)).select_related(
        "run", "corpus"
    )
    one = locked.filter(pk=pk).first()
    if one is None or one.run is None:
        return None
    labels = LabelSet.objects.filter(corpus=one.corpus, public_id=one.run.plan["labels"]).first()
    done = Scoring.objects.filter(prediction_run=one, mode=Scoring.DEFAULT, scored_at__gte=one.run.ended_at)
    if labels is None or done.exists():
        return None
    made = scoring.score(one, labels, Scoring.DEFAULT, by=one.created_by)
    engine.tell(one.run, f"Scored against {labels.name}: {made.verdicts} labels, {made.open} of them open.")
    return made
