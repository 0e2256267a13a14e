"""What stands on the review page: gathered here, drawn by templates/review/item.html."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import lru_cache

from django.core.signing import Signer
from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from annotation import forms
from annotation.domain import keys, rows
from annotation.models import Annotation, Draft, Flag, Item, Slot
from annotation.selectors import tallies
from annotation.services.sheets import Page
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS
from simulation.models import User
from simulation.selectors import threads
from simulation.selectors.access import PersonRequest


def ticket(item: Item, person: User) -> str:
    """Proof that a page of this item was made for this person; goes out and comes back with the form."""
    return Signer(salt="annotation.review").signature(f"{item.public_id}:{person.public_id}")


@lru_cache(maxsize=4096)
def _row_html(row: rows.Row) -> SafeString:
    return render_to_string("review/_row.html", {"row": row})


def show(request: PersonRequest, page: Page, posted: forms.Review | None = None) -> HttpResponse:
    """The page, or its changing part for a script; 422 with what is wrong with `posted`."""
    problems = posted.problems if posted else []
    suggestions = {key: (guess, page.suggestions[key].tagger) for key, guess in page.guessed().items()}
    built = rows.build(suggestions, posted.given if posted else page.given(), problems)
    standing = tallies.standing(page.person, page.queue)
    context = {
        "section": "review",
        "queue": page.queue,
        "item": page.item,
        "slot": page.slot,
        "mine": page.mine,
        "stage": page.stage,
        "blind": page.blind,
        "steps": threads.path_to(page.item.comment),
        "thread": page.item.comment.thread,
        "author_url": reverse("author", args=[page.item.comment.public_id]),
        "rows_html": [_row_html(row) for row in built],
        "rows": built,
        "problems": problems,
        "labels": _LABELS,
        "submission_id": (posted.submission_id if posted else None) or uuid.uuid4(),
        "lease_token": (page.slot.lease_token if page.slot else None) or "",
        "base_version": page.mine.version if page.mine else 0,
        "ticket": ticket(page.item, page.person),
        "active_ms": posted.active_ms if posted else 0,
        "note": _note(page, posted),
        "progress": standing.all,
        "own": standing.own,
        "draft_json": None if posted else _draft(page),
        "has_guidelines": bool(page.queue.guideline_version),
        "guideline_version": page.queue.guideline_version or 0,
        "skip_reasons": Slot.SKIP_REASONS,
        "flagged": _flag(page),
        "keys": keys.bound(page.person.review_keys),
        "keys_on": page.person.review_keys_on,
        "hardness": HARDNESS,
        "certainty": CERTAINTY,
        "marks": range(1, 6),
    }
    return whole_or_part(request, "review/item.html", context, status=422 if posted else 200)


_LABELS = {attribute.key: attribute.label for attribute in CATALOGUE.values()}


def whole_or_part(
    request: PersonRequest, template: str, context: Mapping[str, object], *, status: int = 200
) -> HttpResponse:
    name = f"{template}#work" if request.htmx else template
    return render(request, name, dict(context), status=status)


def _note(page: Page, posted: forms.Review | None) -> str:
    if posted:
        return posted.note
    if page.mine:
        return page.mine.note
    return page.first.note if page.first else ""


def _draft(page: Page) -> dict[str, object] | None:
    if page.slot and page.slot.has_draft is False:
        return None
    draft = Draft.objects.filter(item=page.item, person=page.person).first()
    if draft is None:
        return None
    return {"version": draft.base_version, "stamp": draft.stamp, "fields": draft.fields}


def _flag(page: Page) -> Flag | None:
    if not page.item.flagged:
        return None
    return Flag.objects.filter(item=page.item, person=page.person, resolved_at=None).first()


def conflict(request: PersonRequest, page: Page, posted: forms.Review, stored: Annotation) -> HttpResponse:
    """409: what the person just sent beside what another page of theirs stored; nothing is lost."""
    suggestions = {key: (guess, page.suggestions[key].tagger) for key, guess in page.guessed().items()}
    sent = rows.build(suggestions, posted.given)
    kept = rows.build(suggestions, Page.given(_with(page, stored)))
    context = {
        "section": "review",
        "queue": page.queue,
        "item": page.item,
        "stored": stored,
        "pairs": [
            {
                "key": one.key,
                "attribute": one.attribute,
                "mine": one,
                "stored": other,
                "differs": one != other,
            }
            for one, other in zip(sent, kept, strict=True)
        ],
        "note": posted.note,
        "note_differs": posted.note != stored.note,
        "fields": [(name, value) for name, value in request.POST.items() if name in forms.DRAFTED],
        "submission_id": uuid.uuid4(),
        "base_version": stored.version,
        "lease_token": request.POST.get("lease_token", ""),
        "ticket": ticket(page.item, page.person),
        "item_url": reverse("review_item", args=[page.queue.public_id, page.item.public_id]),
    }
    return whole_or_part(request, "review/conflict.html", context, status=409)


def _with(page: Page, stored: Annotation) -> Page:
    return Page(page.queue, page.item, page.person, page.slot, stored, page.first, page.suggestions)
