"""What people say of a prediction run that its file did not: model, size, which text the model was shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluation.models import PredictionRun
from simulation.models import User
from simulation.services import audit

SAID = ("model", "family", "parameters", "text", "counterpart")


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
) -> PredictionRun:
    """Keeps what is said; nothing happens where it was said already.

    `parameters` is the size in billions. `counterpart` is the run on plain text that a run on anonymised text
    is compared with. Raises BadDescription.
    """
    if counterpart is not None:
        _check(run, text, counterpart)
    now = PredictionRun.objects.select_for_update(no_key=True).get(pk=run.pk)
    wanted: dict[str, Any] = dict(
        zip(SAID, (model.strip(), family.strip(), parameters, text, counterpart), strict=True)
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
