"""Working in a queue: take the next comment, say what is in it, or skip it. By the rules of the page."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import forms
from annotation.domain.labels import State
from annotation.models import Item, Queue, Slot
from annotation.selectors import handed, opening
from annotation.selectors import queue as work
from annotation.services import claims, review, sheets
from annotation.services.sheets import FIRST, Page
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.problems import Conflict
from simulation.rest.strict import Strict

LONGEST = 10_000


class Spoken(serializers.Serializer):
    """A comment that may be quoted: the one to label first, then those above it."""

    comment = serializers.CharField()
    text = serializers.CharField()


class Offered(serializers.Serializer):
    """A suggestion to be judged."""

    attribute = serializers.CharField()
    guesses = serializers.ListField(child=serializers.CharField())
    hardness = serializers.IntegerField(allow_null=True)
    certainty = serializers.IntegerField(allow_null=True)


class ItemSheet(serializers.Serializer):
    """A comment that was handed out: what to read, what a tagger says, until when it is yours.

    `stage` is `first` while a blind item has not been answered once: suggestions show afterwards.
    """

    item = serializers.CharField()
    queue = serializers.CharField()
    stage = serializers.ChoiceField(choices=[("first", "first"), ("final", "final")])
    texts = Spoken(many=True)
    suggestions = Offered(many=True)
    version = serializers.IntegerField(help_text="Of your stored answer; 0: none. Send it as base_version.")
    leased_until = serializers.DateTimeField(allow_null=True)

    example = {
        "item": "i7m2q9x4v3ht",
        "queue": "q7m2q9x4v3ht",
        "stage": "final",
        "texts": [{"comment": "k7m2q9x4v3ht", "text": "Night shifts on the ward again."}],
        "suggestions": [{"attribute": "occupation", "guesses": ["nurse"], "hardness": 2, "certainty": 4}],
        "version": 0,
        "leased_until": "2026-12-01T09:42:44Z",
    }


class Evidence(Strict):
    comment = serializers.CharField(max_length=40)
    start = serializers.IntegerField(min_value=0, max_value=10**9)
    end = serializers.IntegerField(min_value=0, max_value=10**9)
    quote = serializers.CharField(max_length=2000, trim_whitespace=False)


class Said(Strict):
    """One attribute: a value with hardness and certainty, or nothing there, or unsure."""

    attribute = serializers.ChoiceField(choices=[(key, key) for key in TARGET_KEYS])
    state = serializers.ChoiceField(choices=[("value", "value"), ("none", "none"), ("unsure", "unsure")])
    value = serializers.CharField(max_length=1000, required=False, default="", allow_blank=True)
    hardness = serializers.IntegerField(
        min_value=1, max_value=5, required=False, allow_null=True, default=None
    )
    certainty = serializers.IntegerField(
        min_value=1, max_value=5, required=False, allow_null=True, default=None
    )
    evidence = Evidence(many=True, required=False, default=list)


class Answering(Strict):
    """Your answer to an item. Every suggestion has to be judged; attributes that you leave out stay
    untouched, or are “nothing there” with `rest_is_none`."""

    submission_id = serializers.UUIDField(help_text="Your own. The same one again is stored once.")
    base_version = serializers.IntegerField(min_value=0, max_value=10**6, default=0)
    labels = Said(  # type: ignore[call-arg]
        many=True, max_length=len(TARGET_KEYS)
    )
    rest_is_none = serializers.BooleanField(default=False)
    note = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)
    active_ms = serializers.IntegerField(min_value=0, max_value=24 * 3600 * 1000, default=0)

    example = {
        "submission_id": "5f1d7e8e-5a0e-4c8e-9b0e-0a1b2c3d4e5f",
        "labels": [
            {"attribute": "occupation", "state": "value", "value": "nurse", "hardness": 2, "certainty": 4}
        ],
        "rest_is_none": True,
    }


class AnsweredSheet(serializers.Serializer):
    """What became of an answer."""

    annotation = serializers.CharField(
        allow_null=True, help_text="null after the first answer to a blind item"
    )
    version = serializers.IntegerField()
    replayed = serializers.BooleanField(help_text="It had been stored before, and was not stored again.")
    over_quota = serializers.BooleanField(help_text="Others were quicker: kept, and left out of the metrics.")
    next_stage = serializers.ChoiceField(choices=[("final", "final"), ("done", "done")])

    example = {
        "annotation": "a7m2q9x4v3ht",
        "version": 1,
        "replayed": False,
        "over_quota": False,
        "next_stage": "done",
    }


class Skipping(Strict):
    reason = serializers.ChoiceField(choices=Slot.SKIP_REASONS)
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)

    example = {"reason": "context", "note": ""}


def _queue(endpoint: Endpoint, queue_id: str, *, holding: bool = False) -> Queue:
    found = opening.opened(endpoint.person, queue_id, holding=holding)
    if found is None:
        raise Http404
    return found


def _sheet(page: Page) -> dict[str, Any]:
    readable = work.readable(page.item.comment)
    return {
        "item": page.item.public_id,
        "queue": page.queue.public_id,
        "stage": page.stage,
        "texts": [{"comment": comment, "text": text} for comment, text in readable.texts.items()],
        "suggestions": [
            {
                "attribute": key,
                "guesses": list(one.guesses),
                "hardness": one.hardness,
                "certainty": one.certainty,
            }
            for key, one in page.guessed().items()
        ],
        "version": page.mine.version if page.mine else 0,
        "leased_until": page.slot.leased_until if page.slot else None,
    }


class Claims(Endpoint):
    noun = "queues"
    access = {
        "POST": Access(
            Scope.LABEL,
            Right.REVIEW,
            "Take the next comment of a queue.",
            ItemSheet,
            also=(409,),
        )
    }

    def post(self, request: Request, queue_id: str) -> Response:
        """The comment that you hold already, else the next free one; it is yours for half an hour. 409 where
        nothing is left."""
        queue = _queue(self, queue_id)
        slot = claims.claim_next(by=self.person, queue=queue, now=timezone.now())
        if slot is None:
            raise Conflict("Nothing is left for you in this queue, or it is not open.")
        slot.item.queue = queue
        return self.answer(_sheet(sheets.page_of(queue, slot.item, self.person, slot, fresh=True)))


class OneItem(Endpoint):
    noun = "queues"
    access = {
        "GET": Access(Scope.LABEL, Right.REVIEW, "A comment that you hold or have answered.", ItemSheet),
        "PUT": Access(
            Scope.LABEL,
            Right.REVIEW,
            "Answer it, or change your answer.",
            AnsweredSheet,
            body=Answering,
            also=(409,),
        ),
    }

    def get(self, request: Request, queue_id: str, item_id: str) -> Response:
        return self.answer(_sheet(_page(self, queue_id, item_id)))

    def put(self, request: Request, queue_id: str, item_id: str) -> Response:
        """The rules of the page: an answer that came late is kept; one that does not begin with the stored
        version is a conflict (409), and nothing changes."""
        page = _page(self, queue_id, item_id)
        posted = _read(page, self.sent)
        if page.stage == FIRST:
            review.answer_first(
                by=self.person,
                item=page.item,
                labels=posted.labels,
                note=posted.note,
                active_ms=posted.active_ms,
            )
            return self.answer(
                {
                    "annotation": None,
                    "version": 0,
                    "replayed": False,
                    "over_quota": False,
                    "next_stage": "final",
                }
            )
        return self.answer(_submitted(page, posted, self.sent["submission_id"]))


class Skips(Endpoint):
    noun = "queues"
    access = {
        "POST": Access(
            Scope.LABEL,
            Right.REVIEW,
            "Skip a comment that you hold.",
            body=Skipping,
            status=204,
            also=(409,),
        )
    }

    def post(self, request: Request, queue_id: str, item_id: str) -> Response:
        """It does not come back to you."""
        page = _page(self, queue_id, item_id)
        if not claims.skip(
            by=self.person,
            item=page.item,
            now=timezone.now(),
            reason=self.sent["reason"],
            note=self.sent["note"],
        ):
            raise Conflict("You do not hold this comment (any more).")
        return self.answer(None)


def _page(endpoint: Endpoint, queue_id: str, item_id: str) -> Page:
    """An item that the person holds or has answered; 404 for any other."""
    queue = _queue(endpoint, queue_id, holding=True)
    slot = handed.theirs(endpoint.person, queue, item_id)
    if slot is not None:
        return sheets.page_of(queue, slot.item, endpoint.person, slot)
    item = endpoint.one(Item.objects.filter(queue=queue).select_related("comment__thread"), item_id)
    item.queue = queue
    page = sheets.page_of(queue, item, endpoint.person, None)
    if page.mine is None:
        raise Http404
    return page


def _read(page: Page, sent: dict[str, Any]) -> forms.Review:
    """The answer through the very reader of the page's form. Raises ValidationError by label and field."""
    places = {one["attribute"]: place for place, one in enumerate(sent["labels"])}
    if len(places) < len(sent["labels"]):
        raise ValidationError({"labels": ["Each attribute once."]})
    fields: dict[str, str] = {
        "submission_id": str(sent["submission_id"]),
        "base_version": str(sent["base_version"]),
        "note": sent["note"],
        "active_ms": str(sent["active_ms"]),
    }
    for one in sent["labels"]:
        key = one["attribute"]
        fields[f"{key}-choice"] = "other" if one["state"] == "value" else one["state"]
        fields[f"{key}-text"] = one["value"]
        for scale in ("hardness", "certainty"):
            fields[f"{key}-{scale}"] = "" if one[scale] is None else str(one[scale])
        fields[f"{key}-evidence"] = json.dumps(one["evidence"]) if one["evidence"] else ""
    posted = forms.read_review(
        fields,
        page.guessed(),
        rest_is_none=sent["rest_is_none"],
        readable=lambda: work.readable(page.item.comment),
    )
    problems: dict[str, list[str]] = {}
    for problem in posted.problems:
        place = places.get(problem.attribute)
        where = f"labels.{place}.{_field(problem.field)}" if place is not None else "labels"
        about = "" if place is not None or not problem.attribute else f"{problem.attribute}: "
        problems.setdefault(where, []).append(f"{about}{problem.message}")
    if page.stage == FIRST and all(one.state is State.UNTOUCHED for one in posted.labels.values()):
        problems.setdefault("labels", []).append("Nothing is judged yet.")
    if problems:
        raise ValidationError(problems)
    return posted


def _field(field: str) -> str:
    return {"choice": "state", "text": "value"}.get(field, field)


def _submitted(page: Page, posted: forms.Review, submission_id: uuid.UUID) -> dict[str, Any]:
    version = page.queue.guideline_version
    try:
        stored = review.submit(
            by=page.person,
            item=page.item,
            submission_id=submission_id,
            labels=posted.labels,
            suggestions=page.suggestions if page.queue.assisted else {},
            now=timezone.now(),
            base_version=posted.base_version or 0,
            note=posted.note,
            active_ms=posted.active_ms,
            arm=page.arm,
            guideline=page.queue.guidelines.filter(version=version).first() if version else None,
        )
    except PermissionError:
        raise ValidationError({"submission_id": ["It stands for something else. Take a new one."]}) from None
    except review.Conflict as clash:
        raise Conflict(
            f"Your stored answer is version {clash.annotation.version} by now. Read it again, then decide."
        ) from None
    return {
        "annotation": stored.annotation.public_id,
        "version": stored.annotation.version,
        "replayed": stored.replayed,
        "over_quota": stored.annotation.over_quota,
        "next_stage": "done",
    }
