"""Inference on masked texts: what is shown of an author, who can be asked about, what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from annotation.models import AttributeLabel, Suggestion
from evaluation.domain.inference import Shown
from evaluation.models import LabelSet, MaskedText, Masking, PredictionRun
from evaluation.selectors.masking import Sha256
from simulation.domain.plans import BadPlan
from simulation.models import Comment, Corpus, Profile


@dataclass(frozen=True)
class Said:
    """What an author wrote, in the corpus' order. `unmasked` comments are left out: they have no masked text,
    or were edited since it was made. Always 0 for plain texts."""

    comments: list[Shown]
    unmasked: int = 0


def said_by(author: int, masking: str | None) -> Said:
    """The author's active comments, as they are or as the masking of this public id has them; one query."""
    said = AttributeLabel.objects.filter(annotation__comment=OuterRef("pk"), state="value")
    tagged = Suggestion.objects.filter(comment=OuterRef("pk"))
    found = Comment.objects.filter(profile=author, state="active")
    rows = found.annotate(said=Exists(said), tagged=Exists(tagged)).order_by("sequence", "pk")
    shown = "text"
    if masking is not None:
        texts = MaskedText.objects.filter(
            masking__public_id=masking, comment=OuterRef("pk"), original=Sha256(OuterRef("text"))
        )
        rows, shown = rows.annotate(text_shown=Subquery(texts.values("text")[:1])), "text_shown"
    there = list(rows.values_list(shown, "said", "tagged"))
    kept = [row for row in there if row[0] is not None]
    by_people = any(said for _, said, _ in kept)
    return Said(
        [Shown(text, said if by_people else tagged) for text, said, tagged in kept], len(there) - len(kept)
    )


def authors(corpus: Corpus, masking: Masking | None) -> QuerySet[Profile]:
    """The profiles with at least one active comment, or masked text of one, that can be shown."""
    writes: Any = Comment.objects.filter(profile=OuterRef("pk"), state="active")
    if masking is not None:
        texts = MaskedText.objects.filter(masking=masking, comment__profile=OuterRef("pk"))
        writes = texts.filter(comment__state="active", original=Sha256("comment__text"))
    return Profile.objects.filter(Exists(writes), corpus=corpus).order_by("pk")


def check(corpus: Corpus, masking: Masking | None) -> None:
    """Raises BadPlan for a masking that no texts can be taken from."""
    if masking is None:
        return
    if masking.corpus_id != corpus.pk:
        raise BadPlan("masking", "No masking of this corpus.")
    if masking.state != Masking.DONE:
        raise BadPlan("masking", f"“{masking.name}” is {masking.state}; choose one that is done.")


def described(masking: Masking | None) -> dict[str, Any]:
    """What a recipe says in words of the texts; the masking itself is a field of the prediction run."""
    if masking is None:
        return {}
    return {"texts": f"masked: {masking.name}"}


def counterpart_of(
    corpus: Corpus, model: str, labels: LabelSet | None, asked: dict[str, Any]
) -> PredictionRun | None:
    """The run on plain text that one on masked text is compared with: of the same model, asked here about the
    same label set by the same prompt (`asked`: variant and comment_tokens of the plan). None unless there is
    exactly one: people then choose on the run's page."""
    same = {f"run__plan__{key}": value for key, value in asked.items() if value is not None}
    none = {f"run__plan__{key}": None for key, value in asked.items() if value is None}
    about = {"run__plan__labels": labels.public_id if labels else None}
    found = PredictionRun.objects.filter(
        corpus=corpus,
        model=model,
        text=PredictionRun.PLAIN,
        origin=PredictionRun.ASKED,
        **same,
        **none,
        **about,
    )[:2]
    one = list(found)
    return one[0] if len(one) == 1 else None
