"""Label sets and prediction runs that a file fills: each found, made or emptied to be replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Q, QuerySet

from annotation.exchange.problems import brief
from evaluation.exchange.importing_models import about
from evaluation.exchange.importing_reading import LONGEST_NAME, refusal
from evaluation.models import LabelSet, OpenGuess, PredictionRun, Scoring
from evaluation.services import questions
from simulation.models import Corpus, User

NEW, REPLACED, SAME = "new", "replaced", "same"
_UNLINK = """
DELETE FROM evaluation_openguess guess USING evaluation_verdict verdict
    WHERE guess.verdict_id = verdict.id AND verdict.scoring_id = ANY(%s)
"""
_LABELS_OF = "DELETE FROM evaluation_profilelabel WHERE label_set_id = %s"
_GUESSES_OF = "DELETE FROM evaluation_prediction WHERE prediction_run_id = %s"

Kept = TypeVar("Kept", LabelSet, PredictionRun)


@dataclass(frozen=True)
class Origin:
    """The file that is being imported, and how."""

    corpus: Corpus
    path: Path
    digest: str
    by: User | None
    replace: bool


@dataclass
class Target(Generic[Kept]):
    """One set or run that is being filled. Of one that is there from the same bytes nothing is written."""

    kept: Kept
    outcome: str
    rows: int = 0
    counting: int = 0
    """Rows that count for it: labels of hardness 1 and more that have a value; predictions, all."""
    valueless: int = 0
    """Labels of hardness 1 and more without a value."""
    profiles: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def is_written(self) -> bool:
        return self.outcome != SAME


def begin_set(origin: Origin, name: str, reviewer: str) -> Target[LabelSet]:
    """The set of this name: made, emptied to be replaced, or left as it is. Raises Refused."""
    fields = {"kind": LabelSet.IMPORTED, "recipe": {"reviewer": reviewer}}
    found = LabelSet.objects.filter(corpus=origin.corpus, name=name).first()
    if found is None:
        _check_name(origin, name)
        return Target(LabelSet.objects.create(**_of_file(origin, name), **fields), NEW)
    if found.kind == LabelSet.IMPORTED and found.digest == origin.digest:
        return Target(found, SAME)
    _check_replaceable(origin, name, is_imported=found.kind == LabelSet.IMPORTED, noun="label set")
    _empty_set(found)
    found.version += 1
    for key, value in {**_of_file(origin, name), **fields}.items():
        setattr(found, key, value)
    return Target(found, REPLACED)


def begin_run(
    origin: Origin, name: str, model: str, recipe: Mapping[str, Any], shown: Mapping[str, Any] | None = None
) -> Target[PredictionRun]:
    """The run of this name, as `begin_set` does. What people said of the model stays when it is replaced, but
    for what it was `shown`: text, masking and counterpart, where the import says so."""
    found = PredictionRun.objects.filter(corpus=origin.corpus, name=name).first()
    if found is None:
        _check_name(origin, name)
        known = about(model)
        made = PredictionRun.objects.create(
            **_of_file(origin, name),
            model=model,
            family=known.family,
            parameters=known.parameters,
            origin=PredictionRun.IMPORTED,
            recipe=dict(recipe),
            **(shown or {}),
        )
        return Target(made, NEW)
    is_imported = found.origin == PredictionRun.IMPORTED
    if is_imported and found.digest == origin.digest:
        return Target(found, SAME)
    _check_replaceable(origin, name, is_imported=is_imported, noun="prediction run")
    _empty_run(found)
    for key, value in {**_of_file(origin, name), "recipe": dict(recipe), **(shown or {})}.items():
        setattr(found, key, value)
    return Target(found, REPLACED)


def _empty_set(found: LabelSet) -> None:
    waiting = found.rows.filter(truth_question__isnull=False).order_by()
    asked = set(waiting.values_list("truth_question", flat=True).distinct())
    _empty(found.scorings.all(), _LABELS_OF, found.pk, found.corpus, asked)


def _empty_run(found: PredictionRun) -> None:
    said = questions.said_by_file(found.corpus, found.name)
    _empty(found.scorings.all(), _GUESSES_OF, found.pk, found.corpus, set(), said)
    questions.recorded(found.corpus, found.name, [])


def _empty(
    scorings: QuerySet[Scoring],
    statement: str,
    owner: int,
    corpus: Corpus,
    asked: set[int],
    said: Collection[int] = (),
) -> None:
    """Removes scorings, and rows by `statement`, in few statements: Django would load every row to see what
    hangs on it. What questions have waited for is counted anew. First the scorings are locked, with those
    that depend on the questions `said`, in the order that everybody keeps: who is scoring now is waited for.
    """
    depending = OpenGuess.objects.filter(question__in=said).values("verdict__scoring")
    concerned = Scoring.objects.filter(Q(pk__in=scorings.order_by().values("pk")) | Q(pk__in=depending))
    list(concerned.select_for_update().order_by("pk").values_list("pk", flat=True))
    guesses = OpenGuess.objects.filter(verdict__scoring__in=scorings).order_by()
    asked |= set(guesses.values_list("question", flat=True).distinct())
    keys = list(scorings.values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(_UNLINK, [keys])
        cursor.execute("DELETE FROM evaluation_verdict WHERE scoring_id = ANY(%s)", [keys])
        cursor.execute("DELETE FROM evaluation_scoring WHERE id = ANY(%s)", [keys])
        cursor.execute(statement, [owner])
    if asked:
        questions.count_waiting(corpus, asked)


def _of_file(origin: Origin, name: str) -> dict[str, Any]:
    return {
        "corpus": origin.corpus,
        "name": name,
        "file_name": origin.path.name,
        "digest": origin.digest,
        "created_by": origin.by,
    }


def _check_name(origin: Origin, name: str) -> None:
    if name.endswith(" / "):
        raise refusal(origin.path, "name", f"{brief(name)} ends without a name; the file has an empty one")
    if len(name) > LONGEST_NAME:
        said = f"“{name[:60]}…” has {len(name)} characters; at most {LONGEST_NAME} are possible: rename it"
        raise refusal(origin.path, "name", said)


def _check_replaceable(origin: Origin, name: str, *, is_imported: bool, noun: str) -> None:
    if not is_imported:
        said = f"there is a {noun} {brief(name)} that was not imported; choose another name"
        raise refusal(origin.path, "name", said)
    if not origin.replace:
        said = (
            f"{brief(name)} was imported from a file with other contents; say that it is to be replaced "
            f"(its scorings are then removed), or choose another name"
        )
        raise refusal(origin.path, "name", said)


def is_recorded(run: PredictionRun, labels: LabelSet) -> bool:
    """Whether the file's scores for these guesses and labels are there already."""
    return Scoring.objects.filter(prediction_run=run, label_set=labels, mode=Scoring.RECORDED).exists()
