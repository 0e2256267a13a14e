"""A folder of released files -> every number of the paper that they allow, file by file, each read once.

What cannot be read is skipped and listed. A part whose file is not there is missing with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from annotation.exchange.problems import Problem
from evaluation.domain.answer_released import released_guesses
from evaluation.domain.answers import read_answer
from evaluation.domain.paper.attaching import Attaching
from evaluation.domain.paper.comments import CommentTally, MaskTally
from evaluation.domain.paper.found import Found
from evaluation.domain.paper.labels import AgreementTally, LabelTally
from evaluation.domain.paper.predictions import AnswerTally, PredictionTally, Released, TruthTally
from evaluation.domain.paper.profiles import overlap_numbers, profile_numbers
from evaluation.domain.paper.records import Row
from evaluation.domain.paper.summaries import counts
from evaluation.domain.paper.topics import TopicTally
from evaluation.domain.paper.trees import TreeTally
from evaluation.exchange.released import Release, Skipped, digest
from evaluation.exchange.released_rows import read_answers, read_assignments, read_rows
from evaluation.exchange.released_trees import read_degrees, read_facts, read_thread
from evaluation.metrics.paper_accuracies import AccuracyTally

AGREEMENTS = "eval_labels_"
COMMENTS, REVISED, MASKED = "comments_eval", "comments_eval_revised", "comments_anonymized"
SCORED = ("evaluated", "revised_human_evaluated")
AGAINST_PROFILES = "gt_evaluated"
PREDICTED = ("predicted", "predicted_fixed", "predicted_reparsed")
"""Read from the answers; put right by a model; read again without one. Other names that begin so count."""

T = TypeVar("T")


@dataclass
class FileReport:
    """One file: its name within the folder, its digest, its size in bytes, and what was skipped in it.

    `rows` are the lines, profiles or trees that could be read. `is_counted` False: it is there, and no number
    is counted from it.
    """

    name: str
    sha256: str
    size: int
    rows: int = 0
    skipped: Skipped = field(default_factory=Skipped)
    is_counted: bool = True


@dataclass
class Recount:
    """What a folder says, and the files that it was read from, in the order of reading."""

    found: Found = field(default_factory=Found)
    files: list[FileReport] = field(default_factory=list)

    @property
    def problems(self) -> list[Problem]:
        """Everything that was skipped, with the file's name within the folder."""
        return [
            Problem(one.name, problem.line, problem.field, problem.message)
            for one in self.files
            for problem in one.skipped.problems
        ]


def recount(release: Release, progress: Callable[[int], object] = lambda size: None) -> Recount:
    """Reads all files and counts. `progress` is told the size of each file once it has been read."""
    return _Recounting(release, progress).everything()


class _Recounting:
    def __init__(self, release: Release, progress: Callable[[int], object]) -> None:
        self._release = release
        self._progress = progress
        self._made = Recount()
        self._reports: dict[Path, FileReport] = {}
        self._profiles: dict[str, dict[str, Any]] = {}

    def everything(self) -> Recount:
        self._take_profiles()
        self._take_threads_and_comments()
        self._take_labels()
        self._take_agreements()
        self._take_topics()
        for model in self._release.models:
            self._take_model(model)
        for path in self._release.files():
            if path not in self._reports:
                with self._reading(path) as one:
                    one.is_counted = False
        return self._made

    @contextmanager
    def _reading(self, path: Path) -> Iterator[FileReport]:
        """Gives the report of a file, where its reader notes what is skipped and how much is not."""
        one = FileReport(self._release.name_of(path), digest(path), path.stat().st_size)
        self._reports[path] = one
        self._made.files.append(one)
        yield one
        self._progress(one.size)

    def _all(self, path: Path | None, read: Callable[[Path, Skipped], Iterable[T]]) -> Iterator[T]:
        """What a reader finds in a file; nothing where there is none."""
        if path is None:
            return
        with self._reading(path) as one:
            for row in read(path, one.skipped):
                one.rows += 1
                yield row

    def _why_not(self, path: Path | None, file: str) -> str:
        """Why nothing can be counted from a file; "" where something can."""
        if path is None:
            return f"there is no file {file}"
        return "" if self._reports[path].rows else f"nothing in {file} can be read"

    def _put(self, route: tuple[str, ...], numbers: Any, *reasons: str) -> None:
        """Stores what was counted, or the first reason why it was not."""
        for reason in filter(None, reasons):
            self._made.found.missing[route] = reason
            return
        self._made.found.put(route, numbers)

    def _take_profiles(self) -> None:
        path, degrees = self._release.profiles, self._release.categories
        categories = [one.category for one in self._all(degrees, read_degrees)]
        self._profiles = {one.key: one.fields for one in self._all(path, read_facts)}
        facts, why = list(self._profiles.values()), self._why_not(path, "profiles.json")
        self._put(("profiles",), profile_numbers(facts), why)
        self._put(("fig3_profile_overlap",), overlap_numbers(facts), why)
        without = self._why_not(degrees, "profiles_education_category.json")
        self._put(("profiles", "education_category"), counts(Counter(categories)), why, without)

    def _take_threads_and_comments(self) -> None:
        trees, attaching, comments = TreeTally(self._profiles), Attaching(), CommentTally()
        for tree in self._release.threads:
            for thread in self._all(tree, read_thread):
                trees.take(thread)
                attaching.take_thread(thread)
        path = self._release.labels.get(COMMENTS)
        for row in self._all(path, read_rows):
            comments.take(row)
            attaching.take_row(row)
        why = "" if trees.threads else "there is no file threads/*.json that can be read"
        without = self._why_not(path, f"labels/{COMMENTS}.jsonl")
        self._put(("threads",), trees.numbers(), why)
        for name, number in attaching.numbers().items():
            self._put(("threads", name), number, why, without)
        for name in trees.AGE_NUMBERS if not self._profiles else ():
            self._put(("threads", name), None, self._why_not(self._release.profiles, "profiles.json"))
        self._put(("comments",), {"n_comments_eval": comments.comments, **comments.numbers()}, without)

    def _take_labels(self) -> None:
        labels, comments, masks = LabelTally(), CommentTally(), MaskTally()
        path, other = (self._release.labels.get(name) for name in (REVISED, MASKED))
        pairs, masked = _Pairs(masks), self._all(other, read_rows)
        for row in self._all(path, read_rows):
            labels.take(row)
            comments.take(row)
            pairs.before(row)
            pairs.after(next(masked, None))
        for row in masked:
            pairs.after(row if path else None)
        why = self._why_not(path, f"labels/{REVISED}.jsonl")
        self._put(("labels",), labels.numbers(), why)
        self._put(("comments", "n_comments_revised"), comments.comments, why)
        self._put(("anonymised",), masks.numbers(), why, self._why_not(other, f"labels/{MASKED}.jsonl"))

    def _take_agreements(self) -> None:
        names = {f"{AGREEMENTS}{name}" for name in ("against_gt", "against_human", "against_model")}
        found = {name for name in self._release.labels if name.startswith(AGREEMENTS)}
        for name in sorted(names | found):
            path, agreement = self._release.labels.get(name), AgreementTally()
            for row in self._all(path, read_rows):
                agreement.take(row)
            bad_lines = self._reports[path].skipped.lines if path else []
            route = ("label_agreement", name.removeprefix(AGREEMENTS))
            self._put(route, agreement.numbers(bad_lines), self._why_not(path, f"labels/{name}.jsonl"))

    def _take_topics(self) -> None:
        for name in sorted({"topic_to_thread", "topic_to_thread_no_askreddit", *self._release.topics}):
            path, topics = self._release.topics.get(name), TopicTally()
            for assignment in self._all(path, read_assignments):
                topics.take(assignment)
            self._put(("topics", name), topics.numbers(), self._why_not(path, f"{name}.jsonl"))

    def _take_model(self, model: str) -> None:
        kinds, route = self._release.predictions.get(model, {}), ("models", model)
        self._made.found.put(route, {})
        for kind in SCORED:
            scores = AccuracyTally()
            for row in self._all(kinds.get(kind), read_rows):
                scores.take(row)
            why = self._why_not(kinds.get(kind), f"predictions/{model}/{kind}.jsonl")
            self._put((*route, kind), scores.numbers(), why, self._mixed(model, scores.models))
        against = TruthTally()
        for row in self._all(kinds.get(AGAINST_PROFILES), read_rows):
            against.take(row)
        why = self._why_not(kinds.get(AGAINST_PROFILES), f"predictions/{model}/{AGAINST_PROFILES}.jsonl")
        self._put((*route, AGAINST_PROFILES), against.numbers(), why)
        released: dict[str, Released] = {}
        for kind in dict.fromkeys([*PREDICTED, *(name for name in kinds if name.startswith(PREDICTED[0]))]):
            predictions = PredictionTally()
            for row in self._all(kinds.get(kind), read_rows):
                predictions.take(row)
            why = self._why_not(kinds.get(kind), f"predictions/{model}/{kind}.jsonl")
            mixed = self._mixed(model, predictions.models)
            self._put((*route, PREDICTED[0], kind), predictions.numbers(), why, mixed)
            released = predictions.profiles if kind == PREDICTED[0] and not mixed else released
        self._take_answers(model, released)

    def _mixed(self, model: str, ids: set[str]) -> str:
        """Notes the id by which a file calls its model; says why nothing is counted if they are several."""
        if len(ids) > 1:
            return f"the file speaks of several models, {', '.join(sorted(ids))}; split it"
        self._made.found.model_ids.setdefault(model, set()).update(ids)
        return ""

    def _take_answers(self, model: str, released: dict[str, Released]) -> None:
        path, answers = self._release.answers.get(model), AnswerTally(released, read_answer, released_guesses)
        for answer in self._all(path, read_answers):
            answers.take(answer)
        without = "" if released else f"nothing in predictions/{model}/{PREDICTED[0]}.jsonl can be read"
        why = self._why_not(path, f"answers/{model}.jsonl")
        self._put(("models", model, "answers"), answers.numbers(), why, without)


class _Pairs:
    """Brings rows of two files together that are about the same profile, in whatever order they come.

    In files of the same order no more than one row waits; a row without the other is left out.
    """

    def __init__(self, masks: MaskTally) -> None:
        self._masks = masks
        self._before: dict[str, Row] = {}
        self._after: dict[str, Row] = {}

    def before(self, row: Row) -> None:
        other = self._after.pop(row.username, None)
        if other:
            self._masks.take(row, other)
        else:
            self._before[row.username] = row

    def after(self, row: Row | None) -> None:
        if row is None:
            return  # the other file has ended, or is not there
        other = self._before.pop(row.username, None)
        if other:
            self._masks.take(other, row)
        else:
            self._after[row.username] = row
