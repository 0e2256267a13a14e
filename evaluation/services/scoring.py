"""Prediction runs are scored against label sets; what rules leave open becomes a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db import connection, transaction
from django.utils import timezone

from evaluation.domain import verdicts as ladder
from evaluation.domain.scoring import score_guess, score_guesses
from evaluation.domain.scoring_education import read_category
from evaluation.domain.verdicts import Label, Mode, Rung, attribute_of
from evaluation.models import (
    LabelSet,
    OpenGuess,
    Prediction,
    PredictionRun,
    ProfileLabel,
    Question,
    Scoring,
    Verdict,
)
from evaluation.services import reports
from evaluation.services.question_asking import Asked, ask, count_waiting, lock
from evaluation.services.question_effects import FIRST, apply, is_open
from simulation.models import User
from simulation.services import audit

AT_ONCE = 2000
EDUCATION = "education"
AS_RECORDED = "the file says so"

_UNLINK = """
DELETE FROM evaluation_openguess guess USING evaluation_verdict verdict
    WHERE guess.verdict_id = verdict.id AND verdict.scoring_id = %s
"""

Key = tuple[int, str]
"""A profile's key and an attribute."""


class BadScoring(ValueError):
    """What cannot be scored; the words say why."""


@dataclass(frozen=True)
class Recorded:
    """The scores of a file for the guesses at one attribute of one profile (key), best guess first."""

    profile: int
    attribute: str
    scores: tuple[float, ...]


@dataclass
class _Left:
    """What rules left open: (verdict, place) of the guesses by the question that they depend on."""

    asked: dict[str, Asked] = field(default_factory=dict)
    guesses: list[tuple[int, int, str]] = field(default_factory=list)
    verdicts: int = 0
    open: int = 0

    def take(self, made: Sequence[Verdict], labels: Sequence[ProfileLabel]) -> None:
        for verdict, label in zip(made, labels, strict=True):
            self.verdicts += 1
            self.open += is_open(verdict.scores)
            for place, score in enumerate(verdict.scores[:FIRST]):
                if score is not None or not label.value.strip() or verdict.prediction is None:
                    continue
                guess = str(verdict.prediction.guesses[place])
                asked = Asked(label.attribute, label.value, guess, verdict.reasons[place])
                self.asked.setdefault(asked.key, asked)
                self.guesses.append((verdict.pk, place, asked.key))


@transaction.atomic
def score(run: PredictionRun, labels: LabelSet, mode: str, *, by: User | None = None) -> Scoring:
    """Scores, or scores anew; the verdicts of an earlier scoring of the same three are replaced.

    One verdict a label that counts. By the default rules each of the first three guesses that stays open is a
    question; answers that are known already are applied. Who scores the same at the same time waits for the
    other. Raises BadScoring.
    """
    if mode not in (Scoring.DEFAULT, Scoring.COMPATIBLE):
        raise BadScoring(f"scores by rules are “default” or “compatible”, not “{mode}”")
    scoring, freed = _begun(run, labels, mode, by)
    left = _Left()
    for batch in _batches(labels):
        guessed = _predictions(run, batch)
        made = [_by_rules(scoring, one, guessed.get((one.profile_id, one.attribute))) for one in batch]
        left.take(_written(made), batch)
    return _done(scoring, left, freed, by)


@transaction.atomic
def record(
    run: PredictionRun, labels: LabelSet, rows: Iterable[Recorded], *, by: User | None = None
) -> Scoring:
    """Keeps the scores of a file as verdicts of mode `recorded`. Scores for which the set has no label that
    counts are left out; labels without scores are `not_asked`.

    More or fewer scores than guesses are kept as given. The rung is that of the published rule where it alone
    gives the very score, else `recorded`: a file does not say who decided. Raises BadScoring.
    """
    scores = {(one.profile, one.attribute): one.scores for one in rows}
    scoring, freed = _begun(run, labels, Scoring.RECORDED, by)
    left = _Left()
    for batch in _batches(labels):
        guessed = _predictions(run, batch)
        made = [_as_recorded(scoring, one, guessed.get(_key(one)), scores.get(_key(one))) for one in batch]
        left.take(_written(made), batch)
    return _done(scoring, left, freed, by)


def _begun(
    run: PredictionRun, labels: LabelSet, mode: str, by: User | None
) -> tuple[Scoring, frozenset[int]]:
    """The scoring, locked and without verdicts, and the questions that its former verdicts depended on."""
    if run.corpus_id != labels.corpus_id:
        raise BadScoring(f"“{run.name}” and “{labels.name}” belong to different corpora")
    one, is_new = Scoring.objects.get_or_create(
        prediction_run=run, label_set=labels, mode=mode, defaults={"created_by": by}
    )
    scoring = Scoring.objects.select_for_update(no_key=True).get(pk=one.pk)
    # Asked before the labels are read: what changes meanwhile makes the scoring an old one.
    scoring.labels_version = LabelSet.objects.values_list("version", flat=True).get(pk=labels.pk)
    if is_new:
        return scoring, frozenset()
    former = OpenGuess.objects.filter(verdict__scoring=scoring)
    freed = frozenset(former.values_list("question", flat=True).distinct())
    _empty(scoring)
    scoring.version += 1
    return scoring, freed


def _empty(scoring: Scoring) -> None:
    """In two statements: Django would load every verdict to see what hangs on it."""
    with connection.cursor() as cursor:
        cursor.execute(_UNLINK, [scoring.pk])
        cursor.execute("DELETE FROM evaluation_verdict WHERE scoring_id = %s", [scoring.pk])


def _batches(labels: LabelSet) -> Iterator[list[ProfileLabel]]:
    """The labels that count, each once, as they are now."""
    after = 0
    while True:
        rows = ProfileLabel.objects.filter(label_set=labels, hardness__gte=1, pk__gt=after)
        batch = list(rows.order_by("pk")[:AT_ONCE])
        if batch:
            yield batch
        if len(batch) < AT_ONCE:
            return
        after = batch[-1].pk


def _key(label: ProfileLabel) -> Key:
    return label.profile_id, label.attribute


def _predictions(run: PredictionRun, labels: Sequence[ProfileLabel]) -> Mapping[Key, Prediction]:
    profiles = {one.profile_id for one in labels}
    rows = Prediction.objects.filter(prediction_run=run, profile__in=profiles)
    return {(one.profile_id, one.attribute): one for one in rows}


def as_label(label: ProfileLabel) -> Label:
    """The form in which the rules know a label."""
    return Label(label.attribute, label.value, label.category, label.truth_score)


def _by_rules(scoring: Scoring, label: ProfileLabel, guessed: Prediction | None) -> Verdict:
    found: Sequence[ladder.Verdict] = ()
    if guessed is not None:
        guesses = [str(one) for one in guessed.guesses]
        given, categories = as_label(label), [str(one or "") for one in guessed.categories]
        if label.attribute == EDUCATION and scoring.mode == Scoring.COMPATIBLE:
            given, categories = _with_categories(scoring, given, guesses, categories)
        found = score_guesses(given, guesses, categories=categories, mode=Mode(scoring.mode))
    return _verdict(scoring, label, guessed, guessed.outcome if guessed else Verdict.NOT_ASKED, found)


def _with_categories(
    scoring: Scoring, label: Label, guesses: Sequence[str], categories: Sequence[str]
) -> tuple[Label, list[str]]:
    """What the published rules compare, read from the words where it was not given: of guesses and labels
    that were made here. Imported files have the categories that their own mapping gave, or none."""
    attribute = attribute_of(EDUCATION)
    if scoring.label_set.kind != LabelSet.IMPORTED and not label.category:
        label = replace(label, category=read_category(attribute, label.value))
    found = [categories[place] if place < len(categories) else "" for place in range(len(guesses))]
    if scoring.prediction_run.origin != PredictionRun.IMPORTED:
        found = [one or read_category(attribute, said) for one, said in zip(found, guesses, strict=True)]
    return label, found


def _as_recorded(
    scoring: Scoring, label: ProfileLabel, guessed: Prediction | None, scores: tuple[float, ...] | None
) -> Verdict:
    if scores is None:
        return _verdict(scoring, label, guessed, Verdict.NOT_ASKED, ())
    found = [_of_file(label, guessed, place, score) for place, score in enumerate(scores)]
    # Who scored above 0 has answered, whatever else is known.
    outcome = guessed.outcome if guessed and not any(scores) else Prediction.ANSWERED
    return _verdict(scoring, label, guessed, outcome, found)


def _of_file(label: ProfileLabel, guessed: Prediction | None, place: int, score: float) -> ladder.Verdict:
    if guessed is not None and place < len(guessed.guesses):
        category = str(guessed.categories[place] or "") if place < len(guessed.categories) else ""
        rule = score_guess(
            as_label(label), str(guessed.guesses[place]), category=category, mode=Mode.COMPATIBLE
        )
        if rule.score == score:
            return rule
    return ladder.Verdict(float(score), Rung.RECORDED, AS_RECORDED)


def _verdict(
    scoring: Scoring,
    label: ProfileLabel,
    guessed: Prediction | None,
    outcome: str,
    found: Sequence[ladder.Verdict],
) -> Verdict:
    return Verdict(
        scoring=scoring,
        label=label,
        prediction=guessed,
        profile_id=label.profile_id,
        attribute=label.attribute,
        hardness=label.hardness or 0,
        certainty=label.certainty,
        outcome=outcome,
        scores=[one.score for one in found],
        rungs=[one.rung.value if one.rung else "" for one in found],
        reasons=[one.reason for one in found],
    )


def _written(verdicts: list[Verdict]) -> list[Verdict]:
    return Verdict.objects.bulk_create(verdicts, batch_size=AT_ONCE)


def _done(scoring: Scoring, left: _Left, freed: frozenset[int], by: User | None) -> Scoring:
    """Links what is open with its questions, applies what is known of them, counts."""
    run = scoring.prediction_run
    scoring.verdicts, scoring.open, scoring.scored_at = left.verdicts, left.open, timezone.now()
    scoring.save(update_fields=["version", "verdicts", "open", "scored_at", "labels_version"])
    answers = ask(run.corpus, left.asked.values(), hold=False)
    depending = {one.question for one in answers.values()}
    OpenGuess.objects.bulk_create(
        (
            OpenGuess(verdict_id=pk, place=at, question_id=answers[key].question)
            for pk, at, key in left.guesses
        ),
        batch_size=AT_ONCE,
    )
    # Only now and all at once, so that two who score wait for each other in one order; what was said of a
    # question since it was asked is seen from here on.
    lock(depending | freed)
    known = Question.objects.filter(pk__in=depending, score__isnull=False).values_list("pk", flat=True)
    before = scoring.version
    apply(list(known), scoring)
    Scoring.objects.filter(pk=scoring.pk).update(version=before)
    count_waiting(run.corpus, depending | freed)
    reports.ask_again(run.corpus, "board")
    details = {"run": str(run.public_id), "mode": scoring.mode, "verdicts": left.verdicts}
    audit.record(by=by, action="scoring.made", target=scoring, corpus=run.corpus, details=details)
    scoring.refresh_from_db()
    return scoring
