"""Labels against the personas' truth: compared, followed when somebody settles a question, revised.

Locks are taken in one order, so that nobody waits for each other: questions, labels, label sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.domain.judging import truth_of
from evaluation.domain import rollup
from evaluation.domain.questions import key_of
from evaluation.domain.scoring import Label, Mode, Verdict, score_guess
from evaluation.models import LabelSet, ProfileLabel, Question, Scoring
from evaluation.services import questions
from evaluation.services.label_keeping import (
    AT_ONCE,
    BadLabels,
    batches,
    changed,
    count,
    fill,
    make,
    note,
)
from evaluation.services.question_asking import lock
from simulation.models import User

_TRUTH = ("truth_score", "truth_rung", "truth_question")
_MODES = {Scoring.DEFAULT: Mode.DEFAULT, Scoring.COMPATIBLE: Mode.COMPATIBLE}


@dataclass(frozen=True)
class Compared:
    """Labels that count, by what became of them."""

    right: int = 0
    less_precise: int = 0
    wrong: int = 0
    open: int = 0
    """Rules could not tell, and nobody has settled it: each waits for a question."""
    unknown: int = 0
    """The profile has no such fact."""
    kept: int = 0
    """Scores that an imported file brought; they are left as they are."""


@transaction.atomic
def compare_with_profiles(
    label_set: LabelSet, *, mode: str = Scoring.DEFAULT, by: User | None = None
) -> Compared:
    """Scores each label that counts against its profile's fact, by rules; the rest becomes questions.

    The label is the guess and the fact is the truth (the published `acc_gt`). What is known of a question
    already is taken at once. Comparing again changes only what has become different. Sets that were revised
    from this one follow. Raises BadLabels for a set that was itself made from the profiles, or that has no
    label, and for an unknown mode.
    """
    if label_set.kind in (LabelSet.REVISED, LabelSet.INHERITED):
        raise BadLabels("", "These labels were made with the profiles: there is nothing to compare.")
    if mode not in _MODES:
        raise BadLabels("mode", f"“{mode}” is no set of rules; use {' or '.join(_MODES)}.")
    former = set(label_set.rows.exclude(truth_question=None).values_list("truth_question", flat=True))
    found = [
        one for some in batches(_to_compare(label_set)) for one in _judged(label_set, some, _MODES[mode])
    ]
    asked = {one.question for one in found if one.question is not None}
    different = _take(found, asked | former)
    tally = Counter(_word(one.row) for one in found)
    recorded = label_set.rows.filter(_is_recorded(), hardness__isnull=False).count()
    if not tally and not recorded:
        raise BadLabels("", "This set has no label that counts: there is nothing to compare.")
    label_set.recipe |= {"compared": mode}
    label_set.save(update_fields=["recipe"])
    if different:
        changed([label_set.pk])
        _follow_sources([label_set.pk])
    questions.count_waiting(label_set.corpus, asked | former)
    result = Compared(**tally, kept=recorded)
    note(by, "labels.compared", label_set, mode=mode, **vars(result))
    label_set.refresh_from_db()
    return result


def _is_recorded() -> Q:
    return Q(truth_question=None, truth_score__isnull=False, truth_rung="recorded")


def _to_compare(label_set: LabelSet) -> Iterator[ProfileLabel]:
    rows = label_set.rows.filter(hardness__isnull=False).exclude(_is_recorded())
    profiles = ("profile__style", "profile__extra", "profile__original", "profile__warnings")
    return rows.select_related("profile").defer(*profiles).order_by("pk").iterator(chunk_size=AT_ONCE)


@dataclass(frozen=True)
class _Judged:
    """A label, what rules say of it, and the key of the question where they say nothing."""

    row: ProfileLabel
    verdict: Verdict | None
    """None where the profile has no such fact."""
    question: int | None = None


def _judged(label_set: LabelSet, rows: Iterable[ProfileLabel], mode: Mode) -> Iterator[_Judged]:
    """What is known of the rows; the questions that are not there yet are made."""
    scored, wanted = [], {}
    for row in rows:
        fact = truth_of(row.attribute, row.profile.facts)
        one = score_guess(Label(row.attribute, fact), row.value, category=row.category, mode=mode)
        key = key_of(row.attribute, fact, row.value)
        if fact and row.value and one.is_open:
            wanted[key] = questions.Asked(row.attribute, fact, row.value, one.reason)
        scored.append((row, one if fact else None, key))
    answers = questions.ask(label_set.corpus, wanted.values(), hold=False) if wanted else {}
    for row, verdict, key in scored:
        is_open = verdict is not None and verdict.is_open and key in wanted
        yield _Judged(row, verdict, answers[key].question if is_open else None)


def _take(found: Iterable[_Judged], asked: Collection[int]) -> bool:
    """Writes what was found, and whether any of it is new.

    The questions are locked until the end of the transaction, so that an answer given at this very moment
    is either taken here or finds the label.
    """
    standing: dict[int, tuple[float | None, str]] = {}
    for some in batches(lock(asked)):
        rows = Question.objects.filter(pk__in=some)
        standing |= {pk: (score, rung) for pk, score, rung in rows.values_list("pk", "score", "rung")}
    different = []
    for one in found:
        row, rung = one.row, one.verdict.rung if one.verdict else None
        before = (row.truth_score, row.truth_rung, row.truth_question_id)
        row.truth_score, row.truth_rung = one.verdict.score if one.verdict else None, rung or ""
        row.truth_question_id = one.question
        if one.question is not None:
            row.truth_score, row.truth_rung = standing[one.question]
        if before != (row.truth_score, row.truth_rung, row.truth_question_id):
            different.append(row)
    ProfileLabel.objects.bulk_update(different, _TRUTH, batch_size=AT_ONCE)
    return bool(different)


def _word(row: ProfileLabel) -> str:
    if row.truth_score is None:
        return "open" if row.truth_question_id else "unknown"
    return {1.0: "right", 0.5: "less_precise"}.get(row.truth_score, "wrong")


def truth_settled(questions: Collection[int]) -> None:
    """The standing of these questions (keys) has changed: labels that wait for them follow, and so do the
    sets that were revised with them. In the caller's transaction, which has locked the questions."""
    if not questions:
        return
    rows = ProfileLabel.objects.filter(truth_question__in=questions).select_related("truth_question")
    different = []
    for row in rows.order_by("pk"):
        assert row.truth_question is not None  # filtered by it
        now = (row.truth_question.score, row.truth_question.rung)
        if (row.truth_score, row.truth_rung) != now:
            row.truth_score, row.truth_rung = now
            different.append(row)
    if not different:
        return
    ProfileLabel.objects.bulk_update(different, ["truth_score", "truth_rung"], batch_size=AT_ONCE)
    touched = sorted({row.label_set_id for row in different})
    changed(touched)
    _follow_sources(touched, [row.pk for row in different])


@transaction.atomic
def revise(label_set: LabelSet, *, name: str, by: User | None = None) -> LabelSet:
    """The set without the labels that are wrong (published `human_evaluated`): those that scored above 0.1
    against the persona's truth stay. What is not settled yet stays out until it is, and comes in by itself.

    Raises BadLabels for a set that was made from the profiles itself, that was not compared with them, and
    for a name that is taken.
    """
    if label_set.kind in (LabelSet.REVISED, LabelSet.INHERITED):
        raise BadLabels("", "These labels were made with the profiles: there is nothing to revise.")
    # An answer that comes at this moment waits, and then finds the new set.
    source = LabelSet.objects.select_for_update(no_key=True).select_related("corpus").get(pk=label_set.pk)
    if not source.rows.filter(hardness__isnull=False, truth_score__isnull=False).exists():
        problem = "None of these labels is settled against the profiles: compare the set with them first."
        raise BadLabels("", problem)
    made = make(
        source.corpus,
        name=name,
        kind=LabelSet.REVISED,
        policy=source.policy,
        recipe={"source": source.name, "rules": source.recipe.get("compared", "")},
        source=source,
        by=by,
    )
    rows = source.rows.filter(hardness__isnull=False, truth_score__gt=rollup.KEPT_ABOVE).order_by("pk")
    fill(made, (_revised(made, row) for row in rows.iterator(chunk_size=AT_ONCE)))
    note(by, "labels.revised", made, source=source.public_id, labels=made.labels)
    return made


def _revised(into: LabelSet, row: ProfileLabel) -> ProfileLabel:
    """The row as the revised set holds it; one that does not count where the label goes."""
    score = row.truth_score
    given = rollup.ProfileLabel(row.attribute, row.value, row.hardness or 0, row.certainty or 0)
    kept = rollup.revised(given, 0.0 if score is None else score, row.category)
    return ProfileLabel(
        label_set=into,
        profile_id=row.profile_id,
        attribute=kept.attribute,
        value=kept.value,
        category=kept.category,
        hardness=kept.hardness or None,
        certainty=kept.certainty or None,
        comment_id=row.comment_id,
        truth_score=score,
        truth_rung=row.truth_rung,
    )


def _follow_sources(sources: Collection[int], labels: Collection[int] | None = None) -> None:
    """Sets that were revised from these follow, in the labels given (keys of the sources') or in all."""
    sets = LabelSet.objects.select_for_update(no_key=True).filter(kind=LabelSet.REVISED, source__in=sources)
    for one in sets.order_by("pk"):
        rows = ProfileLabel.objects.filter(label_set=one.source_id)
        if _renew(one, rows if labels is None else rows.filter(pk__in=labels)):
            count(one)
            changed([one.pk])


def _renew(into: LabelSet, source: QuerySet[ProfileLabel]) -> bool:
    """Whether anything had to be changed so that the revised set says what its source says now.

    Rows keep their keys, since verdicts hang on them: a label that goes is emptied, as the published file has
    it, and comes back in the same row.
    """
    touched = False
    for some in batches(source.order_by("pk").iterator(chunk_size=AT_ONCE)):
        there = {
            (row.profile_id, row.attribute): row
            for row in into.rows.filter(profile__in={row.profile_id for row in some})
        }
        new, other = [], []
        for row in some:
            wanted, held = _revised(into, row), there.get((row.profile_id, row.attribute))
            if held is None:
                new += [wanted] if wanted.hardness is not None else []
            elif _content(held) != _content(wanted):
                wanted.pk = held.pk
                other.append(wanted)
        ProfileLabel.objects.bulk_create(new, batch_size=AT_ONCE)
        ProfileLabel.objects.bulk_update(other, _CONTENT, batch_size=AT_ONCE)
        touched = touched or bool(new or other)
    return touched


_CONTENT = ("value", "category", "hardness", "certainty", "comment", "truth_score", "truth_rung")


def _content(row: ProfileLabel) -> tuple[object, ...]:
    return tuple(row.comment_id if name == "comment" else getattr(row, name) for name in _CONTENT)
