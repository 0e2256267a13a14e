"""A corpus is masked: planned by people, carried out by a worker in batches, resumed where it stopped."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from evaluation.domain.masking import LEAST, Category, Masker, Style, mask
from evaluation.domain.masking_presidio import MaskerMissing
from evaluation.models import MaskedText, Masking
from evaluation.selectors import masking as selected
from evaluation.services import reports
from evaluation.services.masking_maskers import REGISTRY, kind_of
from evaluation.services.masking_reports import REPORT
from simulation.models import Comment, Corpus, User
from simulation.services import audit

BATCH = 500
"""Comments of one transaction: what a killed worker loses at most."""
LONGEST_NAME = 120
STOPPED = "It stopped because of an error of ours; what is masked stays. The server's log has the details."
log = logging.getLogger("synthpai.masking")


class BadMasking(ValueError):
    """What cannot be masked so; `field` is the one to mend, "" for the whole."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def digest_of(text: str) -> str:
    """What `MaskedText.original` says of the text that was masked: SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def mask_corpus(
    corpus: Corpus,
    *,
    name: str,
    masker: str = "rules",
    style: str = Masking.STARS,
    options: Mapping[str, Any] | None = None,
    by: User | None = None,
) -> Masking:
    """A masking in state waiting; the caller tells the worker (`tasks.mask_texts`).

    `options`: `least`, the confidence from 0 to 1 from which a span is masked (0.4, as published), and
    `categories`, their published names (all). The same name with the same masker, version, style and options:
    the one that is there, waiting again if comments were added or edited since, or if it failed; else
    unchanged. Raises BadMasking; nothing is changed then.
    """
    name = name.strip()
    told = _told(corpus, name, masker, style, options or {})
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)  # who presses twice waits here
    found = Masking.objects.filter(corpus=corpus, name=name).first()
    if found is None:
        made = Masking.objects.create(corpus=corpus, name=name, origin=Masking.MADE, created_by=by, **told)
        audit.record(by=by, action="masking.planned", target=made, corpus=corpus, details=told)
        return made
    if found.origin != Masking.MADE or found.run_id or any(getattr(found, key) != told[key] for key in told):
        raise BadMasking("name", f"There is another masking “{name}” in this corpus; choose another name.")
    is_over = found.state in (Masking.DONE, Masking.FAILED)
    if found.state == Masking.FAILED or (is_over and selected.unmasked(found).exists()):
        found.state, found.reason, found.finished_at = Masking.WAITING, "", None
        found.save(update_fields=["state", "reason", "finished_at"])
        audit.record(by=by, action="masking.resumed", target=found, corpus=corpus)
    return found


def _told(corpus: Corpus, name: str, masker: str, style: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say how it is masked, in one spelling. Raises BadMasking."""
    check_name(name)
    kind = REGISTRY.get(masker)
    if kind is None:
        raise BadMasking("masker", f"There is no masker “{masker[:40]}”; there are: {', '.join(REGISTRY)}.")
    if missing := kind.missing():
        raise BadMasking("masker", f"{kind.title} is not installed. Install it with: {missing}")
    if style not in list(Style):
        raise BadMasking("style", f"A masker masks in one of the styles {', '.join(Style)}.")
    if unknown := options.keys() - {"least", "categories"}:
        raise BadMasking("", f"Unknown options: {', '.join(sorted(unknown))}.")
    least = options.get("least", LEAST)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise BadMasking("least", "The least confidence is a number from 0 to 1.")
    wanted = set(options.get("categories", Category))
    if strange := wanted - set(Category):
        raise BadMasking("categories", f"No categories: {', '.join(sorted(map(str, strange)))[:200]}.")
    if not wanted:
        raise BadMasking("categories", "Choose at least one category.")
    if not Comment.objects.filter(corpus=corpus, state="active").exists():
        raise BadMasking("", "There is no comment to mask: import or simulate comments first.")
    categories = [one.value for one in Category if one in wanted]
    return {
        "masker": kind.called,
        "style": style,
        "options": {"least": float(least), "categories": categories},
    }


def check_name(name: str) -> None:
    """Raises BadMasking for a name that a masking cannot have."""
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadMasking("name", f"A name has 1 to {LONGEST_NAME} characters.")


def carry_out(masking_id: int) -> None:
    """Masks what is left, batch by batch, each a transaction during which the masking's row is locked.

    Whoever finds it locked leaves at once, so two never mask the same texts; a worker that is killed loses
    its batch, and the next one goes on behind the last that was kept. Does nothing for a finished masking.
    """
    work = _Work(masking_id)
    try:
        while work.batch():
            pass
    except (MaskerMissing, ValueError) as error:
        _fail(masking_id, f"The masker stopped: {error}.")
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except Exception:  # a fault of ours has no name yet; the masking must end, whatever it is
        log.exception("masking %s stopped", masking_id)
        _fail(masking_id, STOPPED)


class _Work:
    """One worker's way through the comments of a masking."""

    def __init__(self, masking_id: int) -> None:
        self._id = masking_id
        self._masker: Masker | None = None
        self._place = (-1, 0)
        """Sequence and key of the last comment that this worker has masked."""

    @transaction.atomic
    def batch(self) -> bool:
        """Masks some more; False where nothing is left, or somebody else is at it."""
        taken = Masking.objects.select_for_update(skip_locked=True, of=("self",)).select_related("corpus")
        open_states = (Masking.WAITING, Masking.RUNNING)
        one = taken.filter(pk=self._id, state__in=open_states, origin=Masking.MADE, run=None).first()
        if one is None:
            return False
        sequence, key = self._place
        left = selected.unmasked(one).filter(sequence__gte=sequence)
        comments = list(
            left.filter(Q(sequence__gt=sequence) | Q(pk__gt=key)).only("text", "sequence")[:BATCH]
        )
        if not comments:
            finish(one)
            return False
        self._keep(one, comments)
        if one.state == Masking.WAITING:
            one.state = Masking.RUNNING
            one.save(update_fields=["state"])
        self._place = comments[-1].sequence, comments[-1].pk
        return True

    def _keep(self, one: Masking, comments: list[Comment]) -> None:
        masker = self._masker = self._masker or _masker_of(one)
        style, least = Style(one.style), one.options["least"]
        categories = [Category(name) for name in one.options["categories"]]
        rows = []
        for comment in comments:
            found = mask(comment.text, masker, style=style, least=least, categories=categories)
            spans = [
                {
                    "start": span.start,
                    "end": span.end,
                    "category": span.category,
                    "confidence": span.confidence,
                }
                for span in found.spans
            ]
            rows.append(
                MaskedText(
                    masking=one,
                    comment=comment,
                    text=found.text,
                    original=digest_of(comment.text),
                    spans=spans,
                )
            )
        MaskedText.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["masking", "comment"],
            update_fields=["text", "original", "spans"],
        )


def _masker_of(one: Masking) -> Masker:
    """The masker that it was planned with. Raises MaskerMissing where there is another by now."""
    kind = kind_of(one.masker)
    if kind is None or kind.missing() or kind.called != one.masker:
        now = f"here is {kind.called}" if kind and not kind.missing() else "it is not installed here"
        raise MaskerMissing(f"it was planned with {one.masker}, and {now}; mask under another name")
    return kind.make(one.corpus.language)


def finish(one: Masking) -> None:
    """Counts the rows, and asks for the masking's report. The masking is saved as done."""
    counted = asdict(selected.counts(one))
    for field, value in counted.items():
        setattr(one, field, value)
    one.state, one.reason, one.finished_at = Masking.DONE, "", timezone.now()
    one.save(update_fields=[*counted, "state", "reason", "finished_at"])
    reports.ask_for(one.corpus, REPORT, {"masking": one.public_id})


def _fail(masking_id: int, reason: str) -> None:
    Masking.objects.filter(pk=masking_id).update(
        state=Masking.FAILED, reason=reason, finished_at=timezone.now()
    )


def stale() -> list[int]:
    """Maskings that nobody is working on although they are not finished: their message or worker was lost."""
    waiting = Masking.objects.filter(
        state__in=[Masking.WAITING, Masking.RUNNING], origin=Masking.MADE, run=None, corpus__trashed_at=None
    )
    with transaction.atomic():
        return list(waiting.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True))
