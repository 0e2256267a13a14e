"""Everything of a run that came to nothing, as rows: steps without a result, answers that could not be used.

Two tables are read side by side, newest first, from a cursor on; the number of queries does not depend on
how many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from simulation.domain import failures
from simulation.domain.attributes import CATALOGUE
from simulation.domain.failures import Meaning
from simulation.domain.run_states import CallState, StepState
from simulation.models import CallAttempt, ModelCall, Run, Step
from simulation.selectors import run_cast
from simulation.selectors.run_trouble import raw, sentence, title

PAGE = 50
STEPS, ANSWERS = "steps", "answers"
LOST_STEPS = (StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED)
LOST_CALLS = (CallState.REFUSED, CallState.TRUNCATED, CallState.INVALID, CallState.FAILED)
REASON_OF_CALL = failures.OF_CALLS


@dataclass(frozen=True)
class Filter:
    """What the page shows. `what`: steps, answers or (empty) both; `reason` and `kind` empty: any."""

    what: str = ""
    reason: str = ""
    kind: str = ""

    @property
    def is_any(self) -> bool:
        return bool(self.what or self.reason or self.kind)


@dataclass(frozen=True)
class Failure:
    """One step without a result, or one answer that could not be used."""

    what: str
    step: Step
    at: datetime
    state: str
    reason: str
    username: str
    call: ModelCall | None
    said: str
    """The detail, as a sentence."""
    provider_said: str
    """What the provider answered to the call's last attempt, where it was trouble."""
    raw: str

    @property
    def title(self) -> str:
        return title(self.step)

    @property
    def meaning(self) -> Meaning:
        return failures.meaning(self.reason)

    @property
    def lost(self) -> str:
        """What its loss means for the corpus."""
        return failures.LOST.get(self.step.kind, "") if self.what == STEPS else ""

    @property
    def cursor(self) -> str:
        """What the next page begins behind."""
        if self.what == STEPS or self.call is None:
            return f"{STEPS}:{self.step.key}"
        return f"{ANSWERS}:{self.call.public_id}"


@dataclass(frozen=True)
class Page:
    rows: Sequence[Failure]
    before: str
    """Cursor to continue behind; empty on the last page."""


@dataclass(frozen=True)
class Counted:
    """How many of one reason, and the filter that shows them."""

    what: str
    reason: str
    count: int

    @property
    def word(self) -> str:
        return failures.meaning(self.reason).word


@dataclass(frozen=True)
class Counts:
    steps: Sequence[Counted]
    answers: Sequence[Counted]
    kinds: Sequence[tuple[str, str, int]]
    """(kind, its name, steps lost)."""

    @property
    def n_steps(self) -> int:
        return sum(one.count for one in self.steps)

    @property
    def n_answers(self) -> int:
        return sum(one.count for one in self.answers)


@dataclass(frozen=True)
class Refusals:
    """How often a model refused, by the attribute that the thread is about."""

    model: str
    target: str
    refused: int
    asked: int
    """Answers of any kind that the model gave there."""

    @property
    def percent(self) -> float:
        return 100 * self.refused / self.asked if self.asked else 0.0


def counts(run: Run) -> Counts:
    """Two queries."""
    steps: dict[str, int] = {}
    kinds: dict[str, int] = {}
    groups = Step.objects.filter(run=run, state__in=LOST_STEPS).order_by()
    for state, reason, kind, n in groups.values_list("state", "reason", "kind").annotate(n=Count("pk")):
        named = _reason(state, reason)
        steps[named] = steps.get(named, 0) + n
        kinds[kind] = kinds.get(kind, 0) + n
    calls = ModelCall.objects.filter(run=run, state__in=LOST_CALLS).order_by()
    found = {REASON_OF_CALL[state]: n for state, n in calls.values_list("state").annotate(n=Count("pk"))}
    return Counts(
        steps=[Counted(STEPS, *pair) for pair in sorted(steps.items(), key=_most)],
        answers=[Counted(ANSWERS, *pair) for pair in sorted(found.items(), key=_most)],
        kinds=[(kind, failures.many(kind), n) for kind, n in sorted(kinds.items(), key=_most)],
    )


def _most(pair: tuple[str, int]) -> tuple[int, str]:
    return (-pair[1], pair[0])


def _reason(state: str, reason: str) -> str:
    return reason or ("cancelled" if state == StepState.CANCELLED else "")


def refusals(run: Run) -> list[Refusals]:
    """Models that refused, by target attribute, most refused first; one query."""
    calls = ModelCall.objects.filter(run=run, reply__isnull=False).order_by()
    groups = calls.values_list("model", "step__run_thread__target").annotate(
        refused=Count("pk", filter=Q(state=CallState.REFUSED)), asked=Count("pk")
    )
    rows = [
        Refusals(model, CATALOGUE[target].label if target in CATALOGUE else target or "–", refused, asked)
        for model, target, refused, asked in groups
        if refused
    ]
    return sorted(rows, key=lambda row: (-row.refused, row.model, row.target))


def _all_steps(run: Run) -> QuerySet[Any]:
    """With `at`: when it came to nothing."""
    return Step.objects.filter(run=run).annotate(at=Coalesce("finished_at", "due_at"))


def _all_calls(run: Run) -> QuerySet[Any]:
    return ModelCall.objects.filter(run=run).annotate(at=Coalesce("finished_at", "created_at"))


def _steps(run: Run, wanted: Filter) -> QuerySet[Any]:
    steps = _all_steps(run).filter(state__in=LOST_STEPS)
    if wanted.what == ANSWERS:
        return steps.none()
    if wanted.kind:
        steps = steps.filter(kind=wanted.kind)
    if wanted.reason == "cancelled":
        steps = steps.filter(state=StepState.CANCELLED, reason__in=["", "cancelled"])
    elif wanted.reason:
        steps = steps.filter(reason=wanted.reason)
    return steps


def _calls(run: Run, wanted: Filter) -> QuerySet[Any]:
    """Beside the steps only calls whose step went on: those of a lost step are told with it."""
    calls = _all_calls(run).filter(state__in=LOST_CALLS)
    if wanted.what == STEPS:
        return calls.none()
    if not wanted.what:
        calls = calls.exclude(step__state__in=LOST_STEPS)
    if wanted.kind:
        calls = calls.filter(step__kind=wanted.kind)
    if wanted.reason:
        states = [state for state, reason in REASON_OF_CALL.items() if reason == wanted.reason]
        calls = calls.filter(state__in=states)
    return calls


def page(run: Run, wanted: Filter, *, before: str = "", size: int = PAGE) -> Page:
    """The failures behind the cursor `before`, newest first; what is no cursor means the first page.

    Of one moment the steps come first, then the answers, each from the last made down.
    """
    steps, calls = _steps(run, wanted), _calls(run, wanted)
    what, _, name = before.partition(":")
    if name and what == STEPS:
        last = _all_steps(run).filter(key=name).values_list("at", "pk").first()
        if last:
            steps = steps.filter(Q(at__lt=last[0]) | Q(at=last[0], pk__lt=last[1]))
            calls = calls.filter(at__lte=last[0])
    elif name and what == ANSWERS:
        last = _all_calls(run).filter(public_id=name).values_list("at", "pk").first()
        if last:
            steps = steps.filter(at__lt=last[0])
            calls = calls.filter(Q(at__lt=last[0]) | Q(at=last[0], pk__lt=last[1]))
    found = _read(run, steps, calls, size + 1)
    return Page(found[:size], found[size - 1].cursor if len(found) > size else "")


def _read(run: Run, steps: QuerySet[Any], calls: QuerySet[Any], size: int) -> list[Failure]:
    """The latest `size` of both tables, with the calls behind the steps; six queries."""
    some: list[Any] = [
        *steps.select_related("run_thread").order_by("-at", "-pk")[:size],
        *calls.select_related("step", "step__run_thread").defer("request").order_by("-at", "-pk")[:size],
    ]
    merged = sorted(some, key=lambda row: (row.at, isinstance(row, Step), row.pk), reverse=True)[:size]
    behind = _last_calls([row for row in merged if isinstance(row, Step)])
    shown = [behind.get(row.pk) if isinstance(row, Step) else row for row in merged]
    said = _provider_said([call.pk for call in shown if call])
    owners = [row if isinstance(row, Step) else row.step for row in merged]
    names = run_cast.usernames(run, (step.asks.get("profile", "") for step in owners))
    return [
        _failure(row.at, step, call, is_step=isinstance(row, Step), names=names, said=said)
        for row, step, call in zip(merged, owners, shown, strict=True)
    ]


def _failure(
    at: datetime,
    step: Step,
    call: ModelCall | None,
    *,
    is_step: bool,
    names: Mapping[str, str],
    said: Mapping[int, str],
) -> Failure:
    problem = call.problem if call else ""
    state = step.state if is_step or call is None else call.state
    return Failure(
        what=STEPS if is_step else ANSWERS,
        step=step,
        at=at,
        state=state,
        reason=_reason(step.state, step.reason) if is_step else REASON_OF_CALL.get(state, state),
        username=names.get(step.asks.get("profile", ""), ""),
        call=call,
        said=sentence(step.detail or problem if is_step else problem),
        provider_said=said.get(call.pk, "") if call else "",
        raw=raw(call),
    )


def _last_calls(steps: Sequence[Step]) -> dict[int, ModelCall]:
    """Step -> the last call that was made for it."""
    newest = ModelCall.objects.filter(step=OuterRef("step")).order_by("-pk").values("pk")[:1]
    calls = ModelCall.objects.filter(step__in=[step.pk for step in steps], pk=Subquery(newest))
    return {call.step_id: call for call in calls.defer("request")}


def _provider_said(calls: Sequence[int]) -> dict[int, str]:
    """Call -> what came of its last attempt that was trouble, with the HTTP status."""
    rows = CallAttempt.objects.filter(call__in=calls).exclude(detail="").order_by("id")
    return {
        call: f"{status}: {detail}" if status and str(status) not in detail else detail
        for call, status, detail in rows.values_list("call_id", F("status"), "detail")
    }


def everything(run: Run, wanted: Filter, *, chunk: int = 500) -> Iterator[Failure]:
    """All of them, page by page: for a file of any length."""
    before = ""
    while True:
        some = page(run, wanted, before=before, size=chunk)
        yield from some.rows
        if not some.before:
            return
        before = some.before
