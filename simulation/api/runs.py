"""Runs: those that one may watch, one of them, its story, and pausing, resuming and stopping it."""

from __future__ import annotations

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.api.run_sheets import Events, RunSheet, WholeRun, whole
from simulation.domain.money import nanos
from simulation.domain.plans import BadPlan
from simulation.domain.roles import Right
from simulation.domain.run_states import NotPossible, RunEvent, RunState
from simulation.domain.scopes import Scope
from simulation.models import Run
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import MOST, PageQuery
from simulation.rest.strict import PublicId, Strict
from simulation.selectors import listings, run_watching, runs
from simulation.selectors.progress import progress
from simulation.services import steering

CONTROLS = (RunEvent.PAUSE, RunEvent.RESUME, RunEvent.STEP, RunEvent.CANCEL)
LAST_EVENT = 2**31 - 1


class RunsQuery(PageQuery):
    corpus = PublicId(required=False)
    kind = serializers.ChoiceField(choices=Run.KINDS, required=False)
    state = serializers.ChoiceField(choices=[state.value for state in RunState], required=False)


class EventsQuery(Strict):
    after = serializers.IntegerField(default=0, min_value=0, max_value=LAST_EVENT)
    limit = serializers.IntegerField(default=MOST, min_value=1, max_value=MOST)


class Control(Strict):
    """`step` resumes for one turn; `cancel` stops for good, and what was written stays."""

    event = serializers.ChoiceField(choices=[one.value for one in CONTROLS])

    example = {"event": "pause"}


class Runs(Endpoint):
    noun = "runs"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_RUNS,
            "The runs that you may see, newest first.",
            RunSheet,
            query=RunsQuery,
            paged=True,
        )
    }

    def get(self, request: Request) -> Response:
        rows = Run.objects.visible_to(self.person).select_related("corpus").defer("plan")
        for name, field in (("corpus", "corpus__public_id"), ("kind", "kind"), ("state", "state")):
            if wanted := self.asked.get(name):
                rows = rows.filter(**{field: wanted})
        return self.page(rows, order=("-id",), draw=runs.rows)


class OneRunEndpoint(Endpoint):
    """A look at one run."""

    noun = "runs"

    def seen(self, run_id: str) -> Run:
        return self.one(run_watching.visible(self.person), run_id)

    def steered(self, run_id: str) -> Run:
        """The run, if it is in a corpus in which the person may start runs, and as `If-Match` has it."""
        own = run_watching.visible(self.person).filter(corpus__in=runs.startable(self.person))
        run = self.one(own, run_id)
        self.require_match(self.sheet(run).data)
        return run

    def sheet(self, run: Run) -> Response:
        """The run as it is now."""
        starts = run_watching.rights(self.person, run).starts
        return self.answer(whole(runs.rows([run])[0], progress(run), starts=starts))


class OneRun(OneRunEndpoint):
    access = {
        "GET": Access(Scope.READ, Right.SEE_RUNS, "One run, with what it has done and spent.", WholeRun)
    }

    def get(self, request: Request, run_id: str) -> Response:
        return self.sheet(self.seen(run_id))


class RunEvents(OneRunEndpoint):
    access = {
        "GET": Access(
            Scope.READ, Right.SEE_RUNS, "The story of a run behind a number.", Events, query=EventsQuery
        )
    }

    def get(self, request: Request, run_id: str) -> Response:
        """Lines are numbered from 1 on. One is shown two seconds after it was written, so that none that was
        written at the same time is passed over."""
        run, after = self.seen(run_id), self.asked["after"]
        lines = listings.story(run, after=after, limit=self.asked["limit"], now=timezone.now())
        last = lines[-1].number if lines else after  # type: ignore[attr-defined]
        return self.answer({"results": lines, "last": last, "state": run.state})


class RunControl(OneRunEndpoint):
    refusals = {NotPossible: 409}
    access = {
        "POST": Access(
            Scope.RUN,
            Right.START_RUNS,
            "Pause, resume or stop a run.",
            WholeRun,
            body=Control,
            also=(412,),
        )
    }

    def post(self, request: Request, run_id: str) -> Response:
        """`If-Match` with the ETag of the run: only if nothing has changed since you read it."""
        run = self.steered(run_id)
        steering.control(by=self.person, run=run, event=RunEvent(self.sent["event"]))
        return self.sheet(self.seen(run_id))


class Caps(Strict):
    """New caps; a cap in money that is left out or null is none."""

    max_calls = serializers.IntegerField(min_value=1, max_value=10**15)
    max_tokens = serializers.IntegerField(min_value=1, max_value=10**15)
    max_cost_usd = serializers.DecimalField(
        max_digits=19, decimal_places=9, min_value=0, max_value=9 * 10**9, allow_null=True, default=None
    )
    soft_cost_usd = serializers.DecimalField(
        max_digits=19, decimal_places=9, min_value=0, max_value=9 * 10**9, allow_null=True, default=None
    )

    example = {"max_calls": 9000, "max_tokens": 12000000, "max_cost_usd": "4.00"}


class RunCaps(OneRunEndpoint):
    refusals = {BadPlan: 400}
    access = {
        "POST": Access(
            Scope.RUN, Right.START_RUNS, "Set the caps of a run.", WholeRun, body=Caps, also=(412,)
        )
    }

    def post(self, request: Request, run_id: str) -> Response:
        """All four at once. The run does not go on by it: resume it then."""
        run = self.steered(run_id)
        money = {
            name: None if (amount := self.sent[f"{name}_usd"]) is None else nanos(amount)
            for name in ("max_cost", "soft_cost")
        }
        steering.raise_caps(
            by=self.person,
            run=run,
            max_calls=self.sent["max_calls"],
            max_tokens=self.sent["max_tokens"],
            **money,
        )
        return self.sheet(self.seen(run_id))
