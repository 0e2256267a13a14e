"""Which comments a tagging run takes: a part of a corpus, in the corpus' order, active ones alone."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Suggestion
from annotation.selectors import search
from simulation.domain.run_states import StepState
from simulation.models import Comment, Corpus, Run, Step


def untagged(corpus: Corpus, asked: CommentFilter | None = None) -> QuerySet[Comment]:
    """Those of `asked` that no model has been asked about and that carry no suggestion.

    Where a model said that nothing can be inferred, it has been asked.
    """
    tagged = Suggestion.objects.filter(comment=OuterRef("pk"))
    done = Step.objects.filter(comment=OuterRef("pk"), kind="tag", state=StepState.DONE)
    return part(corpus, asked).filter(~Exists(tagged), ~Exists(done))


def part(
    corpus: Corpus, asked: CommentFilter | None = None, *, written_by: Run | None = None
) -> QuerySet[Comment]:
    """The active comments that `asked` means (None: all); of the simulation `written_by` alone, if given.

    What a fork copied was written by its source.
    """
    found = search.matching(corpus, asked or CommentFilter()).filter(state="active")
    if written_by is None:
        return found
    copied = Step.objects.filter(run=written_by, comment=OuterRef("pk"), result__has_key="copied")
    return found.filter(~Exists(copied), thread__run_thread__run=written_by)
