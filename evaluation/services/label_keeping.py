"""Label sets are kept: made, counted, their changes noted. What every way of making one shares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, F

from evaluation.models import LabelSet, ProfileLabel
from simulation.models import Corpus, User
from simulation.services import audit

AT_ONCE = 2000
"""Rows that one statement writes."""
One = TypeVar("One")


class BadLabels(ValueError):
    """Labels that cannot be made; `field` names the field of the form that is to be changed."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def make(
    corpus: Corpus,
    *,
    name: str,
    kind: str,
    policy: str = "",
    recipe: Mapping[str, Any],
    source: LabelSet | None = None,
    by: User | None,
) -> LabelSet:
    """An empty set, inside the caller's transaction. Raises BadLabels for a name that is taken or is none."""
    words = " ".join(name.split())
    made = LabelSet(
        corpus=corpus, name=words, kind=kind, policy=policy, recipe=dict(recipe), source=source, created_by=by
    )
    try:
        made.clean_fields(exclude={"corpus", "source", "created_by"})
    except ValidationError as error:
        raise BadLabels("name", " ".join(error.message_dict.get("name", error.messages))) from None
    try:
        with transaction.atomic():
            made.save()
    except IntegrityError:
        problem = f"There is a label set called “{words}” in this corpus already: choose another name."
        raise BadLabels("name", problem) from None
    return made


def fill(label_set: LabelSet, rows: Iterable[ProfileLabel]) -> None:
    """Writes the rows as they come, and counts them."""
    for some in batches(rows):
        ProfileLabel.objects.bulk_create(some, batch_size=AT_ONCE)
    count(label_set)


def batches(rows: Iterable[One]) -> Iterator[list[One]]:
    """The rows in lists of `AT_ONCE`, the last one shorter."""
    stream = iter(rows)
    while some := list(islice(stream, AT_ONCE)):
        yield some


def count(label_set: LabelSet) -> None:
    """Counts anew the labels that count, and their profiles."""
    counted = label_set.rows.filter(hardness__isnull=False).order_by()
    found = counted.aggregate(labels=Count("pk"), profiles=Count("profile", distinct=True))
    label_set.labels, label_set.profiles = found["labels"], found["profiles"]
    label_set.save(update_fields=["labels", "profiles"])


def changed(sets: Collection[int]) -> None:
    """Notes that labels of these sets (keys) have changed: what was counted from them is out of date."""
    LabelSet.objects.filter(pk__in=sets).update(version=F("version") + 1)


def note(by: User | None, action: str, label_set: LabelSet, **details: Any) -> None:
    """What was done, for the audit; `details` hold public ids, words of ours and numbers."""
    audit.record(by=by, action=action, target=label_set, corpus=label_set.corpus, details=details)
