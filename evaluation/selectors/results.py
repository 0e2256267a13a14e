"""Label sets and prediction runs of a corpus, with what was scored of them; the guesses of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Count, Prefetch, QuerySet

from evaluation.models import LabelSet, Prediction, PredictionRun, ResultImport, Scoring
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus

LISTED = 50
GUESSES = 50
LATEST = 10

One = TypeVar("One", LabelSet, PredictionRun)


@dataclass(frozen=True)
class Page(Generic[One]):
    """Rows in order of name. `after`: public id behind which the next page begins, "" on the last."""

    rows: Sequence[One]
    total: int
    after: str = ""


def label_sets(corpus: Corpus, *, after: str = "") -> Page[LabelSet]:
    """A page of the corpus' label sets, each with the number of its scorings (`n_scorings`)."""
    rows = LabelSet.objects.filter(corpus=corpus).select_related("source")
    return _page(rows.annotate(n_scorings=Count("scorings")), after)


def prediction_runs(corpus: Corpus, *, after: str = "", model: str = "") -> Page[PredictionRun]:
    """A page of the corpus' runs, or of those of one model, each with its scorings (`scored`)."""
    scorings = Scoring.objects.select_related("label_set").order_by("label_set__name", "mode")
    rows = PredictionRun.objects.filter(corpus=corpus)
    if model:
        rows = rows.filter(model=model)
    return _page(rows.prefetch_related(Prefetch("scorings", queryset=scorings, to_attr="scored")), after)


def models(corpus: Corpus) -> list[str]:
    """The names of models of which there are runs."""
    runs = PredictionRun.objects.filter(corpus=corpus).order_by("model")
    return list(runs.values_list("model", flat=True).distinct())


def _page(rows: QuerySet[One], after: str) -> Page[One]:
    total = rows.count()
    ordered = rows.order_by("name")
    if after and (marker := rows.filter(public_id=after).first()):
        ordered = ordered.filter(name__gt=marker.name)
    found = list(ordered[: LISTED + 1])
    more = found[LISTED - 1].public_id if len(found) > LISTED else ""
    return Page(found[:LISTED], total, str(more))


def latest_imports(corpus: Corpus) -> Sequence[ResultImport]:
    """The newest uploads."""
    return list(ResultImport.objects.filter(corpus=corpus).select_related("by")[:LATEST])


@dataclass(frozen=True)
class Tally:
    """How many guesses of a run there are for an attribute, and how many have no answer."""

    attribute: str
    n: int
    unanswered: int


def tallies(run: PredictionRun) -> list[Tally]:
    """By attribute, in the catalogue's order; one query."""
    counted = run.rows.order_by().values_list("attribute", "outcome").annotate(n=Count("pk"))
    found: dict[str, list[int]] = {}
    for attribute, outcome, n in counted:
        both = found.setdefault(attribute, [0, 0])
        both[0] += n
        both[1] += n if outcome != Prediction.ANSWERED else 0
    order = [*(key for key in CATALOGUE if key in found), *sorted(found.keys() - CATALOGUE.keys())]
    return [Tally(key, *found[key]) for key in order]


@dataclass(frozen=True)
class Guesses:
    """A page of predictions. `after`: key behind which the next begins, 0 on the last."""

    rows: Sequence[Prediction]
    after: int = 0


def guesses(run: PredictionRun, *, attribute: str = "", outcome: str = "", after: int = 0) -> Guesses:
    """One page in the order of the file; one query."""
    rows = run.rows.filter(pk__gt=after).select_related("profile").order_by("pk")
    if attribute:
        rows = rows.filter(attribute=attribute)
    if outcome:
        rows = rows.filter(outcome=outcome)
    found = list(rows[: GUESSES + 1])
    return Guesses(found[:GUESSES], found[GUESSES - 1].pk if len(found) > GUESSES else 0)


def counterparts(run: PredictionRun) -> QuerySet[PredictionRun]:
    """The runs on plain text that it can be compared with."""
    runs = PredictionRun.objects.filter(corpus=run.corpus, text=PredictionRun.PLAIN)
    return runs.exclude(pk=run.pk).order_by("name")
