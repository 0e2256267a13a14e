"""Suggestions of taggers outside: pushed in batches, kept for ever, never overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotation.models import Suggestion
from simulation.domain.attributes import CATALOGUE, hardness_of_word
from simulation.models import Comment, Corpus, User
from simulation.services import audit

MOST = 1000
"""Suggestions of one push."""


@dataclass(frozen=True)
class Pushed:
    """One suggestion as a tagger outside says it. `comment` is a public id or the id in the source."""

    comment: str
    attribute: str
    guesses: tuple[str, ...]
    hardness: str
    """The word: direct, indirect, complicated; another is kept and has no number."""
    certainty: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """reasoning, prompt_hash: kept as they are."""


@dataclass(frozen=True)
class Problem:
    place: int
    """Of the suggestion in the push, from 0."""
    field: str
    message: str


class Refused(Exception):
    """What is wrong with a push; nothing of it was stored."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"{len(problems)} of the suggestions cannot be taken; nothing was stored.")
        self.problems = problems


@dataclass(frozen=True)
class Taken:
    new: int
    same: int
    """Those that were pushed before, word for word."""


@transaction.atomic
def push(*, by: User, corpus: Corpus, tagger: str, batch: str, suggestions: Sequence[Pushed]) -> Taken:
    """Stores what `tagger` says in its run `batch`. The same push again stores nothing.

    Several batches of one tagger stand side by side. Raises Refused, with every problem by its place, for
    comments that are not in the corpus, unknown attributes, the same comment and attribute twice, and for
    what this batch said otherwise before: a batch has one word on an attribute of a comment.
    """
    # Two pushes of one batch wait for each other here.
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    keys = _comments(corpus, {one.comment for one in suggestions})
    problems: list[Problem] = []
    wanted: dict[tuple[int, str], tuple[int, Suggestion]] = {}
    for place, one in enumerate(suggestions):
        if one.attribute not in CATALOGUE or not CATALOGUE[one.attribute].target:
            problems.append(Problem(place, "attribute", "There is no such attribute."))
        elif one.comment not in keys:
            problems.append(Problem(place, "comment", "There is no such comment in this corpus."))
        elif (at := (keys[one.comment], one.attribute)) in wanted:
            problems.append(Problem(place, "attribute", "This comment has the attribute twice in the push."))
        else:
            wanted[at] = place, _row(keys[one.comment], tagger, batch, place, one)
    same = _compare(tagger, batch, wanted, problems)
    if problems:
        raise Refused(problems)
    new = [row for at, (_, row) in wanted.items() if at not in same]
    Suggestion.objects.bulk_create(new, batch_size=500)
    if new:
        details = {"tagger": tagger, "batch": batch, "suggestions": len(new)}
        audit.record(by=by, action="suggestions.pushed", target=corpus, corpus=corpus, details=details)
    return Taken(len(new), len(same))


def _comments(corpus: Corpus, names: set[str]) -> dict[str, int]:
    """Public id, or the id in the source, -> key. A public id comes first."""
    rows = Comment.objects.filter(corpus=corpus).filter(Q(public_id__in=names) | Q(external_id__in=names))
    found = list(rows.values_list("pk", "public_id", "external_id"))
    by_source = {external: key for key, _, external in found if external in names}
    return by_source | {public: key for key, public, _ in found if public in names}


def _row(comment: int, tagger: str, batch: str, place: int, one: Pushed) -> Suggestion:
    return Suggestion(
        comment_id=comment,
        tagger=tagger,
        batch=batch,
        attribute=one.attribute,
        position=place % 30_000,
        guesses=list(one.guesses),
        hardness_word=one.hardness,
        hardness=hardness_of_word(one.hardness),
        certainty=one.certainty,
        extra=dict(one.extra),
    )


SAID = ("guesses", "hardness_word", "certainty", "extra")


def _compare(
    tagger: str,
    batch: str,
    wanted: Mapping[tuple[int, str], tuple[int, Suggestion]],
    problems: list[Problem],
) -> set[tuple[int, str]]:
    """Those that are stored already; what was said otherwise is added to `problems`."""
    stored = Suggestion.objects.filter(
        comment__in={comment for comment, _ in wanted}, tagger=tagger, batch=batch, run=None
    )
    same = set()
    for row in stored:
        at = row.comment_id, row.attribute
        if at not in wanted:
            continue
        place, said = wanted[at]
        same.add(at)
        if any(getattr(row, name) != getattr(said, name) for name in SAID):
            message = "This batch has said otherwise before. What was said stays: push it as another batch."
            problems.append(Problem(place, "guesses", message))
    return same
