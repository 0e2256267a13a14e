"""Asks a model on behalf of a step: the ledger before and after, the lane, the ladder of answers.

A question that was answered before the worker died is not asked again: its row has the answer.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection as database
from redis.exceptions import RedisError

from simulation.domain.plans import RoleModel
from simulation.domain.run_states import ENDED_CALLS, AttemptState
from simulation.llm.addresses import AddressGuard
from simulation.llm.catalog import abilities
from simulation.llm.connecting import BadConnection, gateway_for
from simulation.llm.errors import LLMError, Trouble, backoff
from simulation.llm.gateway import Connection, Gateway
from simulation.llm.lanes import Lanes, LaneState, lane_of
from simulation.llm.loop import LoopThread
from simulation.llm.messages import ChatReply, ChatRequest, Form, Message
from simulation.llm.storable import whole
from simulation.llm.structured import Parsed, Rung, Shape, Unparsed, Why, asked_for, correction, read
from simulation.models import ModelCall, PromptVersion, Run, Step
from simulation.selectors.workers import broker
from simulation.services import ledger

PATIENCE = 8
"""Passing faults of a call, since the run last began, before the run halts: some minutes, as waits grow."""
LANE_SECONDS = 1.0
"""How long a step waits for a place in the lane before it makes room for another."""
CROWDED_SECONDS = 0.5
"""How long a step waits for calls in flight to give back what was set aside for them."""
LOOP = LoopThread()


class Later(Exception):
    """The step cannot go on now; in `seconds` it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:.1f} s")
        self.seconds = seconds


class Halt(Exception):
    """The whole run must stop until somebody acts; the message says why and what to do."""


@dataclass(frozen=True)
class Question:
    """What a step wants to know. `forms` restricts how it may be asked; None leaves it to the catalogue."""

    purpose: str
    prompt: PromptVersion
    messages: tuple[Message, ...]
    role: RoleModel
    seed: int
    shape: Shape[Any]
    forms: tuple[Form, ...] | None = None


@dataclass(frozen=True)
class Settled:
    """A finished call: its row, the reply, and what was made of it. Without a reply: why the call failed."""

    call: ModelCall
    reply: ChatReply | None
    read: Parsed[Any] | Unparsed


@dataclass(frozen=True)
class Answered:
    """The end of a question: a value or the reason why not, and the call that decided it."""

    call: ModelCall
    read: Parsed[Any] | Unparsed


_GATEWAYS: dict[tuple[Connection, int], Gateway] = {}
_GATEWAYS_LOCK = threading.Lock()


def _gateway(connection: Connection) -> Gateway:
    """The gateway of this process to a provider; its HTTP connections are kept for the next call."""
    key = (connection, os.getpid())
    with _GATEWAYS_LOCK:
        if key not in _GATEWAYS:
            _GATEWAYS[key] = gateway_for(connection, guard=guard(), environ=os.environ)
        return _GATEWAYS[key]


def close_gateways() -> None:
    """Closes what is open towards providers, and forgets which addresses were allowed."""
    with _GATEWAYS_LOCK:
        mine = [gateway for (_, process), gateway in _GATEWAYS.items() if process == os.getpid()]
        _GATEWAYS.clear()
    for gateway in mine:
        LOOP.run(gateway.close(), every=60, beat=lambda: None)
    guard.cache_clear()


@lru_cache(maxsize=1)
def guard() -> AddressGuard:
    """Which addresses this installation may reach."""
    return AddressGuard(settings.LLM_PRIVATE_ADDRESSES)


@lru_cache(maxsize=1)
def lanes() -> Lanes:
    """The lanes of this installation, in its broker."""
    return Lanes(broker())


def lane_of_run(run: Run) -> LaneState | None:
    """The lane of the model that a run uses most; None where the broker does not answer."""
    models = run.plan["models"]
    first = models.get("user") or next(iter(models.values()))
    try:
        return lanes().state(lane_of(run.provider.base_url, first["model"]))
    except (RedisError, OSError):
        return None


def _give_connection_back() -> None:
    """To the pool: the wait for a model is long, and others may have the connection meanwhile."""
    if not database.in_atomic_block:
        database.close()


def _by_schema(outcome: Parsed[Any] | Unparsed, request: ChatRequest) -> Parsed[Any] | Unparsed:
    """Names the rung: JSON that the provider was held to by a schema."""
    if isinstance(outcome, Parsed) and outcome.rung is Rung.OBJECT and request.form is Form.SCHEMA:
        return replace(outcome, rung=Rung.SCHEMA)
    return outcome


def _remembered(call: ModelCall, shape: Shape[Any]) -> Settled:
    """A finished call, read again: nothing is sent."""
    if call.reply is None:
        return Settled(call, None, Unparsed(Why.UNREADABLE, f"rejected: {call.problem}"))
    reply = ChatReply.from_dict(call.reply)
    return Settled(call, reply, read(reply, shape, repair=call.rung == Rung.REPAIRED))


@dataclass
class Asker:
    """One step's way to the models."""

    run: Run
    step: Step
    lease: UUID
    renew: Callable[[], None]
    """Prolongs the step's lease; raises LeaseLost."""

    def ask(self, question: Question) -> Answered:
        """The answer, after the ladder: forms the model takes, one correction turn, one more sample.

        Raises Later, Halt, or what the ledger raises.
        """
        can = abilities(question.role.model)
        forms = [form for form in can.forms if question.forms is None or form in question.forms]
        settled = None
        for form in forms or [Form.TEXT]:
            settled = self._settle(question, self._request(question, form), sample=0)
            if settled.reply is not None:
                break
        assert settled is not None
        return self._improved(question, settled)

    def _improved(self, question: Question, first: Settled) -> Answered:
        if isinstance(first.read, Parsed) or first.reply is None or first.read.why is Why.REFUSED:
            return Answered(first.call, first.read)
        request = ChatRequest.from_dict(first.call.request)
        if first.read.why is Why.UNREADABLE:
            again = correction(request, first.reply, first.read.problem)
        else:  # cut off or empty: more room, and another draw
            room = min(2 * (request.max_tokens or 600), abilities(request.model).max_output)
            again = replace(request, max_tokens=room, seed=(request.seed or 0) + 1)
        second = self._settle(question, again, sample=1)
        if isinstance(second.read, Parsed) or second.reply is None:
            return Answered(second.call, second.read)
        if second.read.why is Why.UNREADABLE:
            repaired = read(second.reply, question.shape, repair=True)
            if isinstance(repaired, Parsed):
                ledger.repaired(call=second.call, rung=repaired.rung)
                return Answered(second.call, repaired)
        return Answered(second.call, second.read)

    def _request(self, question: Question, form: Form) -> ChatRequest:
        can = abilities(question.role.model)
        request = ChatRequest(
            model=question.role.model,
            messages=question.messages,
            temperature=question.role.temperature,
            frequency_penalty=question.role.frequency_penalty if can.penalty else None,
            max_tokens=min(question.role.max_tokens, can.max_output),
            seed=question.seed,
        )
        return asked_for(request, question.shape, form)

    def _settle(self, question: Question, request: ChatRequest, *, sample: int) -> Settled:
        call = ledger.open_call(
            run=self.run,
            step=self.step,
            request=request,
            prompt=question.prompt,
            purpose=question.purpose,
            sample=sample,
        )
        if call.state in ENDED_CALLS:
            return _remembered(call, question.shape)
        with self._place(request.model) as place:
            try:
                attempt = ledger.begin(
                    run=self.run,
                    step=self.step,
                    lease=self.lease,
                    call=call,
                    estimate=request.size() + (request.max_tokens or 0),
                )
            except ledger.Crowded:
                raise Later(CROWDED_SECONDS) from None
            except ledger.AlreadyAnswered:
                return _remembered(ModelCall.objects.get(pk=call.pk), question.shape)
            try:
                reply = self._send(request, attempt.number, place)
            except LLMError as error:
                return self._trouble(question, call, attempt, error)
            outcome = _by_schema(read(reply, question.shape), request)
            if not ledger.answered(run=self.run, call=call, attempt=attempt, reply=reply, read=outcome):
                raise ledger.LeaseLost
            lanes().succeeded(self._lane(request.model))
        return Settled(call, reply, outcome)

    def _lane(self, model: str) -> str:
        return lane_of(self.run.provider.base_url, model)

    def _place(self, model: str) -> Place:
        return Place(self._lane(model), f"{self.step.pk}-{uuid4().hex[:8]}")

    def _send(self, request: ChatRequest, number: int, place: Place) -> ChatReply:
        provider = self.run.provider
        connection = Connection(provider.base_url, provider.key_variable, float(provider.timeout_seconds))
        try:
            gateway = _gateway(connection)
        except BadConnection as error:
            raise LLMError(Trouble.PERMANENT, str(error)) from None

        def beat() -> None:
            place.renew()
            try:
                self.renew()
            finally:
                _give_connection_back()

        _give_connection_back()
        answer: ChatReply = LOOP.run(
            gateway.complete(request, attempt=number),
            every=settings.STEP_LEASE_SECONDS / 3,
            beat=beat,
        )
        return whole(answer)

    def _trouble(self, question: Question, call: ModelCall, attempt: Any, error: LLMError) -> Settled:
        rejected = error.trouble is Trouble.PERMANENT and error.status in (400, 413, 422)
        asked_again = call.sample > 0  # longer than what was taken before
        final = rejected and (call.request["form"] != Form.TEXT or asked_again or self._accepted(question))
        wait = self._wait(call, error)
        ledger.troubled(run=self.run, call=call, attempt=attempt, error=error, wait=wait, final=final)
        if final:
            return Settled(call, None, Unparsed(Why.UNREADABLE, f"rejected: {error.detail}"))
        if wait is not None:
            raise Later(wait)
        raise Halt(f"{self.run.provider.name} answered: {error.detail}")

    def _accepted(self, question: Question) -> bool:
        """Whether the provider has taken other questions of this kind: then it is this one that is wrong."""
        same = self.run.model_calls.filter(purpose=question.purpose, model=question.role.model)
        return same.filter(reply__isnull=False).exists()

    def _wait(self, call: ModelCall, error: LLMError) -> float | None:
        """Seconds until the call may be tried again; None when waiting is no help."""
        if error.trouble is Trouble.RATE_LIMIT:
            lanes().slow_down(self._lane(call.model), error.after, error.detail)
            return error.after or 1.0
        if not error.retry:
            return None
        since = self.run.resumed_at or self.run.created_at
        failures = 1 + call.attempts.filter(state=AttemptState.TRANSIENT, sent_at__gte=since).count()
        if failures > PATIENCE:
            return None
        return max(error.after or 0.0, backoff(failures, chance=random.random()))  # noqa: S311 - spreads callers


@dataclass
class Place:
    """A place in a lane, held while a call is made. Entering raises Later where none gets free."""

    lane: str
    holder: str

    def __enter__(self) -> Place:
        end = time.monotonic() + LANE_SECONDS
        while wait := lanes().acquire(self.lane, self.holder, lease=settings.STEP_LEASE_SECONDS):
            if wait > LANE_SECONDS or time.monotonic() + wait > end:
                raise Later(wait)
            time.sleep(wait)
        return self

    def renew(self) -> None:
        lanes().renew(self.lane, self.holder, settings.STEP_LEASE_SECONDS)

    def __exit__(self, *_: object) -> None:
        lanes().release(self.lane, self.holder)
