"""What of a run needs a look: steps without a result; and in numbers what went wrong and was overcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from simulation.domain import failures
from simulation.domain.run_states import CallState, StepState
from simulation.models import CallAttempt, ModelCall, Run, Step
from simulation.selectors import run_cast
from simulation.selectors.run_numbers import Numbers

SHOWN = 4
LOST_STEPS = (StepState.SKIPPED, StepState.FAILED)
LOST_CALLS = (CallState.REFUSED, CallState.TRUNCATED, CallState.INVALID, CallState.FAILED)
RAW = 4000
"""Letters of an answer shown on the page of the run; the page of the call has all of it."""


@dataclass(frozen=True)
class Lost:
    """A step without a result."""

    step: Step
    username: str
    call_id: str
    raw: str

    @property
    def said(self) -> str:
        """The detail as a sentence."""
        return sentence(self.step.detail)

    @property
    def what(self) -> str:
        return title(self.step)

    @property
    def meant(self) -> str:
        """What its loss means; nothing where the whole run came to an end."""
        return failures.LOST.get(self.step.kind, "") if self.step.state == StepState.SKIPPED else ""


@dataclass(frozen=True)
class Overcome:
    """What came to trouble and was asked again: how often, and what was said last."""

    state: str
    count: int
    last_at: datetime
    detail: str
    call_id: str
    waited: float = 0.0


@dataclass(frozen=True)
class Look:
    lost: Sequence[Lost]
    answers: Sequence[Overcome]
    """Answers that could not be used though their step went on, by state of the call."""
    attempts: Sequence[Overcome]
    """Attempts that brought no answer, by their state."""
    n_steps: int
    """Steps skipped or failed, all of them."""

    @property
    def is_empty(self) -> bool:
        return not (self.lost or self.answers or self.attempts)


def sentence(detail: str) -> str:
    text = detail.strip() or "no reason was given"
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


def title(step: Step) -> str:
    """What a step does, for people: Turn 16, Post, Tags of comment 3."""
    if step.kind == "turn":
        return f"Turn {step.number}"
    if step.kind == "tag":
        return f"Tags of comment {step.number + 1}"
    if step.kind == "infer":
        return f"Guesses about author {step.number + 1}"
    if step.kind == "communities":
        return f"Communities of thread {step.number + 1}"
    return failures.one(step.kind)


def look(run: Run, numbers: Numbers) -> Look:
    """The latest of each; seven queries."""
    steps = list(
        Step.objects.filter(run=run, state__in=LOST_STEPS)
        .select_related("run_thread")
        .order_by("-finished_at", "-id")[:SHOWN]
    )
    ids = [str(step.result.get("call", "")) for step in steps]
    calls = {call.public_id: call for call in ModelCall.objects.filter(public_id__in=ids)}
    names = run_cast.usernames(run, (step.asks.get("profile", "") for step in steps))
    return Look(
        lost=[
            Lost(
                step,
                names.get(step.asks.get("profile", ""), ""),
                key if key in calls else "",
                raw(calls.get(key)),
            )
            for step, key in zip(steps, ids, strict=True)
        ],
        answers=_answers(run),
        attempts=attempts(numbers),
        n_steps=numbers.skipped + numbers.failed,
    )


def raw(call: ModelCall | None) -> str:
    """What the model said, as it came; a refusal where that is all there was."""
    reply = (call.reply if call else None) or {}
    return str(reply.get("text") or reply.get("refusal") or "")[:RAW]


def _answers(run: Run) -> list[Overcome]:
    calls = ModelCall.objects.filter(run=run, state__in=LOST_CALLS).exclude(step__state__in=LOST_STEPS)
    groups = list(calls.order_by().values("state").annotate(n=Count("pk"), last=Max("pk")).order_by("-last"))
    last = ModelCall.objects.filter(pk__in=[group["last"] for group in groups])
    found = {call.pk: call for call in last.only("public_id", "problem", "created_at")}
    return [
        Overcome(group["state"], group["n"], call.created_at, call.problem, call.public_id)
        for group in groups
        if (call := found.get(group["last"]))
    ]


def attempts(numbers: Numbers) -> list[Overcome]:
    """What brought no answer, by kind of trouble, latest first; one query."""
    last = CallAttempt.objects.filter(pk__in=[trouble.last_id for trouble in numbers.troubles])
    found = {one.pk: one for one in last.select_related("call").only("detail", "sent_at", "call__public_id")}
    return [
        Overcome(
            trouble.state.value, trouble.count, one.sent_at, one.detail, one.call.public_id, trouble.waited
        )
        for trouble in numbers.troubles
        if (one := found.get(trouble.last_id))
    ]
