"""Rows of labels and guesses of a file, written by COPY as they gather; scores that wait for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import IO, Any

from django.db.models import Model

from annotation.exchange.copying import copy_in
from evaluation.domain.paper.records import EDUCATION_CATEGORY, Guessed, Mark
from evaluation.domain.verdicts import Rung
from evaluation.exchange.importing_targets import Target
from evaluation.models import LabelSet, Prediction, PredictionRun, ProfileLabel
from evaluation.services.scoring import Recorded

BATCH = 5_000
"""Rows that wait in memory for the next COPY."""
EDUCATION = "education"
NO_GUESSES = "the file has no guesses for it"
LABEL_FIELDS = (
    "label_set_id",
    "profile_id",
    "attribute",
    "value",
    "category",
    "hardness",
    "certainty",
    "truth_score",
    "truth_rung",
)
GUESS_FIELDS = ("prediction_run_id", "profile_id", "attribute", "outcome", "detail", "guesses", "categories")


class Rows:
    """Rows of one table, written by COPY whenever enough have gathered."""

    def __init__(self, model: type[Model], names: Sequence[str]) -> None:
        self._model, self._names = model, names
        self._waiting: list[Sequence[Any]] = []

    def add(self, *values: Any) -> None:
        self._waiting.append(values)
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            copy_in(self._model, self._names, self._waiting)
            self._waiting.clear()


class Labels:
    """Takes the labels of one file."""

    def __init__(self) -> None:
        self._rows = Rows(ProfileLabel, LABEL_FIELDS)

    def take(self, target: Target[LabelSet], profile: int, marks: Mapping[str, Mark]) -> None:
        """The labels of one reviewer for one profile. What says nothing is no row; what has no value is as
        hard as nothing: it could never be scored."""
        degree = marks.get(EDUCATION_CATEGORY)
        before = target.counting
        for key, mark in marks.items():
            if key == EDUCATION_CATEGORY or not (mark.value or mark.hardness or mark.truth is not None):
                continue
            target.rows += 1
            hardness = mark.hardness if mark.value.strip() else 0
            target.counting += hardness >= 1
            target.valueless += mark.hardness > hardness
            if target.is_written:
                self._rows.add(
                    target.kept.pk,
                    profile,
                    key,
                    mark.value,
                    degree.value if degree and key == EDUCATION else "",
                    hardness or None,
                    mark.certainty or None,
                    mark.truth,
                    "" if mark.truth is None else Rung.RECORDED.value,
                )
        target.profiles += target.counting > before

    def flush(self) -> None:
        self._rows.flush()


class Guesses:
    """Takes the predictions of one file."""

    def __init__(self) -> None:
        self._rows = Rows(Prediction, GUESS_FIELDS)

    def take(self, target: Target[PredictionRun], profile: int, guessed: Mapping[str, Guessed]) -> None:
        """The guesses of one model about one profile. A list without a word in it is no answer; blanks in
        others stay, because the scores of a file go by place."""
        before = target.rows
        for key, one in guessed.items():
            if key == EDUCATION_CATEGORY:
                target.left_out[key] += 1
                continue
            target.rows += 1
            if target.is_written:
                answered = any(guess.strip() for guess in one.guesses)
                self._rows.add(
                    target.kept.pk,
                    profile,
                    key,
                    Prediction.ANSWERED if answered else Prediction.UNPARSED,
                    "" if answered else NO_GUESSES,
                    list(one.guesses) if answered else [],
                    list(one.categories),
                )
        target.counting = target.rows
        target.profiles += target.rows > before

    def flush(self) -> None:
        self._rows.flush()


class Spool:
    """Scores that wait on disk until the guesses that they belong to are in the database."""

    def __init__(self) -> None:
        self.count = 0
        self._file: IO[str] = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115, closed by `close`

    def add(self, profile: int, scores: Mapping[str, tuple[float, ...]]) -> None:
        for key, given in scores.items():
            if key != EDUCATION_CATEGORY:
                self._file.write(f"{json.dumps([profile, key, given])}\n")
                self.count += 1

    def rows(self) -> Iterator[Recorded]:
        self._file.seek(0)
        for line in self._file:
            profile, attribute, scores = json.loads(line)
            yield Recorded(profile, attribute, tuple(scores))

    def close(self) -> None:
        self._file.close()
