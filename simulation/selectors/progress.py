"""How far a run is, counted from its steps; and the digest by which two corpora are compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from simulation.domain.run_states import StepState
from simulation.models import Comment, Corpus, Run


@dataclass(frozen=True)
class Progress:
    """Steps by what became of them; `open` are ready or in work. A simulation learns of more as it goes."""

    done: int
    skipped: int
    failed: int
    cancelled: int
    open: int

    @property
    def ended(self) -> int:
        return self.done + self.skipped + self.failed + self.cancelled

    @property
    def known(self) -> int:
        return self.ended + self.open


def progress(run: Run) -> Progress:
    """One query, on an index."""
    counts = dict(run.steps.order_by().values_list("state").annotate(n=Count("pk")))
    return Progress(
        done=counts.get(StepState.DONE, 0),
        skipped=counts.get(StepState.SKIPPED, 0),
        failed=counts.get(StepState.FAILED, 0),
        cancelled=counts.get(StepState.CANCELLED, 0),
        open=counts.get(StepState.READY, 0) + counts.get(StepState.LEASED, 0),
    )


def corpus_digest(corpus: Corpus) -> str:
    """SHA-256 (hex) over every active comment: thread, place in the tree, author, text; not over ids that
    chance or time decide. Corpora that read the same have the same digest, whatever order they grew in."""
    return _digest(Comment.objects.filter(corpus=corpus, state="active"))


def run_digest(run: Run) -> str:
    """`corpus_digest` over the comments that a run wrote: a replay has the digest of what it replays."""
    return _digest(Comment.objects.filter(thread__run_thread__run=run, state="active"))


def _digest(comments: QuerySet[Comment]) -> str:
    rows = comments.order_by("thread__external_id", "external_id").values_list(
        "thread__external_id",
        "thread__target_phrase",
        "external_id",
        "parent__external_id",
        "author",
        "username",
        "position",
        "text",
    )
    digest = hashlib.sha256()
    for row in rows.iterator(chunk_size=2000):
        digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()
