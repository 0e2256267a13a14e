"""Asks a model on behalf of a step: the ledger before and after, the lane, the ladder of answers.

A question that was answered before the worker died is not asked again: its row has the answer.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from simulation.domain.addresses import AddressGuard
from simulation.domain.plans import RoleModel
from simulation.domain.run_states import ENDED_CALLS, AttemptState
from simulation.llm.catalog import abilities
from simulation.llm.connecting import BadConnection, gateway_for
from simulation.llm.errors import LLMError, Trouble, backoff
from simulation.llm.gateway import Connection, Gateway
from simulation.llm.lanes import lane_of
from simulation.llm.loop import LoopThread
from simulation.llm.messages import ChatReply, ChatRequest, Form, Message
from simulation.llm.storable import whole
from simulation.llm.structured import Parsed, Rung, Shape, Unparsed, Why, asked_for, correction, read
from simulation.models import CallAttempt, ModelCall, PromptVersion, Provider, Run, Step
from simulation.services import ledger, prices, replays, settlement, spending
from simulation.services.lanes import Later, Place, give_back
from simulation.services.ledger import Asked
from simulation.services.order import give_connection_back
from simulation.services.remembered import counts_more, learn, price_now, provider_of
from simulation.services.settlement import Pending

PATIENCE = 8
"""Passing faults of a call, since the run last began, before the run halts: some minutes, as waits grow."""
CROWDED_SECONDS = 0.5
"""How long a step waits for calls in flight to give back what was set aside for them."""
LOOP = LoopThread()


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


SHARES = 8
"""Gateways of a process to a provider: the HTTP client looks at all its open connections at each request."""
_TURN = itertools.count()
_GATEWAYS: dict[tuple[Connection, int, int], Gateway] = {}
_GATEWAYS_LOCK = threading.Lock()


def _gateway(connection: Connection) -> Gateway:
    """A gateway of this process to a provider; its HTTP connections are kept for the next call."""
    key = (connection, os.getpid(), next(_TURN) % SHARES)
    with _GATEWAYS_LOCK:
        if key not in _GATEWAYS:
            _GATEWAYS[key] = gateway_for(connection, guard=guard(), environ=os.environ)
        return _GATEWAYS[key]


def gateway_of(provider: Provider) -> Gateway:
    """The way to a provider. Raises LLMError (permanent) where its key or address cannot be used."""
    connection = Connection(provider.base_url, provider.key_variable, float(provider.timeout_seconds))
    try:
        return _gateway(connection)
    except BadConnection as error:
        raise LLMError(Trouble.PERMANENT, str(error)) from None


def pending_of(question: Question, heard: Heard) -> Pending:
    """A reply that came, read."""
    assert isinstance(heard.reply, ChatReply)  # trouble is dealt with elsewhere
    learn(heard.asked, heard.reply)
    outcome = _by_schema(read(heard.reply, question.shape), heard.asked.request)
    return Pending(heard.call, heard.attempt, heard.reply, outcome)


def close_gateways() -> None:
    """Closes what is open towards providers, and forgets which addresses were allowed."""
    with _GATEWAYS_LOCK:
        mine = [gateway for (_, process, _), gateway in _GATEWAYS.items() if process == os.getpid()]
        _GATEWAYS.clear()
    for gateway in mine:
        LOOP.run(gateway.close(), every=60, beat=lambda: None)
    guard.cache_clear()


@lru_cache(maxsize=1)
def guard() -> AddressGuard:
    """Which addresses this installation may reach."""
    return AddressGuard(settings.LLM_PRIVATE_ADDRESSES)


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


@dataclass(frozen=True)
class Heard:
    """What came back for a call that was sent together with others, and the place that it still holds."""

    asked: Asked
    call: ModelCall
    attempt: CallAttempt
    reply: ChatReply | LLMError
    place: Place


@dataclass
class Asker:
    """One step's way to the models."""

    run: Run
    step: Step
    lease: UUID
    renew: Callable[[], None]
    """Prolongs the step's lease; raises LeaseLost."""
    pending: Pending | None = None
    """The latest reply, as long as it is not written down: it is written together with the step's end."""
    heard: Heard | None = None
    """The first answer, where somebody has sent the first question already: `ask` goes on from there."""

    def opening(self, question: Question) -> Asked:
        """What `ask` sends first. Raises Halt."""
        return self._asked(question, self._request(question, self._forms(question)[0]), 0)

    def ask(self, question: Question) -> Answered:
        """The answer, after the ladder: forms the model takes, one correction turn, one more sample.

        Raises Later, Halt, or what the ledger raises.
        """
        settled = None
        for form in self._forms(question):
            settled = self._settle(question, self._request(question, form), rung=0)
            if settled.reply is not None:
                break
        assert settled is not None
        return self._improved(question, settled)

    def _forms(self, question: Question) -> list[Form]:
        forms = abilities(question.role.model).forms
        return [form for form in forms if question.forms is None or form in question.forms] or [Form.TEXT]

    def flush(self) -> None:
        """Writes the latest reply down by itself. Raises LeaseLost where its attempt is lost already.

        What was heard and nobody asked for any more (what it answers was withdrawn) counts as lost.
        """
        heard, self.heard = self.heard, None
        if heard is not None:
            give_back([heard.place])
            settlement.forsaken(run=self.run, attempt=heard.attempt)
        pending, self.pending = self.pending, None
        if pending is not None and not settlement.answered(run=self.run, pending=pending):
            raise ledger.LeaseLost

    def _improved(self, question: Question, first: Settled) -> Answered:
        if isinstance(first.read, Parsed) or first.reply is None or first.read.why is Why.REFUSED:
            return Answered(first.call, first.read)
        request = ChatRequest.from_dict(first.call.request)
        if first.read.why is Why.UNREADABLE:
            again = correction(request, first.reply, first.read.problem)
        else:  # cut off or empty: more room, and another draw
            room = min(2 * (request.max_tokens or 600), abilities(request.model).max_output)
            again = replace(request, max_tokens=room, seed=(request.seed or 0) + 1)
        second = self._settle(question, again, rung=1)
        if isinstance(second.read, Parsed) or second.reply is None:
            return Answered(second.call, second.read)
        if second.read.why is Why.UNREADABLE:
            repaired = read(second.reply, question.shape, repair=True)
            if isinstance(repaired, Parsed):
                self.flush()
                settlement.repaired(call=second.call, rung=repaired.rung)
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

    def _asked(self, question: Question, request: ChatRequest, rung: int) -> Asked:
        """As the ledger keeps it. Another sample of a run, or another try of a step, is another call."""
        provider = provider_of(self.run, question.role)
        price = None
        if self.run.origin != Run.REPLAY and (price := price_now(provider, request.model)) is None:
            raise Halt(str(prices.UnknownPrice(provider, request.model)))
        return Asked(
            request=request,
            key=request.digest(base_url=provider.base_url),
            sample=2 * (self.run.sample + self.step.tries) + rung,
            purpose=question.purpose,
            prompt=question.prompt,
            provider=provider,
            price=price,
            tokens_in=math.ceil(request.size() * counts_more(provider, request.model)),
            tokens_out=request.max_tokens or 0,
        )

    def _settle(self, question: Question, request: ChatRequest, *, rung: int) -> Settled:
        asked = self._asked(question, request, rung)
        heard = self.heard
        if heard is not None and heard.asked.key == asked.key:
            self.heard = None
            with heard.place.held():
                return self._settled(question, heard)
        self.flush()
        call = ledger.find_call(step=self.step, asked=asked) if self.step.claims > 1 else None
        if call is not None and call.state in ENDED_CALLS:
            return _remembered(call, question.shape)
        if self.run.origin == Run.REPLAY:
            return self._replayed(question, asked)
        with Place(lane_of(asked.provider.base_url, request.model), self.holder()) as place:
            try:
                call, attempt = ledger.begin(
                    run=self.run, step=self.step, lease=self.lease, asked=asked, call=call
                )
            except spending.Crowded:
                raise Later(CROWDED_SECONDS) from None
            except ledger.AlreadyAnswered:
                found = ledger.find_call(step=self.step, asked=asked)
                assert found is not None  # somebody has answered it
                return _remembered(found, question.shape)
            try:
                reply: ChatReply | LLMError = self._send(asked, attempt.number, place)
            except LLMError as error:
                reply = error
            return self._settled(question, Heard(asked, call, attempt, reply, place))

    def _settled(self, question: Question, heard: Heard) -> Settled:
        if isinstance(heard.reply, LLMError):
            return self._trouble(question, heard.call, heard.attempt, heard.reply, heard.place)
        self.pending = pending_of(question, heard)
        heard.place.went_well = True
        return Settled(heard.call, heard.reply, self.pending.read)

    def _replayed(self, question: Question, asked: Asked) -> Settled:
        """The kept reply of the run that is replayed: nothing is sent, nothing is spent."""
        call = replays.take(run=self.run, step=self.step, asked=asked)
        if call is None:
            raise Halt(
                f"The ledger of the replayed run has no answer for step {self.step.key}: its prompt differs"
                " from what was asked then. Nothing was sent."
            )
        return _remembered(call, question.shape)

    def holder(self) -> str:
        """A name for a place in a lane."""
        return f"{self.step.pk}-{uuid4().hex[:8]}"

    def _send(self, asked: Asked, number: int, place: Place) -> ChatReply:
        gateway = gateway_of(asked.provider)

        def beat() -> None:
            place.renew()
            try:
                self.renew()
            finally:
                give_connection_back()

        give_connection_back()
        answer: ChatReply = LOOP.run(
            gateway.complete(asked.request, attempt=number),
            every=settings.STEP_LEASE_SECONDS / 3,
            beat=beat,
        )
        return whole(answer)

    def _trouble(
        self, question: Question, call: ModelCall, attempt: CallAttempt, error: LLMError, place: Place
    ) -> Settled:
        rejected = error.trouble is Trouble.PERMANENT and error.status in (400, 413, 422)
        asked_again = call.sample % 2 == 1  # longer than what was taken before
        final = rejected and (call.request["form"] != Form.TEXT or asked_again or self._accepted(question))
        wait = self._wait(call, error, place)
        settlement.troubled(run=self.run, call=call, attempt=attempt, error=error, wait=wait, final=final)
        if final:
            return Settled(call, None, Unparsed(Why.UNREADABLE, f"rejected: {error.detail}"))
        if wait is not None:
            raise Later(wait)
        raise Halt(f"{call.provider.name} answered: {error.detail}")

    def _accepted(self, question: Question) -> bool:
        """Whether the provider has taken other questions of this kind: then it is this one that is wrong."""
        same = self.run.model_calls.filter(purpose=question.purpose, model=question.role.model)
        return same.filter(reply__isnull=False).exists()

    def _wait(self, call: ModelCall, error: LLMError, place: Place) -> float | None:
        """Seconds until the call may be tried again; None when waiting is no help."""
        if error.trouble is Trouble.RATE_LIMIT:
            return place.slow_down(error)
        if not error.retry:
            return None
        place.stumbled(error)
        since = self.run.resumed_at or self.run.created_at
        failures = 1 + call.attempts.filter(state=AttemptState.TRANSIENT, sent_at__gte=since).count()
        if failures > PATIENCE:
            return None
        return max(error.after or 0.0, backoff(failures, chance=random.random()))  # noqa: S311 - spreads callers
