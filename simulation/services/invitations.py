"""Invitations: a signed link that carries a role, works once, ends by itself and can be revoked.

The link holds the invitation's public id under the site's signature; who has it may use it, so it is
shown once and stored nowhere.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from simulation.domain.invitations import InvitationState
from simulation.domain.roles import Role
from simulation.models import Corpus, Invitation, Membership, User
from simulation.selectors.people import invitation_state
from simulation.services import audit
from simulation.services.people import PeopleError, add_person, close_invitation, require_manages

SALT = "simulation.invitation"
ADDRESS_KEPT = timedelta(days=90)
"""How long the address of an invitation that has ended is kept."""


class InvitationError(PeopleError):
    """The link does not let anybody in."""


class InvitationUnknown(InvitationError):
    sentence = "This link is not one of ours. Perhaps a part of it was lost when it was copied."


class InvitationExpired(InvitationError):
    sentence = "This invitation has expired. Ask the person who sent it for a new one."


class InvitationRevoked(InvitationError):
    sentence = "This invitation was withdrawn. Ask the person who sent it for a new one."


class InvitationUsed(InvitationError):
    sentence = "This invitation has been used. If it was you, sign in with the name you chose."


class HasAccount(PeopleError):
    """An invitation is for new people; `person` is given the role as they are."""

    sentence = "Somebody with this address has an account already."

    def __init__(self, person: User) -> None:
        super().__init__()
        self.person = person


REFUSALS: dict[InvitationState, type[InvitationError]] = {
    InvitationState.USED: InvitationUsed,
    InvitationState.REVOKED: InvitationRevoked,
    InvitationState.EXPIRED: InvitationExpired,
}


@transaction.atomic
def invite(*, by: User, email: str, role: Role, corpus: Corpus | None = None) -> tuple[Invitation, str]:
    """Promise a role; the second half of the answer is the token of the link. Raises HasAccount."""
    require_manages(by, corpus)
    known = User.objects.filter(email__iexact=email).first()
    if known is not None:
        raise HasAccount(known)
    invitation = Invitation.objects.create(
        email=email,
        role=role,
        corpus=corpus,
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    )
    audit.record(by=by, action="invitation.made", target=invitation, corpus=corpus, details={"role": role})
    return invitation, signing.dumps({"invitation": invitation.public_id}, salt=SALT)


def find(*, token: str) -> Invitation:
    """The open invitation behind a link; raises the InvitationError that says why there is none."""
    return _find(token, lock=False)


@transaction.atomic
def accept(*, token: str, username: str, password: str) -> User:
    """Make the account and the role that the link promises. Raises InvitationError, NameTaken, AddressTaken.

    Two who hold the same link wait for each other at the row's lock; the second finds it used.
    """
    invitation = _find(token, lock=True)
    person = add_person(username=username, email=invitation.email, password=password)
    Membership.objects.create(
        person=person, role=invitation.role, corpus=invitation.corpus, granted_by=invitation.invited_by
    )
    invitation.accepted_at = timezone.now()
    invitation.accepted_by = person
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    audit.record(
        by=person,
        action="invitation.accepted",
        target=invitation,
        corpus=invitation.corpus,
        details={"role": invitation.role, "person": person.public_id},
    )
    return person


@transaction.atomic
def revoke_invitation(*, by: User, invitation: Invitation) -> None:
    """Make the link worthless. Raises InvitationUsed if somebody came in by it; twice does no harm."""
    require_manages(by, invitation.corpus)
    current = (
        Invitation.objects.select_for_update(of=("self",)).select_related("corpus").get(pk=invitation.pk)
    )
    if current.accepted_at is not None:
        raise InvitationUsed("This invitation has been used. Take the role away from the person instead.")
    if current.revoked_at is None:
        close_invitation(by=by, invitation=current)


def _find(token: str, *, lock: bool) -> Invitation:
    try:
        content = signing.loads(token, salt=SALT, max_age=timedelta(days=settings.INVITATION_DAYS))
    except signing.SignatureExpired:
        raise InvitationExpired from None
    except signing.BadSignature:
        raise InvitationUnknown from None
    invitations = Invitation.objects.select_related("corpus", "invited_by")
    if lock:
        invitations = invitations.select_for_update(of=("self",))
    invitation = invitations.filter(public_id=content["invitation"]).first()
    if invitation is None:
        raise InvitationUnknown
    refusal = REFUSALS.get(invitation_state(invitation, now=timezone.now()))
    if refusal is not None:
        raise refusal
    return invitation


def forget_addresses(*, now: datetime) -> int:
    """Takes the address out of invitations that ended, in whatever way, more than 90 days ago; how many."""
    before = now - ADDRESS_KEPT
    ended = Q(accepted_at__lt=before) | Q(revoked_at__lt=before) | Q(expires_at__lt=before)
    return Invitation.objects.filter(ended).exclude(email="").update(email="")
