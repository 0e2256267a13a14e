"""One file of results on its way in: a transaction, targets that are filled, scores that wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError, OperationalError, connection, transaction

from annotation.exchange.problems import Problem
from annotation.exchange.upsert import lock
from evaluation.domain.paper.records import Row
from evaluation.exchange import importing_targets as targets
from evaluation.exchange.importing_reading import Reader, Refused, plain, refusal
from evaluation.exchange.importing_stores import Spool
from evaluation.exchange.importing_targets import SAME, Origin, Target
from evaluation.exchange.released import Skipped, digest
from evaluation.models import LabelSet, PredictionRun, Scoring
from evaluation.services import scoring
from simulation.models import Corpus, User
from simulation.services import audit

log = logging.getLogger(__name__)

MOST = 50
"""Reviewers, models, or pairs of them, that one file may name. The published ones name three."""
LABELS, GUESSES, SCORES = "labels", "guesses", "recorded scores"


MEANWHILE = ("23503", "23505", "40P01")
"""What PostgreSQL calls a link that leads nowhere, a name that is there twice, and a deadlock: somebody else
has changed the same rows meanwhile."""
UNFORESEEN = "the database refuses a value in it that no check foresaw; nothing was changed, ask an admin"
BUSY = "is being scored at the moment; try again"


class NothingInIt(Refused):
    """A file of profiles without a label or a guess."""

    def __init__(self, path: Path, field: str, message: str) -> None:
        super().__init__([Problem(path.name, None, field, message)])


@dataclass(frozen=True)
class Made:
    """One label set, prediction run or scoring. `outcome`: new, replaced, or same (nothing to do)."""

    kind: str
    name: str
    outcome: str
    rows: int
    public_id: str


@dataclass
class Imported:
    """What became of one file. `rows`: profiles that were read, 0 where it was known already."""

    file: str
    rows: int = 0
    made: list[Made] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    notes: list[str] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """Whether everything in it was there already, from the same bytes."""
        return all(one.outcome == SAME for one in self.made)

    @property
    def written(self) -> int:
        """Rows that were written."""
        return sum(one.rows for one in self.made if one.outcome != SAME)


def _check_links() -> None:
    """Has the database look at all links between rows now, not only when everything is over."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


class Work:
    """One file on its way in. A kind of file says what is made of its lines."""

    def __init__(self, corpus: Corpus, path: Path, by: User | None, skip: bool, replace: bool) -> None:
        self.made = Imported(path.name)
        self.path = path
        self.corpus, self.by, self.replace = corpus, by, replace
        self.reader = Reader(corpus, path, skip=skip)
        self.sets: dict[str, Target[LabelSet]] = {}
        self.runs: dict[str, Target[PredictionRun]] = {}
        self.spools: dict[tuple[str, str], Spool] = {}

    def done(self, work: Callable[[], None]) -> Imported:
        """Does the work in a transaction, one import of a corpus at a time. Raises Refused."""
        try:
            with ExitStack() as stack, transaction.atomic():
                stack.callback(self._close)
                lock(self.corpus)
                self.origin = Origin(self.corpus, self.path, digest(self.path), self.by, self.replace)
                work()
                _check_links()
        except OSError as error:
            raise refusal(self.path, "", f"cannot be read: {error.strerror}") from None
        except (DataError, IntegrityError, OperationalError) as error:
            if getattr(error.__cause__, "sqlstate", "") in MEANWHILE:
                raise refusal(self.path, "", BUSY) from error
            if isinstance(error, OperationalError):
                raise
            log.exception("import of %s refused by the database", self.path.name)
            raise refusal(self.path, "", UNFORESEEN) from error
        self.made.skipped = self.reader.skipped
        self.made.rows = self.reader.rows
        return self.made

    def _close(self) -> None:
        for spool in self.spools.values():
            spool.close()

    def keep_scores(self, profile: int, row: Row) -> None:
        """Puts the scores of a row aside."""
        for who, kinds in row.evaluations.items():
            for kind, scores in kinds.items():
                if (who, kind) not in self.spools:
                    self._check_number(len(self.spools), "evaluations")
                    self.spools[who, kind] = Spool()
                self.spools[who, kind].add(profile, scores)

    def set_of(self, name: str, reviewer: str) -> Target[LabelSet]:
        """The set of a reviewer, begun when it is first met."""
        if reviewer not in self.sets:
            self._check_number(len(self.sets), "reviews")
            self.sets[reviewer] = targets.begin_set(self.origin, f"{name} / {plain(reviewer)}", reviewer)
        return self.sets[reviewer]

    def run_of(
        self,
        key: str,
        name: str,
        model: str,
        recipe: Mapping[str, Any],
        shown: Mapping[str, Any] | None = None,
    ) -> Target[PredictionRun]:
        """The run under `key`, begun when it is first met."""
        if key not in self.runs:
            self._check_number(len(self.runs), "predictions")
            self.runs[key] = targets.begin_run(self.origin, name, model, recipe, shown)
        return self.runs[key]

    def _check_number(self, there: int, field: str) -> None:
        if there >= MOST:
            said = f"names more than {MOST} people or models; check that this is the right file"
            raise refusal(self.path, field, said)

    def finish(self) -> None:
        """Counts and what was skipped, on every set and run that was written."""
        shown = [
            {"line": one.line, "field": one.field, "message": one.message}
            for one in self.reader.skipped.problems
        ]
        total = self.reader.skipped.total
        parts = {"parts": len(self.sets) + len(self.runs)}
        more = {"skipped_in_all": total} if total > len(shown) else {}
        for labels in self.sets.values():
            kept = labels.kept
            if labels.is_written:
                kept.labels, kept.profiles, kept.skipped = labels.counting, labels.profiles, shown
                kept.recipe = {**kept.recipe, **parts, **more}
                kept.save()
            self._tell(LABELS, labels, labels.kept.labels)
        for who, run in self.runs.items():
            guesses = run.kept
            if run.is_written:
                guesses.predictions, guesses.profiles, guesses.skipped = run.rows, run.profiles, shown
                left_out = {"left_out": dict(run.left_out)} if run.left_out else {}
                scores = self._scores_of(who, guesses)
                guesses.recipe = {**guesses.recipe, **parts, **more, **left_out, **scores}
                guesses.save()
            self._tell(GUESSES, run, guesses.predictions)

    def _scores_of(self, who: str, run: PredictionRun) -> dict[str, Any]:
        by = run.recipe.get("model_id", who)
        found = {kind: one.count for (model, kind), one in self.spools.items() if model == by and one.count}
        return {"scores": found} if found else {}

    def _tell(self, kind: str, target: Target[LabelSet] | Target[PredictionRun], rows: int) -> None:
        kept = target.kept
        self.made.made.append(Made(kind, kept.name, target.outcome, rows, str(kept.public_id)))
        if target.is_written:
            noun = "label_set" if isinstance(kept, LabelSet) else "prediction_run"
            details = {
                "digest": kept.digest,
                "rows": target.rows,
                "skipped": self.reader.skipped.total,
                "replaced": target.outcome == targets.REPLACED,
            }
            audit.record(
                by=self.by, action=f"{noun}.imported", target=kept, corpus=self.corpus, details=details
            )

    def record(self, run: PredictionRun, labels: LabelSet, spool: Spool) -> None:
        """Keeps scores as a recorded scoring, unless there is one."""
        name = f"{run.name} against {labels.name}"
        if targets.is_recorded(run, labels):
            one = Scoring.objects.get(prediction_run=run, label_set=labels, mode=Scoring.RECORDED)
            self.made.made.append(Made(SCORES, name, SAME, spool.count, str(one.public_id)))
            return
        made = scoring.record(run, labels, spool.rows(), by=self.by)
        self.made.made.append(Made(SCORES, name, targets.NEW, spool.count, str(made.public_id)))

    def note(self, text: str) -> None:
        """Something the person has to know."""
        self.made.notes.append(text)
