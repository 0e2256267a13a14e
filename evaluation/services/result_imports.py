"""What people say of a prediction run that its file did not: model, size, which text the model was shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluation.models import Masking, PredictionRun
from simulation.models import User
from simulation.services import audit

SAID = ("model", "family", "parameters", "text", "counterpart", "masking")


class BadDescription(ValueError):
    """What cannot be said of a run; `field` is the one to mend."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def describe(
    run: PredictionRun,
    *,
    by: User,
    model: str,
    family: str = "",
    parameters: Decimal | None = None,
    text: str = PredictionRun.PLAIN,
    counterpart: PredictionRun | None = None,
    masking: Masking | None = None,
) -> PredictionRun:
    """Keeps what is said; nothing happens where it was said already.

    `parameters` is the size in billions. `counterpart` is the run on plain text that a run on anonymised text
    is compared with, `masking` the one whose texts it was shown; of a run that was asked here that is known
    and stays. Raises BadDescription.
    """
    if counterpart is not None:
        _check(run, text, counterpart)
    _check_masking(run, text, masking)
    now = PredictionRun.objects.select_for_update(no_key=True).get(pk=run.pk)
    wanted: dict[str, Any] = dict(
        zip(SAID, (model.strip(), family.strip(), parameters, text, counterpart, masking), strict=True)
    )
    changed = [field for field, value in wanted.items() if getattr(now, field) != value]
    if changed:
        for field in changed:
            setattr(now, field, wanted[field])
        now.save(update_fields=changed)
        audit.record(
            by=by,
            action="prediction_run.described",
            target=now,
            corpus=now.corpus,
            details={"fields": changed},
        )
    return now


def _check(run: PredictionRun, text: str, counterpart: PredictionRun) -> None:
    if text != PredictionRun.ANONYMISED:
        raise BadDescription(
            "counterpart", "only a run on anonymised text is compared with one on plain text"
        )
    if counterpart.corpus_id != run.corpus_id or counterpart.pk == run.pk:
        raise BadDescription("counterpart", "choose another run of this corpus")
    if counterpart.text != PredictionRun.PLAIN:
        raise BadDescription("counterpart", f"“{counterpart.name}” was made from anonymised text, too")


def _check_masking(run: PredictionRun, text: str, masking: Masking | None) -> None:
    if run.origin == PredictionRun.ASKED and masking != run.masking:
        raise BadDescription("masking", "what a run was shown that was asked here is known, and stays")
    if masking is None:
        return
    if masking.corpus_id != run.corpus_id:
        raise BadDescription("masking", "choose a masking of this corpus")
    if text != PredictionRun.ANONYMISED:
        raise BadDescription("masking", "only a run on anonymised text was shown masked texts")
