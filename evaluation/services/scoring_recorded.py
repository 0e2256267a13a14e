"""The scores of an imported file answer what the default rules left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from evaluation.models import OpenGuess, Scoring, Verdict
from evaluation.services import questions
from evaluation.services.question_asking import parts
from evaluation.services.scoring import BadScoring
from simulation.domain.attributes import CATALOGUE, Kind

AT_ONCE = 2000


@dataclass(frozen=True)
class Taken:
    """What a file's scores did: guesses of open questions that it speaks of; questions it speaks of; those of
    them that stay open because its own scores, or other files, say different things; and guesses of which it
    says nothing that a person or judge had said."""

    guesses: int = 0
    questions: int = 0
    conflicts: int = 0
    silent: int = 0

    @property
    def words(self) -> str:
        """One sentence for a log."""
        said = f"{self.questions} questions answered by the file's scores"
        if self.conflicts:
            said += f"; {self.conflicts} of them stay open, because recorded scores contradict each other"
        return f"{said}; of {self.silent} guesses it does not say what a judge or person thought."


@transaction.atomic
def take_recorded(recorded: Scoring, default: Scoring) -> Taken:
    """Answers questions of `default` from the scores of `recorded`, a scoring of the same run and set.

    A score above 0 was given by somebody, or by a rule that is right then. A 0 is taken only where all scores
    of the item are 0, and not of an age: by the published rules nobody was asked otherwise, and the 0 is that
    of a rule, which is just what the default rules do not believe (SynthPAI, section on scoring). What the
    file said before and says no more is withdrawn, but for what it says by the run's scores against other
    sets. Raises BadScoring where the two do not belong together.
    """
    same = (recorded.prediction_run_id, recorded.label_set_id)
    if same != (default.prediction_run_id, default.label_set_id):
        raise BadScoring("the two scorings are not of the same predictions and labels")
    if recorded.mode != Scoring.RECORDED or default.mode != Scoring.DEFAULT:
        raise BadScoring("scores as recorded answer questions of the default rules only")
    links = list(
        OpenGuess.objects.filter(verdict__scoring=default)
        .order_by("pk")
        .values_list("verdict__label", "verdict__attribute", "place", "question")
    )
    said: list[tuple[int, float]] = []
    for part in parts(links, AT_ONCE):
        given = _scores(recorded, [label for label, *_ in part])
        for label, attribute, place, question in part:
            score = _said(given.get(label, ()), place, attribute)
            if score is not None:
                said.append((question, score))
    run = recorded.prediction_run
    conflicts = questions.recorded(run.corpus, run.name, said, kept=_of_other_sets(default))
    return Taken(len(said), len({key for key, _ in said}), conflicts, len(links) - len(said))


def _of_other_sets(default: Scoring) -> set[int]:
    """Questions of the same run's scorings against other sets of which the file has scores, too."""
    run = default.prediction_run
    others = Scoring.objects.filter(prediction_run=run).exclude(label_set=default.label_set_id)
    sets = others.filter(mode=Scoring.RECORDED).values("label_set")
    links = OpenGuess.objects.filter(
        verdict__scoring__in=others.filter(mode=Scoring.DEFAULT, label_set__in=sets)
    )
    return set(links.order_by().values_list("question", flat=True).distinct())


def _scores(recorded: Scoring, labels: Sequence[int]) -> Mapping[int, Sequence[float]]:
    rows = Verdict.objects.filter(scoring=recorded, label__in=labels)
    return dict(rows.values_list("label", "scores"))


def _said(scores: Sequence[float], place: int, attribute: str) -> float | None:
    """What somebody said of the guess at `place`; None where the file does not tell."""
    if place >= len(scores) or scores[place] not in questions.SCORES:
        return None
    known = CATALOGUE.get(attribute)
    if scores[place] == 0 and (any(scores) or (known is not None and known.kind is Kind.AGE)):
        return None
    return float(scores[place])
