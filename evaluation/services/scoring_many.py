"""Several runs scored in one go, with the baselines that were asked for; how a worker and a command do it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.models import LabelSet, PredictionRun, Scoring
from evaluation.services.baselines import BadBaseline, from_tags, majority_guess
from evaluation.services.scoring import score
from evaluation.services.scoring_recorded import Taken, take_recorded
from simulation.models import User

log = logging.getLogger("synthpai.scoring")


@dataclass(frozen=True)
class Order:
    """What is to be scored: runs against a set by the rules of `modes`, and baselines made before.

    `takes_recorded`: where a file's own scores are there, they answer what the default rules leave open.
    """

    labels: LabelSet
    runs: Sequence[PredictionRun] = ()
    modes: Sequence[str] = (Scoring.DEFAULT,)
    majority: bool = False
    taggers: Sequence[str] = ()
    takes_recorded: bool = False


@dataclass(frozen=True)
class Done:
    """A scoring, and what the file's scores answered in it; None where they were not looked at."""

    scoring: Scoring
    taken: Taken | None = None


def score_all(order: Order, *, by: User | None = None) -> list[Done]:
    """Each scoring in a transaction of its own, so that one that fails leaves the others. Can be repeated.

    A baseline that cannot be made is noted in the log and passed over. Raises BadScoring.
    """
    runs = [*order.runs, *_baselines(order, by)]
    done: list[Done] = []
    for run in {one.pk: one for one in runs}.values():
        for mode in order.modes:
            made = score(run, order.labels, mode, by=by)
            done.append(_with_recorded(made) if order.takes_recorded else Done(made))
    return done


def _baselines(order: Order, by: User | None) -> Iterable[PredictionRun]:
    try:
        if order.majority:
            yield majority_guess(order.labels, by=by)
        for tagger in order.taggers:
            yield from_tags(order.labels.corpus, tagger, by=by)
    except BadBaseline as problem:
        log.warning("%s", problem)


def _with_recorded(made: Scoring) -> Done:
    recorded = Scoring.objects.filter(
        prediction_run=made.prediction_run_id, label_set=made.label_set_id, mode=Scoring.RECORDED
    ).first()
    if recorded is None or made.mode != Scoring.DEFAULT:
        return Done(made)
    taken = take_recorded(recorded, made)
    made.refresh_from_db()
    return Done(made, taken)


def score_by_keys(
    labels: int,
    runs: Sequence[int],
    modes: Sequence[str],
    *,
    majority: bool = False,
    taggers: Sequence[str] = (),
    takes_recorded: bool = False,
    by: int | None = None,
) -> int:
    """As `score_all`, for a worker, which knows keys only; how many scorings. What is gone is passed over."""
    label_set = LabelSet.objects.select_related("corpus").filter(pk=labels).first()
    if label_set is None:
        return 0
    found = PredictionRun.objects.filter(pk__in=runs, corpus=label_set.corpus_id).order_by("name")
    order = Order(label_set, list(found), modes, majority, taggers, takes_recorded)
    return len(score_all(order, by=User.objects.filter(pk=by).first() if by else None))
