"""Steps that were claimed together: asked in one go, and written down in one go where nothing follows.

Each round trip to the database, the broker and the model then serves some of them. Whatever is out of the
ordinary with one step (no place in the lane, a cap, trouble, an answer that cannot be read, the last check of
a thread) leaves the bundle, and that step goes on alone from where it stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.conf import settings

from simulation.llm.errors import LLMError
from simulation.llm.lanes import lane_of
from simulation.llm.messages import ChatReply
from simulation.llm.storable import whole
from simulation.llm.structured import Parsed
from simulation.models import Step
from simulation.services import claiming, completions, ledger
from simulation.services.claiming import Claim
from simulation.services.completions import Answered, Asker, Halt, Heard, Question, pending_of
from simulation.services.ending import Part, at_a_stroke
from simulation.services.lanes import Place, give_back, take_at_once
from simulation.services.ledger import Asked
from simulation.services.order import Turn, give_connection_back, one_at_a_time
from simulation.services.work import Work


@dataclass
class Member:
    """A step of a bundle on its way."""

    claim: Claim
    asker: Asker
    question: Question
    asked: Asked
    place: Place
    """In the same lane for all: one kind of step has one model."""


@dataclass
class Bundle:
    """What became of the steps of a bundle: those that are not done go on alone, each with its asker."""

    alone: list[tuple[Claim, Asker]] = field(default_factory=list)
    following: Claim | None = None


def carry_out(claim: Claim, work: Work, asker_of: Callable[[Claim], Asker], *, go_on: bool) -> Bundle:
    """Asks a claim and its fellows in one go; with `go_on` the next ones are claimed where all went well.

    Raises Full where the lane has no place at all, LeaseLost, and what a server that is away raises.
    """
    bundle = Bundle()
    members = _with_places(_prepared([claim, *claim.fellows], work, asker_of, bundle))
    heard: list[tuple[Member, Heard]] = []
    try:
        begun = _begun(members, bundle)
        heard = _sent(begun)
        parts = [(member, one, part) for member, one in heard if (part := _part(member, one, work, bundle))]
    finally:
        kept = {id(asker.heard.place) for _, asker in bundle.alone if asker.heard}
        give_back([member.place for member in members if id(member.place) not in kept])
    if parts:
        _write(parts, bundle, take=claiming.together(claim.run.pk) if go_on and not bundle.alone else 0)
    return bundle


def _prepared(
    claims: Sequence[Claim], work: Work, asker_of: Callable[[Claim], Asker], bundle: Bundle
) -> list[Member]:
    members = []
    for claim, question in zip(claims, work.questions(claims), strict=True):
        asker = asker_of(claim)
        try:
            asked = asker.opening(question) if question else None
        except Halt:  # said once more, and acted on, where the step goes on alone
            asked = None
        if question is None or asked is None:
            bundle.alone.append((claim, asker))
            continue
        lane = lane_of(asked.provider.base_url, asked.request.model)
        members.append(Member(claim, asker, question, asked, Place(lane, asker.holder())))
    return members


def _with_places(members: Sequence[Member]) -> list[Member]:
    """The first waits for a place in its lane; who of the others finds none is given back."""
    if not members:
        return []
    first, *others = members
    first.place.__enter__()
    taken = take_at_once([member.place for member in others])
    found = [first, *(member for member, has in zip(others, taken, strict=True) if has)]
    claiming.give_back_untouched([member.claim for member, has in zip(others, taken, strict=True) if not has])
    run_id = first.claim.run.pk
    if len(found) < len(members) or len(found) >= claiming.together(run_id):
        claiming.found_places(run_id, len(found))
    return found


def _begun(members: Sequence[Member], bundle: Bundle) -> list[tuple[Member, ledger.Begun]]:
    if not members:
        return []
    claim = members[0].claim
    calls = [(member.claim.step, member.asked) for member in members]
    begun = []
    for member, one in zip(
        members, ledger.begin_together(run=claim.run, lease=claim.lease, calls=calls), strict=True
    ):
        if one is None:
            bundle.alone.append((member.claim, member.asker))
        else:
            begun.append((member, one))
    return begun


def _sent(begun: Sequence[tuple[Member, ledger.Begun]]) -> list[tuple[Member, Heard]]:
    """All at the same time; each has its own reply or its own trouble."""
    if not begun:
        return []
    claim = begun[0][0].claim

    def beat() -> None:
        for member, _ in begun:
            member.place.renew()
        mine = Step.objects.filter(run=claim.run, lease=claim.lease)
        try:
            if not mine.update(leased_until=claiming.soon(settings.STEP_LEASE_SECONDS)):
                raise ledger.LeaseLost
        finally:
            give_connection_back()

    async def one(member: Member, attempt: int) -> ChatReply | LLMError:
        try:
            gateway = completions.gateway_of(member.asked.provider)
            return whole(await gateway.complete(member.asked.request, attempt=attempt))
        except LLMError as error:
            return error

    async def all_of_them() -> list[ChatReply | LLMError]:
        return await asyncio.gather(*(one(member, attempt.number) for member, (_, attempt) in begun))

    give_connection_back()
    replies = completions.LOOP.run(all_of_them(), every=settings.STEP_LEASE_SECONDS / 3, beat=beat)
    return [
        (member, Heard(member.asked, call, attempt, reply, member.place))
        for (member, (call, attempt)), reply in zip(begun, replies, strict=True)
    ]


def _part(member: Member, heard: Heard, work: Work, bundle: Bundle) -> Part | None:
    """A step that is done by its first answer; any other goes on alone with what was heard."""
    if isinstance(heard.reply, ChatReply):
        pending = pending_of(member.question, heard)
        if isinstance(pending.read, Parsed):
            member.place.went_well = True
            outcome = work.outcome(Answered(heard.call, pending.read))
            return Part(member.claim, outcome.result, pending)
    member.asker.heard = heard
    bundle.alone.append((member.claim, member.asker))
    return None


def _write(parts: Sequence[tuple[Member, Heard, Part]], bundle: Bundle, *, take: int) -> None:
    with one_at_a_time(parts[0][0].claim.run.pk, Turn.END):
        ended = at_a_stroke([part for _, _, part in parts], take=take)
    bundle.following = ended.following
    for (member, heard, _), written in zip(parts, ended.written, strict=True):
        if not written:
            member.asker.heard = heard
            bundle.alone.append((member.claim, member.asker))
