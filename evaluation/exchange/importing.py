"""Released files of labels and predictions -> label sets, prediction runs and recorded scorings.

One file is one transaction and read once; what is refused leaves nothing. Memory holds a batch of rows and
the corpus' user names, however long the file is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.exchange.problems import Problem
from evaluation.domain.paper.records import REVISED
from evaluation.exchange.importing_reading import Refused, holds_comments, plain, refusal
from evaluation.exchange.importing_stores import Guesses, Labels
from evaluation.exchange.importing_targets import SAME, is_recorded
from evaluation.exchange.importing_work import GUESSES, LABELS, Imported, Made, NothingInIt, Work
from evaluation.models import LabelSet, Masking, PredictionRun
from simulation.models import Corpus, User

__all__ = [
    "Imported",
    "Made",
    "NothingInIt",
    "Refused",
    "import_labels",
    "import_predictions",
    "run_name",
    "title",
]

ENDINGS = (".gz", ".jsonl", ".ndjson", ".json")


def title(path: Path) -> str:
    """The name of a file without its endings."""
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def left_out(count: int, against: str, why: str, *, who: str = "") -> str:
    """What to say of scores that are not kept."""
    of = f" of {who}" if who else ""
    return f"{count} score{'s' * (count != 1)}{of} against {against}: left out, because {why}"


def import_labels(
    corpus: Corpus,
    path: Path,
    *,
    name: str = "",
    by: User | None = None,
    skip: bool = False,
    replace: bool = False,
) -> Imported:
    """Each reviewer of a file of labels becomes a label set `<name> / <reviewer>`.

    Guesses that stand beside the labels become prediction runs `<name> / <who>`; where the file says how they
    scored against one of its reviewers, a recorded scoring against that reviewer's set. `name` is by default
    the file's, without endings. `skip` passes over lines that cannot be read and keeps them on the rows.
    The same bytes under the same name: nothing to do. Raises Refused; then nothing was changed.
    """
    if path.is_file() and holds_comments(path):
        said = "its lines are comments, not profiles; import it as data, with manage.py import_synthpai"
        raise refusal(path, "", said)
    work = _LabelsWork(corpus, path, by, skip, replace)
    return work.done(lambda: work.labels(plain(name) or plain(title(path))))


def import_predictions(
    corpus: Corpus,
    path: Path,
    *,
    model: str,
    kind: str = "",
    labels: LabelSet | None = None,
    masking: Masking | None = None,
    by: User | None = None,
    skip: bool = False,
    replace: bool = False,
) -> Imported:
    """A file of one model's guesses becomes a prediction run `<model> / <kind>`.

    With a `masking`, whose texts the model was shown, it is `<model> / <kind> / <masking>`, a run on
    anonymised text, compared with `<model> / <kind>` where that is one on plain text.

    `model` is as a chart calls it, `kind` by default the file's name without endings. Scores that the file
    has against the labels of `labels` (its reviewer's; `human_evaluated` for a set that was not imported)
    are kept as a recorded scoring, also when the guesses themselves are there already. Otherwise as
    `import_labels`.
    """
    work = _PredictionsWork(corpus, path, by, skip, replace)
    work.masking = masking
    return work.done(lambda: work.predictions(plain(model), plain(kind) or plain(title(path)), labels))


def run_name(model: str, kind: str, masking: Masking | None = None) -> str:
    """As a run of imported guesses is called."""
    return " / ".join([model, kind, *([masking.name] if masking else [])])


class _LabelsWork(Work):
    """A file of labels, with or without guesses beside them."""

    def labels(self, name: str) -> None:
        """Labels, and what stands beside them."""
        if known := self._known(f"{name} / "):
            self.made.made += known
            return
        labels, guesses = Labels(), Guesses()
        for profile, row in self.reader.read(labels=True):
            for who, marks in row.reviews.items():
                labels.take(self.set_of(name, who), profile, marks)
            for who, guessed in row.predictions.items():
                beside = self.run_of(who, f"{name} / {plain(who)}", plain(who), {"beside": name})
                guesses.take(beside, profile, guessed)
            self.keep_scores(profile, row)
        if not self.sets and not self.runs:
            raise NothingInIt(self.path, "reviews", "there is no label in it, and no guess")
        labels.flush()
        guesses.flush()
        self.finish()
        if count := sum(one.valueless for one in self.sets.values() if one.is_written):
            labels_do = "label without a value does" if count == 1 else "labels without a value do"
            self.note(f"{count} {labels_do} not count")
        for (who, kind), spool in self.spools.items():
            run, labels_of = self.runs.get(who), self.sets.get(kind)
            if run and labels_of and spool.count:
                self.record(run.kept, labels_of.kept, spool)
            elif spool.count:
                against = f"“{kind}”" if kind else "the profiles themselves"
                self.note(left_out(spool.count, against, "there are no such labels", who=who))

    def _known(self, prefix: str) -> list[Made]:
        """All that was made from these bytes under this name; nothing where one of them is gone since."""
        same = {"corpus": self.corpus, "digest": self.origin.digest, "name__startswith": prefix}
        sets, runs = list(LabelSet.objects.filter(**same)), list(PredictionRun.objects.filter(**same))
        parts = {one.recipe.get("parts") for one in sets} | {one.recipe.get("parts") for one in runs}
        if parts != {len(sets) + len(runs)}:
            return []
        return [Made(LABELS, one.name, SAME, one.labels, str(one.public_id)) for one in sets] + [
            Made(GUESSES, one.name, SAME, one.predictions, str(one.public_id)) for one in runs
        ]


class _PredictionsWork(Work):
    """A file of the guesses of one model, who was shown the texts of a `masking`, if any."""

    masking: Masking | None = None

    def predictions(self, model: str, kind: str, labels: LabelSet | None) -> None:
        """The guesses of one model, and their scores."""
        if not model:
            raise refusal(self.path, "model", "say what the model is called")
        if labels and labels.corpus_id != self.corpus.pk:
            raise refusal(
                self.path, "labels", f"{labels.name} belongs to another corpus; name a set of this one"
            )
        if self.masking and self.masking.corpus_id != self.corpus.pk:
            said = f"{self.masking.name} belongs to another corpus; name a masking of this one"
            raise refusal(self.path, "masking", said)
        name, shown = run_name(model, kind, self.masking), self._shown(run_name(model, kind))
        found = PredictionRun.objects.filter(corpus=self.corpus, name=name, digest=self.origin.digest).first()
        if found and self._has_scores(found, labels):
            self.made.made.append(Made(GUESSES, name, SAME, found.predictions, str(found.public_id)))
            return
        guesses = Guesses()
        for profile, row in self.reader.read(labels=False):
            for who, guessed in row.predictions.items():
                target = self.run_of(name, name, model, {"model_id": who, "kind": kind}, shown)
                if who != (first := target.kept.recipe.get("model_id")):
                    both = f"{first} and {who}"
                    said = f"the file speaks of several models, {both}; split it, or import it as labels"
                    raise Refused([Problem(self.path.name, row.line, "predictions", said)])
                guesses.take(target, profile, guessed)
            self.keep_scores(profile, row)
        if name not in self.runs:
            raise NothingInIt(self.path, "predictions", "there is no guess in it")
        guesses.flush()
        self.finish()
        self._record_predictions(self.runs[name].kept, labels)

    def _shown(self, plain_name: str) -> dict[str, Any]:
        """What a run on masked texts is beside its guesses."""
        if self.masking is None:
            return {}
        runs = PredictionRun.objects.filter(corpus=self.corpus, name=plain_name, text=PredictionRun.PLAIN)
        counterpart = runs.first()
        compared = {"counterpart": counterpart} if counterpart else {}
        return {"text": PredictionRun.ANONYMISED, "masking": self.masking, **compared}

    def _record_predictions(self, run: PredictionRun, labels: LabelSet | None) -> None:
        wanted = labels.recipe.get("reviewer", REVISED) if labels else None
        for (who, against), spool in self.spools.items():
            if labels and against == wanted and who == run.recipe.get("model_id"):
                self.record(run, labels, spool)
            elif spool.count:
                said = f"“{against}”" if against else "labels without a name"
                why = f"the label set is {labels.name}" if labels else "no label set was named"
                if who != run.recipe.get("model_id"):
                    why = f"they are of {who}, which has no guesses here"
                self.note(left_out(spool.count, said, why))

    def _has_scores(self, run: PredictionRun, labels: LabelSet | None) -> bool:
        """Whether the scores that the file has against these labels, if any, are there."""
        if labels is None:
            return True
        against = labels.recipe.get("reviewer", REVISED)
        return against not in run.recipe.get("scores", {}) or is_recorded(run, labels)
