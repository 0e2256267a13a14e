"""Queues: those that one works in or manages, a new one, their state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Queue
from annotation.selectors import tallies
from annotation.services import queues
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.rest.problems import Conflict
from simulation.rest.strict import PublicId, Strict

WORK_OR_MANAGE = (Right.REVIEW, Right.MANAGE_QUEUES)


class QueueSheet(serializers.Serializer):
    """A queue and how far it is. One slot for each person that an item wants: done + skipped + left = all."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    name = serializers.CharField()
    state = serializers.CharField()
    people_per_item = serializers.IntegerField()
    assisted = serializers.BooleanField(help_text="Whether suggestions are shown.")
    tagger = serializers.CharField(help_text="Whose suggestions; empty: the latest of each attribute.")
    blind_percent = serializers.IntegerField()
    order = serializers.CharField()
    done = serializers.SerializerMethodField()
    skipped = serializers.SerializerMethodField()
    left = serializers.SerializerMethodField()

    example = {
        "id": "q7m2q9x4v3ht",
        "corpus": "k7m2q9x4v3ht",
        "name": "round 1",
        "state": "open",
        "people_per_item": 2,
        "assisted": True,
        "tagger": "",
        "blind_percent": 10,
        "order": "random",
        "done": 120,
        "skipped": 3,
        "left": 77,
    }

    def get_done(self, row: Queue) -> int:
        return self._progress(row).done

    def get_skipped(self, row: Queue) -> int:
        return self._progress(row).skipped

    def get_left(self, row: Queue) -> int:
        return self._progress(row).left

    def _progress(self, row: Queue) -> tallies.Progress:
        """One query for all rows of a page."""
        known: dict[int, tallies.Progress] | None = getattr(self, "_known", None)
        if known is None or row.pk not in known:
            page = self.parent.instance if self.parent is not None else None
            rows: Sequence[Queue] = page if isinstance(page, list) else [row]
            known = self._known = tallies.progress_of(rows)
        return known[row.pk]


class QueueQuery(PageQuery):
    corpus = PublicId(required=False, help_text="Public id of a corpus.")
    state = serializers.ChoiceField(choices=Queue.STATES, required=False)


class QueueMaking(Strict):
    """A new queue over the active comments of a corpus."""

    name = serializers.CharField(max_length=80)
    people_per_item = serializers.IntegerField(min_value=1, max_value=10, default=1)
    only_suggested = serializers.BooleanField(
        default=False, help_text="Leave out comments without any suggestion."
    )
    text = serializers.CharField(
        max_length=200,
        required=False,
        default="",
        allow_blank=True,
        help_text="Words, as the search has them.",
    )
    thread = PublicId(required=False, default="", allow_blank=True, help_text="Public id of a thread.")
    author = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    assisted = serializers.BooleanField(default=True)
    tagger = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    blind_percent = serializers.IntegerField(min_value=0, max_value=100, default=0)
    order = serializers.ChoiceField(choices=Queue.ORDERS, default="corpus")
    seed = serializers.IntegerField(min_value=0, max_value=2**53 - 1, default=0)
    skip_policy = serializers.ChoiceField(choices=Queue.SKIP_POLICIES, default=Queue.SKIP_OTHERS)
    guidelines = serializers.CharField(
        max_length=20_000, required=False, default="", allow_blank=True, help_text="Markdown."
    )

    example = {"name": "round 1", "people_per_item": 2, "only_suggested": True, "order": "random", "seed": 7}

    def validate(self, said: dict[str, Any]) -> dict[str, Any]:
        if not said["assisted"] and said["blind_percent"]:
            message = "Without suggestions every answer is blind: write 0 here, or show suggestions."
            raise serializers.ValidationError({"blind_percent": message})
        return said


class QueueState(Strict):
    state = serializers.ChoiceField(choices=Queue.STATES)

    example = {"state": "paused"}


WAYS = ("people_per_item", "assisted", "tagger", "blind_percent", "order", "seed", "skip_policy")


class Queues(Endpoint):
    noun = "queues"
    access = {
        "GET": Access(
            Scope.READ,
            WORK_OR_MANAGE,
            "The queues that you work in or manage.",
            QueueSheet,
            query=QueueQuery,
            paged=True,
        )
    }

    def get(self, request: Request) -> Response:
        rows = _mine(self)
        if "corpus" in self.asked:
            rows = rows.filter(corpus__public_id=self.asked["corpus"])
        if "state" in self.asked:
            rows = rows.filter(state=self.asked["state"])
        return self.page(rows)


class QueuesOfCorpus(Endpoint):
    noun = "queues"
    access = {
        "POST": Access(
            Scope.MANAGE,
            Right.MANAGE_QUEUES,
            "Make a queue over the comments of a corpus.",
            QueueSheet,
            body=QueueMaking,
            status=201,
            also=(409,),
        )
    }

    def post(self, request: Request, corpus_id: str) -> Response:
        """It is open at once, for everybody who may review in the corpus."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.MANAGE_QUEUES), corpus_id)
        said = self.sent
        wanted = CommentFilter(text=said["text"], thread=said["thread"], author=said["author"])
        try:
            with transaction.atomic():
                made = queues.create(
                    by=self.person,
                    corpus=corpus,
                    name=said["name"],
                    comments=wanted,
                    only_suggested=said["only_suggested"],
                    guidelines=said["guidelines"],
                    **{name: said[name] for name in WAYS},
                )
        except IntegrityError:
            raise Conflict("The corpus has a queue of this name already, perhaps in the trash.") from None
        return self.answer(made, headers={"Location": reverse("api_queue", args=[made.public_id])})


class OneQueue(Endpoint):
    noun = "queues"
    access = {
        "GET": Access(Scope.READ, WORK_OR_MANAGE, "One queue.", QueueSheet),
        "PATCH": Access(
            Scope.MANAGE,
            Right.MANAGE_QUEUES,
            "Open, pause or close a queue.",
            QueueSheet,
            body=QueueState,
        ),
    }

    def get(self, request: Request, queue_id: str) -> Response:
        return self.answer(self.one(_mine(self), queue_id))

    def patch(self, request: Request, queue_id: str) -> Response:
        """What people hold stays theirs: they may still submit it."""
        managed = Queue.objects.with_right(self.person, Right.MANAGE_QUEUES).select_related("corpus")
        queue = self.one(managed, queue_id)
        self.require_match(self.drawn(queue))
        queues.set_state(by=self.person, queue=queue, state=self.sent["state"])
        return self.answer(self.one(managed, queue_id))


def _mine(endpoint: Endpoint) -> QuerySet[Queue]:
    return Queue.objects.visible_to(endpoint.person).filter(trashed_at=None).select_related("corpus")
