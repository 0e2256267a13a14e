"""The tree of a thread while a run writes it: what stands there, what is under way, what was skipped."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from simulation.domain import tree
from simulation.domain.run_states import AttemptState, StepState
from simulation.models import CallAttempt, Comment, Step
from simulation.selectors import run_cast
from simulation.selectors.run_threads import ThreadRow

BEHIND = 10**9
"""What is not written yet stands behind what is."""


@dataclass
class Turn:
    """One row of a growing tree: a comment, or a reply that is under way or was skipped."""

    pk: int
    parent_id: int | None
    position: int
    username: str
    text: str
    state: str
    """written, new, sent, ready, skipped, failed or cancelled"""
    number: int
    round: int
    agent: str = ""
    """External id of the author's profile."""
    score: float | None = None
    """Of the comment it answers, and the probability with which that one was drawn; None for a post."""
    probability: float | None = None
    fallback: bool = False
    """The limits of depth and replies were dropped for the draw."""
    critic: bool = False
    short: bool = False
    to: str = ""
    reason: str = ""
    comment_id: str = ""
    call_id: str = ""
    since: datetime | None = None
    attempt: int = 0

    @property
    def key(self) -> str:
        """The same before and after it is written: what the page knows the row by."""
        return str(self.number) if self.number or not self.parent_id else f"c-{self.comment_id}"

    @property
    def mark(self) -> str:
        """Changes with anything that is shown of it: the page leaves a row with the same mark alone."""
        return f"{zlib.crc32(repr(astuple(self)).encode()):08x}"


def growing(row: ThreadRow, *, live: bool) -> list[tree.Step]:
    """The tree of a thread with what is under way in it, step by step; five queries.

    With `live` the newest comment is marked as new.
    """
    thread = row.thread
    steps = list(thread.steps.filter(kind__in=["topic", "turn"]).order_by("number", "id"))
    comments = list(Comment.objects.filter(thread=thread.thread_id).order_by("sequence", "id"))
    newest = comments[-1].pk if live and len(comments) > 1 else None
    wrote = {step.comment_id: step for step in steps if step.comment_id}
    names = {comment.pk: comment.username for comment in comments}
    rows = [
        _written(
            comment,
            wrote.get(comment.pk),
            to=names.get(comment.parent_id or 0, ""),
            new=comment.pk == newest,
        )
        for comment in comments
    ]
    rows += _unwritten(row, [step for step in steps if step.state != StepState.DONE], comments)
    return list(tree.steps(tree.build(rows)))


def _written(comment: Comment, step: Step | None, *, to: str, new: bool) -> Turn:
    asks = step.asks if step else {}
    return Turn(
        pk=comment.pk,
        parent_id=comment.parent_id,
        position=comment.position,
        username=comment.username,
        text=comment.text,
        state="new" if new else "written",
        number=step.number if step else 0,
        round=_round(asks),
        agent=comment.author or str(asks.get("profile", "")),
        **_draw(asks),
        critic=bool(asks.get("critic")),
        to=to,
        comment_id=comment.public_id,
        call_id=str(step.result.get("call", "")) if step else "",
    )


def _draw(asks: dict[str, Any]) -> dict[str, Any]:
    """What the planner wrote down of the draw that chose the comment to answer."""
    score, probability = asks.get("score"), asks.get("probability")
    return {
        "score": score if isinstance(score, int | float) else None,
        "probability": probability if isinstance(probability, int | float) else None,
        "fallback": bool(asks.get("fallback")),
    }


def _unwritten(row: ThreadRow, steps: Sequence[Step], comments: Sequence[Comment]) -> list[Turn]:
    """Replies that are not there (yet), each below the comment it is to answer."""
    turns = [step for step in steps if step.kind == "turn"]
    names = run_cast.usernames(row.thread.run, (step.asks.get("profile", "") for step in turns))
    sent = _sent(turns)
    targets = {comment.external_id: comment for comment in comments}
    return [_row(step, targets.get(step.asks.get("target", "")), names, sent.get(step.pk)) for step in turns]


def _row(
    step: Step, target: Comment | None, names: dict[str, str], sent: tuple[datetime, int] | None
) -> Turn:
    state = "sent" if step.state == StepState.LEASED else step.state
    agent = step.asks.get("profile", "")
    return Turn(
        pk=-step.pk,
        parent_id=target.pk if target else None,
        position=BEHIND + step.number,
        username=names.get(agent, agent),
        text=step.detail,
        state=state,
        number=step.number,
        round=_round(step.asks),
        agent=agent,
        **_draw(step.asks),
        critic=bool(step.asks.get("critic")),
        short=bool(step.asks.get("short")),
        to=target.username if target else "",
        reason=step.reason,
        call_id=str(step.result.get("call", "")),
        since=sent[0] if sent else _due(step),
        attempt=sent[1] + 1 if sent else 0,
    )


def _round(asks: dict[str, object]) -> int:
    place = asks.get("place")
    return int(place[0]) + 1 if isinstance(place, list) and place else 0


def _sent(steps: Sequence[Step]) -> dict[int, tuple[datetime, int]]:
    """Step -> when its call in flight was sent, and as which attempt (from 0)."""
    leased = [step.pk for step in steps if step.state == StepState.LEASED]
    found = CallAttempt.objects.filter(call__step__in=leased, state=AttemptState.SENT)
    return {pk: (at, n) for pk, at, n in found.values_list("call__step_id", "sent_at", "number")}


def _due(step: Step) -> datetime | None:
    """When a step that waits may be tried again; None where it only waits for a worker."""
    waits = step.state == StepState.READY and step.due_at > timezone.now()
    return step.due_at if waits else None
