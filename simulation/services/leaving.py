"""People who leave: an account is closed, opened again, or its name and address are taken away for good.

What they labelled stays in every case. No account's row is ever deleted: labels, events and audit entries
refer to it, and show the pseudonym once the person is erased.
"""

import secrets

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from simulation.domain.typed import require_typed
from simulation.models import Invitation, Membership, User
from simulation.models.identity import ALPHABET
from simulation.services import api_tokens, audit
from simulation.services.people import (
    ErasedPerson,
    PeopleError,
    close_invitation,
    close_invitations,
    keep_an_admin,
    require_manages,
)

PSEUDONYM_SIGNS = 8
ERASED_ADDRESS = "erased.invalid"
"""No mail is ever delivered to a name under `invalid`."""


class OwnAccount(PeopleError):
    sentence = "This is your own account. Another admin of the whole installation has to do this."


class NothingToDo(PeopleError):
    """The account is in the asked state already."""


def check(*, by: User, person: User) -> None:
    """May `by` close, open or erase the account of `person` at all?

    Raises PermissionDenied, OwnAccount, ErasedPerson.
    """
    require_manages(by, None)
    if person.pk == by.pk:
        raise OwnAccount
    if person.erased_at is not None:
        raise ErasedPerson


@transaction.atomic
def deactivate(*, by: User, person: User) -> User:
    """Close the account: signed out everywhere at once, and no way in until it is opened again.

    Roles, labels and drafts stay. Open invitations of theirs are withdrawn, their tokens revoked for good.
    Raises what `check` raises, LastAdmin, NothingToDo.
    """
    leaver = _locked(by=by, person=person)
    if not leaver.is_active:
        raise NothingToDo(f"{leaver.username} is deactivated already.")
    leaver.is_active = False
    leaver.save(update_fields=["is_active"])
    _end_sessions(leaver)
    close_invitations(by=by, made_by=leaver)
    api_tokens.revoke_all(by=by, person=leaver)
    audit.record(by=by, action="person.deactivated", target=leaver)
    return leaver


@transaction.atomic
def reactivate(*, by: User, person: User) -> User:
    """Open the account again: same name, password and roles. Raises what `check` raises, NothingToDo."""
    returner = _locked(by=by, person=person)
    if returner.is_active:
        raise NothingToDo(f"{returner.username} is active already.")
    returner.is_active = True
    returner.save(update_fields=["is_active"])
    audit.record(by=by, action="person.reactivated", target=returner)
    return returner


@transaction.atomic
def erase(*, by: User, person: User, typed: str) -> User:
    """Take name, address, password and roles away for good; `typed` is the name, as a confirmation.

    What they did stays under a pseudonym that says nothing of them. Raises what `check` raises, LastAdmin,
    NotConfirmed.
    """
    leaver = _locked(by=by, person=person)
    require_typed(typed, leaver.username)
    name, address = leaver.username, leaver.email
    _take_identity(leaver)
    Membership.objects.filter(person=leaver).delete()
    _end_sessions(leaver)
    close_invitations(by=by, made_by=leaver)
    _erase_invitations(by=by, leaver=leaver, address=address)
    _forget_sign_ins(name, address)
    api_tokens.forget_all(person=leaver)
    audit.record(by=by, action="person.erased", target=leaver)
    return leaver


def _locked(*, by: User, person: User) -> User:
    """The row of `person`, locked after those of the admins, so that no two wait for each other."""
    check(by=by, person=person)
    keep_an_admin(besides=person)
    locked = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    check(by=by, person=locked)
    return locked


def _take_identity(person: User) -> None:
    person.username = _pseudonym()
    person.email = f"{person.username}@{ERASED_ADDRESS}"
    person.first_name = person.last_name = ""
    person.set_unusable_password()
    person.theme = "system"
    person.review_keys, person.review_keys_on = {}, True
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.erased_at = timezone.now()
    person.save()


def _pseudonym() -> str:
    while True:
        signs = (chr(secrets.choice(ALPHABET)) for _ in range(PSEUDONYM_SIGNS))
        name = f"former-{''.join(signs)}"
        taken = Q(username__iexact=name) | Q(email__iexact=f"{name}@{ERASED_ADDRESS}")
        if not User.objects.filter(taken).exists():
            return name


def _erase_invitations(*, by: User, leaver: User, address: str) -> None:
    """The address goes from every invitation; one that is still open would let somebody in by it."""
    own = Invitation.objects.filter(accepted_by=leaver).first()
    addresses = {address}
    # They may have changed it since. Where it is somebody else's by now, only their own invitation goes.
    if own and not User.objects.filter(email__iexact=own.email).exists():
        addresses.add(own.email)
    theirs = Q(accepted_by=leaver)
    for one in addresses:
        theirs |= Q(email__iexact=one)
    invitations = Invitation.objects.select_for_update(of=("self",)).select_related("corpus").filter(theirs)
    for invitation in invitations.order_by("pk"):
        if invitation.accepted_at is None and invitation.revoked_at is None:
            close_invitation(by=by, invitation=invitation)
        invitation.email = leaver.email
        invitation.save(update_fields=["email"])


def _forget_sign_ins(name: str, address: str) -> None:
    """Failed tries, by name or by an address typed in its place."""
    tried = Q(username__iexact=name) | Q(username__iexact=address)
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        table.objects.filter(tried).delete()


def _end_sessions(person: User) -> None:
    """A session's row does not say whose it is, so all that are alive are read. Without this an old one
    would be good again once the account is opened again."""
    alive = Session.objects.filter(expire_date__gt=timezone.now())
    theirs = [
        session.session_key
        for session in alive.iterator()
        if session.get_decoded().get(SESSION_KEY) == str(person.pk)
    ]
    Session.objects.filter(session_key__in=theirs).delete()
