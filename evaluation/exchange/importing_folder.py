"""A folder of released files -> a corpus with profiles, label sets, prediction runs and scorings.

Every file is a transaction of its own: one that is refused leaves nothing, the others are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from annotation.exchange.dataset import import_paths
from annotation.exchange.problems import Problem
from evaluation.domain.paper.records import REVISED
from evaluation.exchange.importing import (
    Imported,
    NothingInIt,
    Refused,
    import_labels,
    import_predictions,
    run_name,
)
from evaluation.exchange.importing_reading import holds_comments
from evaluation.exchange.released import Release
from evaluation.models import LabelSet, Masking, PredictionRun
from evaluation.services import scoring
from simulation.models import Corpus, Profile

SCORED_AGAINST = f"comments_eval_revised / {REVISED}"
"""The label set of which the published scores are."""
SCORED_KINDS = ("evaluated", "revised_human_evaluated")

Progress = Callable[[int], object]


class UnknownModels(Exception):
    """Models that were asked for and are not in the folder; the message names those that are."""


@dataclass
class FolderReport:
    """What became of a folder. `seconds` is the time for everything."""

    corpus: Corpus
    profiles: int = 0
    """Profiles that were made."""
    files: list[Imported] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    """Files of which nothing was taken, with the reason."""
    refused: list[Problem] = field(default_factory=list)
    refused_in_all: int = 0
    scored: list[tuple[str, int, int]] = field(default_factory=list)
    """Prediction run, verdicts, open verdicts."""
    seconds: float = 0.0

    @property
    def written(self) -> int:
        """Rows that were written."""
        return self.profiles + sum(one.written for one in self.files) + sum(n for _, n, _ in self.scored)


def chosen(release: Release, models: Iterable[str]) -> list[str]:
    """The models to import, in order of name; all where none is named. Raises UnknownModels."""
    wanted = set(models)
    if unknown := sorted(wanted - release.predictions.keys()):
        known = ", ".join(sorted(release.predictions)) or "no model at all"
        raise UnknownModels(f"there are no predictions of {', '.join(unknown)}; the folder has {known}")
    return sorted(wanted or release.predictions)


def sizes(release: Release, models: Iterable[str]) -> int:
    """Bytes of the files that an import reads."""
    paths = [
        *release.labels.values(),
        *(path for one in models for path in release.predictions[one].values()),
    ]
    return sum(path.stat().st_size for path in paths)


def import_profiles(release: Release, corpus_name: str, report: list[Problem]) -> tuple[Corpus | None, int]:
    """Makes the corpus with the folder's profiles; how many are new. Problems of theirs go to `report`."""
    if release.profiles is None:
        return None, 0
    made = import_paths(paths=[release.profiles], corpus_name=corpus_name)
    report += made.problems
    corpus = Corpus.objects.filter(name=corpus_name.strip()).first()
    return corpus, made.tallies["profiles"].new


class FolderImport:
    """One folder on its way into one corpus; its guesses were made from the texts of `masking`, if any."""

    def __init__(
        self,
        release: Release,
        corpus: Corpus,
        *,
        skip: bool,
        replace: bool,
        progress: Progress = lambda n: None,
        masking: Masking | None = None,
    ) -> None:
        self.report = FolderReport(corpus)
        self._masking = masking
        self._release, self._corpus = release, corpus
        self._skip, self._replace, self._progress = skip, replace, progress
        self._began = monotonic()

    def everything(self, models: Iterable[str], mode: str = "") -> FolderReport:
        """Labels first, then predictions, then, where `mode` names rules, the scorings."""
        for name, path in self._release.labels.items():
            self._take_labels(name, path)
        labels = LabelSet.objects.filter(corpus=self._corpus, name=SCORED_AGAINST).first()
        runs = [run for model in models for run in self._take_model(model, labels)]
        if mode and labels is None:
            self.report.passed_over.append(f"nothing is scored: there is no label set “{SCORED_AGAINST}”")
        elif mode and labels is not None:
            for run in runs:
                made = scoring.score(run, labels, mode)
                self.report.scored.append((run.name, made.verdicts, made.open))
        self.report.seconds = monotonic() - self._began
        return self.report

    def _take_labels(self, name: str, path: Path) -> None:
        if holds_comments(path):
            self.report.passed_over.append(f"labels/{path.name}: its lines are comments, not profiles")
            self._progress(path.stat().st_size)
            return
        self._import(
            path,
            lambda: import_labels(self._corpus, path, name=name, skip=self._skip, replace=self._replace),
        )

    def _take_model(self, model: str, labels: LabelSet | None) -> list[PredictionRun]:
        """Imports the files of a model; gives the runs whose kind is one that was evaluated."""
        for kind, path in self._release.predictions[model].items():
            self._import(path, lambda kind=kind, path=path: self._predictions(path, model, kind, labels))  # type: ignore[misc]
        kinds = [kind for kind in SCORED_KINDS if kind in self._release.predictions[model]]
        names = [run_name(model, kind, self._masking) for kind in kinds]
        return list(PredictionRun.objects.filter(corpus=self._corpus, name__in=names))

    def _predictions(self, path: Path, model: str, kind: str, labels: LabelSet | None) -> Imported:
        return import_predictions(
            self._corpus,
            path,
            model=model,
            kind=kind,
            labels=labels,
            masking=self._masking,
            skip=self._skip,
            replace=self._replace,
        )

    def _import(self, path: Path, work: Callable[[], Imported]) -> None:
        name = self._release.name_of(path)
        try:
            made = work()
        except NothingInIt as error:
            self.report.passed_over.append(f"{name}: {error.problems[0].message}")
        except Refused as error:
            self.report.refused += [Problem(name, one.line, one.field, one.message) for one in error.problems]
            self.report.refused_in_all += error.total
        else:
            made.file = name
            self.report.files.append(made)
        self._progress(path.stat().st_size)


def has_profiles(corpus: Corpus) -> bool:
    """Whether there is anybody to label."""
    return Profile.objects.filter(corpus=corpus).exists()
