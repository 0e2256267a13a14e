"""A lead takes a comment back, gives it to somebody else, or asks for it once more.

Every act is written to the audit log with public ids and numbers, never with names or what was typed. The
item is locked before its slots, as in all acts on slots; where a person takes another comment at the very
moment at which they are given one, the database lets one of the two happen, and the act is begun anew.
"""

from datetime import datetime

from django.db.models import Count, Q

from annotation.models import Annotation, Flag, Item, Queue, Slot
from annotation.selectors import overview_holds
from annotation.services import adjudication, claims, slots
from simulation.models import User
from simulation.services import audit

SET_ASIDE = slots.SET_ASIDE
LONGEST_REASON = 300


class Refused(Exception):
    """The act cannot be done, and nothing was changed. Says why and what to do, for the lead who asked."""


@slots.whole
def release(*, by: User, slot: Slot) -> bool:
    """Frees a comment that somebody holds: the next who asks gets it, and the holder's draft stays.

    True when an answer that had come too many took the free place at once. Whoever submits their open page
    afterwards loses nothing: they fill the slot while it is free, else their answer is kept beside. Raises
    Refused when the person of `slot` does not hold it any more.
    """
    held = _fresh(slot)
    if held is None or held.state != Slot.LEASED or held.person_id != slot.person_id:
        raise Refused("This comment is not held by that person any more. Nothing was changed.")
    _record("slot.released", by, held, **{"from": _id(held.person)})
    _open(held)
    return bool(slots.settle([held.item_id]))


@slots.whole
def release_ended(*, by: User, queue: Queue, now: datetime) -> int:
    """Frees every comment of `queue` whose lease is over or whose holder's account is closed; how many."""
    freed = claims.release_expired(queue=queue, now=now)
    if freed:
        details = {"ended": freed}
        audit.record(by=by, action="slot.released", target=queue, corpus=queue.corpus, details=details)
    return freed


@slots.whole
def reassign(*, by: User, slot: Slot, to: User, now: datetime) -> Slot:
    """Gives a free comment, or one that somebody holds, to `to`: theirs for as long as any that they open.

    The holder's draft stays. Raises Refused when `to` may not work in the queue, had this comment already or
    holds another one of the queue, and when the slot is neither free nor held by the person of `slot`.
    """
    wanted = _fresh(slot)
    if wanted is None or wanted.state not in (Slot.OPEN, Slot.LEASED) or wanted.person_id != slot.person_id:
        raise Refused("This comment is not as it was when the page was made. Look again, then give it away.")
    if problem := _not_theirs(wanted, to, now):
        raise Refused(problem)
    _record("slot.reassigned", by, wanted, **{"from": _id(wanted.person), "to": to.public_id})
    return claims.lease(wanted, by=to, now=now)


def _not_theirs(slot: Slot, to: User, now: datetime) -> str:
    """Why `to` cannot have `slot`; empty: they can."""
    queue, name = slot.queue, to.username
    if not Queue.objects.workable_by(to).filter(pk=queue.pk).exists():
        return (
            f"{name} may not work in this queue. Give them the role, or put them on the queue's list, first."
        )
    if slot.item.comment.state != "active":
        return "This comment is withdrawn; nobody can work on it."
    theirs = Slot.objects.filter(item=slot.item_id, person=to).first()
    if theirs:
        had = {Slot.LEASED: "holds", Slot.DONE: "has done", Slot.SKIPPED: "has skipped"}[theirs.state]
        return f"{name} {had} this comment already. Choose somebody else."
    if Annotation.objects.filter(item=slot.item_id, person=to).exists():
        return f"{name} has answered this comment already; their answer is kept beside. Choose somebody else."
    other = Slot.objects.filter(queue=queue, person=to, state=Slot.LEASED).first()
    if other:
        return (
            f"{name} holds another comment of this queue, and nobody holds two. Wait until it is done, or "
            "take it back first."
        )
    return ""


@slots.whole
def reopen_skipped(*, by: User, slot: Slot) -> None:
    """Opens a skipped slot for anybody, also for who skipped it.

    Raises Refused where it is not skipped any more, and where the comment is not short of answers: somebody
    else was asked in its place.
    """
    skipped = _fresh(slot)
    if skipped is None or skipped.state != Slot.SKIPPED or skipped.person_id != slot.person_id:
        raise Refused("This comment is not skipped by that person any more. Nothing was changed.")
    if not overview_holds.reopenable(skipped.queue).filter(item=skipped.item_id).exists():
        raise Refused(
            "This comment is not short of answers: somebody else was asked in place of this skip, or it is "
            "settled, gold or withdrawn. Nothing was changed."
        )
    details = {"from": _id(skipped.person), "state": "skipped", "reason": skipped.skip_reason}
    _record("slot.reopened", by, skipped, **details)
    _open(skipped)
    _unflag(skipped.queue, [skipped.item_id])
    slots.settle([skipped.item_id])


@slots.whole
def reopen_all_skipped(*, by: User, queue: Queue, expected: int) -> int:
    """Opens every skipped slot of a comment that is short of answers; how many.

    Raises Refused when they are not `expected` any more.
    """
    found = overview_holds.reopenable(queue)
    slots.lock(found.values_list("item", flat=True))
    chosen = list(found.values_list("pk", "item"))
    if len(chosen) != expected:
        raise Refused(
            f"It was {expected} when the page was made and is {len(chosen)} now. Nothing was re-opened: look "
            "again, then decide."
        )
    items = [item for _, item in chosen]
    Slot.objects.filter(pk__in=[pk for pk, _ in chosen]).update(
        state=Slot.OPEN, person=None, skip_reason="", skip_note=""
    )
    _unflag(queue, items)
    slots.settle(items)
    details = {"state": "skipped", "slots": len(chosen)}
    audit.record(by=by, action="slot.reopened", target=queue, corpus=queue.corpus, details=details)
    return len(chosen)


@slots.whole
def reopen_done(*, by: User, slot: Slot, reason: str) -> None:
    """Asks somebody else for a comment that is done.

    The slot opens for people who have not answered it. The answer that was there is kept beside (over quota)
    with `reason`, and stays so: it does not come back when a place gets free, nor when its person changes it.
    Raises Refused without a reason, where the slot is not done any more, and for a comment that the
    adjudicator has settled, whose answer is gold, or which is withdrawn.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise Refused("Say in a few words why somebody else is asked; it is kept with the answer.")
    if len(reason) > LONGEST_REASON:
        raise Refused(f"The reason has {len(reason)} characters; {LONGEST_REASON} fit. Shorten it.")
    done = _fresh(slot)
    if done is None or done.state != Slot.DONE or done.person_id != slot.person_id:
        raise Refused("This comment is not done by that person any more. Nothing was changed.")
    if done.item.agreement == Item.SETTLED:
        raise Refused("The adjudicator has settled this comment. Nothing was changed.")
    if done.item.gold or done.item.comment.state != "active":
        raise Refused("Nobody else can be asked: this comment is gold or withdrawn. Nothing was changed.")
    answer = Annotation.objects.select_for_update().filter(item=done.item_id, person=done.person_id).first()
    if answer:
        answer.over_quota = True
        answer.extra[SET_ASIDE] = reason
        answer.save(update_fields=["over_quota", "extra"])
    _record("slot.reopened", by, done, **{"from": _id(done.person), "state": "done"})
    _open(done)
    slots.settle([done.item_id])
    adjudication.assess(done.item)


def _fresh(slot: Slot) -> Slot | None:
    """The slot as it is now, locked after its item; None when it is gone."""
    slots.lock([slot.item_id])
    found = Slot.objects.select_for_update(of=("self",)).filter(pk=slot.pk)
    return found.select_related("queue__corpus", "item__comment", "person").first()


def _open(slot: Slot) -> None:
    """Gives a slot back; of a gold item it goes, since the next person gets a new one."""
    if slot.item.gold:
        slot.delete()
        return
    slot.state, slot.person = Slot.OPEN, None
    slot.leased_until = slot.lease_token = None
    slot.skip_reason = slot.skip_note = ""
    slot.save()


def _unflag(queue: Queue, items: list[int]) -> None:
    """Takes the flag from items that had it for their skips alone and are not skipped too often any more."""
    kept = Q(pk__in=Flag.objects.filter(item__in=items, resolved_at=None).values("item"))
    if queue.skip_policy == Queue.SKIP_ADJUDICATOR:
        skips = Slot.objects.filter(item__in=items, state=Slot.SKIPPED).values("item").annotate(n=Count("pk"))
        kept |= Q(pk__in=skips.filter(n__gte=queue.skips_to_adjudicator).order_by().values("item"))
    Item.objects.filter(pk__in=items, flagged=True).exclude(kept).update(flagged=False)


def _id(person: User | None) -> str:
    return person.public_id if person else ""


def _record(action: str, by: User, slot: Slot, **details: str) -> None:
    """One entry about the item; who is meant stands in the details by public id."""
    named = {key: value for key, value in details.items() if value} | {"queue": slot.queue.public_id}
    audit.record(by=by, action=action, target=slot.item, corpus=slot.queue.corpus, details=named)
