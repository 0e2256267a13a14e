"""Comments on which tagging runs differ, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.models import Suggestion
from annotation.selectors.tag_compare import LETTERS, common
from simulation.domain.attributes import CATALOGUE
from simulation.domain.matching import Match, compare
from simulation.models import Comment, Run

SHOWN, LOOKED_AT = 20, 100
"""Comments on a page, and of how many the meaning is compared for it."""


@dataclass(frozen=True)
class Said:
    """One attribute of one comment: what each run says, None where it says nothing."""

    attribute: str
    guesses: Sequence[tuple[str, Suggestion | None]]
    """(letter of the run, its tag)"""
    differs: bool


@dataclass(frozen=True)
class Differing:
    comment: Comment
    said: Sequence[Said]


@dataclass(frozen=True)
class Sample:
    rows: Sequence[Differing]
    looked_at: int
    """Comments of this page whose tags are not word for word the same."""
    after: str
    """Public id of the comment behind which the next page begins; empty: this is the last."""


def differing(runs: Sequence[Run], *, after: str = "") -> Sample:
    """Comments on which the runs differ, in the corpus' order; three queries.

    The database finds those whose first guesses are not the same words; which of them are the same in meaning
    the rules for values say. So a page may hold fewer than `SHOWN`, and still have one behind it.
    """
    found = _from(runs, after)
    tags: dict[int, dict[tuple[str, int], Suggestion]] = {}
    for tag in Suggestion.objects.filter(run__in=runs, comment__in=[one.pk for one in found[:LOOKED_AT]]):
        tags.setdefault(tag.comment_id, {})[tag.attribute, tag.run_id or 0] = tag
    rows: list[Differing] = []
    looked_at, last = 0, None
    for comment in found[:LOOKED_AT]:
        looked_at, last = looked_at + 1, comment
        said = _said(runs, tags.get(comment.pk, {}))
        if any(one.differs for one in said):
            rows.append(Differing(comment, said))
        if len(rows) == SHOWN:
            break
    more = len(found) > looked_at
    return Sample(rows, looked_at, last.public_id if last and more else "")


def _from(runs: Sequence[Run], after: str) -> list[Comment]:
    comments = Comment.objects.filter(pk__in=common(runs)).filter(_not_word_for_word(runs))
    mark = runs[0].corpus.comments.filter(public_id=after).first() if after else None
    if mark is not None:
        comments = comments.filter(sequence__gte=mark.sequence).exclude(
            sequence=mark.sequence, pk__lte=mark.pk
        )
    return list(comments.order_by("sequence", "pk").select_related("thread")[: LOOKED_AT + 1])


def _not_word_for_word(runs: Sequence[Run]) -> Exists:
    """A tag of one run that another run has not, with the same first guess."""
    agreeing = (
        Suggestion.objects.filter(
            run__in=runs,
            comment=OuterRef("comment"),
            attribute=OuterRef("attribute"),
            guesses__0=OuterRef("guesses__0"),
        )
        .order_by()
        .values("comment")
        .annotate(n=Count("run", distinct=True))
        .filter(n=len(runs))
    )
    return Exists(Suggestion.objects.filter(~Exists(agreeing), comment=OuterRef("pk"), run__in=runs))


def _said(runs: Sequence[Run], tags: Mapping[tuple[str, int], Suggestion]) -> list[Said]:
    named = {attribute for attribute, _ in tags}
    found = []
    for key in (key for key in CATALOGUE if key in named):
        guesses = [tags.get((key, run.pk)) for run in runs]
        found.append(Said(key, list(zip(LETTERS, guesses, strict=False)), _differ(key, guesses)))
    return found


def _differ(attribute: str, guesses: Sequence[Suggestion | None]) -> bool:
    """Whether one run says nothing, or its first guess is not the same as that of the first run."""
    if any(one is None or not one.words for one in guesses):
        return True
    first, *others = (one.words[0] for one in guesses if one is not None)
    return any(compare(CATALOGUE[attribute], first, other) is not Match.SAME for other in others)
