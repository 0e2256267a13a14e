"""What of a run needs a look: steps without a result; and in numbers what went wrong and was overcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from simulation.domain.run_states import CallState, StepState
from simulation.models import CallAttempt, ModelCall, Profile, Run, Step
from simulation.selectors.run_numbers import Numbers

SHOWN = 4
LOST_STEPS = (StepState.SKIPPED, StepState.FAILED)
LOST_CALLS = (CallState.REFUSED, CallState.TRUNCATED, CallState.INVALID, CallState.FAILED)
KINDS = ("topic", "interest", "turn", "tag")
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
        text = self.step.detail.strip() or "no reason was given"
        return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


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


def version(numbers: Numbers) -> tuple[object, ...]:
    """Changes whenever `look` would say something else."""
    calls = tuple(numbers.calls.get(state, 0) for state in LOST_CALLS)
    troubles = tuple((trouble.state.value, trouble.count) for trouble in numbers.troubles)
    return (numbers.skipped, numbers.failed, calls, troubles)


def look(run: Run, numbers: Numbers) -> Look:
    """The latest of each; six queries."""
    steps = list(
        Step.objects.filter(run=run, kind__in=KINDS, state__in=LOST_STEPS)
        .select_related("run_thread")
        .order_by("-finished_at", "-id")[:SHOWN]
    )
    ids = [str(step.result.get("call", "")) for step in steps]
    calls = {call.public_id: call for call in ModelCall.objects.filter(public_id__in=ids)}
    agents = {step.asks.get("profile", "") for step in steps}
    named = Profile.objects.filter(corpus=run.corpus_id, external_id__in=agents)
    names = dict(named.values_list("external_id", "username"))
    return Look(
        lost=[
            Lost(
                step,
                names.get(step.asks.get("profile", ""), ""),
                key if key in calls else "",
                _raw(calls.get(key)),
            )
            for step, key in zip(steps, ids, strict=True)
        ],
        answers=_answers(run),
        attempts=_attempts(numbers),
        n_steps=numbers.skipped + numbers.failed,
    )


def _raw(call: ModelCall | None) -> str:
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


def _attempts(numbers: Numbers) -> list[Overcome]:
    last = CallAttempt.objects.filter(pk__in=[trouble.last_id for trouble in numbers.troubles])
    found = {one.pk: one for one in last.select_related("call").only("detail", "sent_at", "call__public_id")}
    return [
        Overcome(
            trouble.state.value, trouble.count, one.sent_at, one.detail, one.call.public_id, trouble.waited
        )
        for trouble in numbers.troubles
        if (one := found.get(trouble.last_id))
    ]
