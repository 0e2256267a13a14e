"""Guesses that no model was asked for: the most frequent value, and what a tagger's tags amount to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Count, F, QuerySet

from annotation.models import Suggestion
from evaluation.domain.verdicts import attribute_of
from evaluation.models import LabelSet, Prediction, PredictionRun, ProfileLabel
from evaluation.selectors.boards import CERTAINTY
from simulation.domain.attributes import Attribute
from simulation.domain.normalise import BadValue, canonical, squeeze
from simulation.models import Corpus, User
from simulation.services import audit

GUESSES = 3
AT_ONCE = 2000
MAJORITY = "majority guess"
ACTIVE = "active"
LEFT_OUT = "the label that is guessed was not counted, so that the guess does not know the answer"


class BadBaseline(ValueError):
    """Guesses that cannot be made; the words say why and what to do."""


@transaction.atomic
def majority_guess(
    label_set: LabelSet, *, min_certainty: int = CERTAINTY, by: User | None = None
) -> PredictionRun:
    """For each label that counts the three most frequent values of its attribute among the other profiles.

    Labels of a certainty below `min_certainty` (1 to 5; 0: none is asked for) are guessed, but not counted;
    where no label of the set has a certainty, all count. The profile's own label is left out of the count
    (leave-one-out): the guess does not know the answer, and where it is the last label of the most frequent
    value, another value leads; of balanced values it is thus often wrong. Values that are the same by the
    attribute's own rule are one; of equally frequent values the alphabet's first. A label without any other
    of its attribute gets no guess. The same set at the same version gives the run that is there. Raises
    BadBaseline where there is nothing to count.
    """
    counting = _counting(label_set)
    if not counting.filter(certainty__isnull=False).exists():
        min_certainty = 0
    recipe = {
        "labels": str(label_set.public_id),
        "version": label_set.version,
        "min_certainty": min_certainty,
        "note": f"labels of certainty {min_certainty} or more; {LEFT_OUT}" if min_certainty else LEFT_OUT,
    }
    if found := _made(label_set.corpus, PredictionRun.BASELINE, recipe):
        return found
    if not (kinds := _counted(counting, min_certainty)) and min_certainty:
        raise BadBaseline(f"no label of “{label_set.name}” has a certainty of {min_certainty} or more")
    run = _run(
        label_set.corpus,
        f"{MAJORITY}: {label_set.name}",
        origin=PredictionRun.BASELINE,
        model=MAJORITY,
        recipe=recipe,
        by=by,
    )
    return _filled(run, _by_frequency(run, counting, kinds, min_certainty), by)


@transaction.atomic
def from_tags(corpus: Corpus, tagger: str, *, by: User | None = None) -> PredictionRun:
    """Of each author and attribute the guesses of the tagger's easiest suggestion on one of their comments.

    Easiest: the least hardness, those without one last; the earliest comment of several. Comments that were
    withdrawn do not count. Raises BadBaseline where the tagger has no guesses about known authors.
    """
    recipe = {"tagger": tagger, "suggestions": _tags(corpus, tagger).count()}
    if found := _made(corpus, PredictionRun.DERIVED, recipe):
        return found
    run = _run(
        corpus,
        f"tags of {tagger}",
        origin=PredictionRun.DERIVED,
        model=tagger,
        recipe=recipe,
        by=by,
    )
    return _filled(run, _by_tags(run, corpus, tagger), by)


def taggers(corpus: Corpus) -> list[str]:
    """Taggers with guesses about known authors of a corpus, by name."""
    rows = Suggestion.objects.filter(comment__corpus=corpus, comment__profile__isnull=False)
    return list(rows.order_by("tagger").values_list("tagger", flat=True).distinct())


def _made(corpus: Corpus, origin: str, recipe: Mapping[str, Any]) -> PredictionRun | None:
    return PredictionRun.objects.filter(corpus=corpus, origin=origin, recipe=recipe).first()


def _run(
    corpus: Corpus, name: str, *, origin: str, model: str, recipe: Mapping[str, Any], by: User | None
) -> PredictionRun:
    """An empty run; the name is followed by a number where it is taken."""
    longest = PredictionRun._meta.get_field("name").max_length or 0
    name = squeeze(name)[: longest - 6]
    taken = set(
        PredictionRun.objects.filter(corpus=corpus, name__startswith=name).values_list("name", flat=True)
    )
    names = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return PredictionRun.objects.create(
        corpus=corpus,
        name=next(one for one in names if one not in taken),
        origin=origin,
        model=model[:120],
        recipe=dict(recipe),
        created_by=by,
    )


def _filled(run: PredictionRun, rows: Iterator[Prediction], by: User | None) -> PredictionRun:
    while some := list(islice(rows, AT_ONCE)):
        Prediction.objects.bulk_create(some)
    counted = run.rows.aggregate(rows=Count("pk"), profiles=Count("profile", distinct=True))
    if not counted["rows"]:
        raise BadBaseline(
            f"“{run.name}” would hold no guess: no attribute has two labels, or no tag an author"
        )
    run.predictions, run.profiles = counted["rows"], counted["profiles"]
    run.save(update_fields=["predictions", "profiles"])
    details = {"origin": run.origin, "predictions": run.predictions}
    audit.record(by=by, action="predictions.made", target=run, corpus=run.corpus, details=details)
    return run


class _Values:
    """The values of one attribute: how often each is a label, as which words, in which category."""

    def __init__(self, attribute: Attribute) -> None:
        self._attribute = attribute
        self._counts: Counter[str] = Counter()
        self._words: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)

    def take(self, value: str, category: str) -> None:
        key = self.key(value)
        self._counts[key] += 1
        self._words[key][(squeeze(value), category)] += 1

    def key(self, value: str) -> str:
        """The same for values that are the same."""
        try:
            return canonical(self._attribute, value).casefold()
        except BadValue:
            return squeeze(value).casefold()

    def leading(self, own: str) -> list[tuple[str, str]]:
        """Words and category of the most frequent values, one label of the key `own` left out; "": none."""
        counts = {key: number - (key == own) for key, number in self._counts.items()}
        order = sorted((key for key in counts if counts[key] > 0), key=lambda key: (-counts[key], key))
        return [
            min(self._words[key].items(), key=lambda one: (-one[1], one[0]))[0] for key in order[:GUESSES]
        ]


def _counting(label_set: LabelSet) -> QuerySet[ProfileLabel]:
    return ProfileLabel.objects.filter(label_set=label_set, hardness__gte=1).exclude(value="").order_by("pk")


def _counted(labels: QuerySet[ProfileLabel], min_certainty: int) -> dict[str, _Values]:
    found: dict[str, _Values] = {}
    kept = labels.filter(certainty__gte=min_certainty) if min_certainty else labels
    rows = kept.values_list("attribute", "value", "category")
    for attribute, value, category in rows.iterator():
        found.setdefault(attribute, _Values(attribute_of(attribute))).take(value, category)
    return found


def _by_frequency(
    run: PredictionRun, labels: QuerySet[ProfileLabel], kinds: Mapping[str, _Values], min_certainty: int
) -> Iterator[Prediction]:
    leading: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for label in labels.iterator():
        if (values := kinds.get(label.attribute)) is None:
            continue
        is_counted = (label.certainty or 0) >= min_certainty
        own = (label.attribute, values.key(label.value) if is_counted else "")
        if own not in leading:
            leading[own] = values.leading(own[1])
        guesses = leading[own]
        if guesses:
            yield _guessed(
                run,
                label.profile_id,
                label.attribute,
                *zip(*guesses, strict=True),
            )


def _guessed(
    run: PredictionRun, profile: int, attribute: str, guesses: Iterable[str], categories: Iterable[str] = ()
) -> Prediction:
    kept = list(categories)
    return Prediction(
        prediction_run=run,
        profile_id=profile,
        attribute=attribute,
        guesses=list(guesses),
        categories=kept if any(kept) else [],
    )


def _tags(corpus: Corpus, tagger: str) -> QuerySet[Suggestion]:
    of_authors = Suggestion.objects.filter(
        comment__corpus=corpus, comment__profile__isnull=False, comment__state=ACTIVE, tagger=tagger
    )
    return of_authors.exclude(guesses=[])


def _by_tags(run: PredictionRun, corpus: Corpus, tagger: str) -> Iterator[Prediction]:
    one = ("comment__profile", "attribute")
    easiest = (F("hardness").asc(nulls_last=True), "comment__sequence", "comment", "position", "pk")
    rows = _tags(corpus, tagger).order_by(*one, *easiest).distinct(*one)
    for profile, attribute, guesses in rows.values_list(*one, "guesses").iterator():
        words = [str(guess) for guess in guesses if guess is not None][:GUESSES]
        if words:
            yield _guessed(run, profile, attribute, words)
