"""Who gets in, who may do what: accounts and roles. Invitations are next door, in `invitations`."""

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.models import Corpus, Invitation, Membership, User
from simulation.selectors.people import manages
from simulation.services import audit


class PeopleError(Exception):
    """Why it was not done, in a sentence for the person who asked."""

    sentence = ""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence or self.sentence)


class NameTaken(PeopleError):
    sentence = "This name is taken. Choose another."


class AddressTaken(PeopleError):
    sentence = "Another account uses this email address."


class RoleHeld(PeopleError):
    """The person has the role already."""


class RoleMissing(PeopleError):
    sentence = "The role was already taken away."


class ErasedPerson(PeopleError):
    sentence = "This person was erased: nobody can sign in with that account any more."


class LastAdmin(PeopleError):
    sentence = (
        "This is the last admin of the whole installation, and there must be one."
        " Make somebody else an admin first."
    )


@transaction.atomic
def create_user(
    *,
    by: User | None = None,
    username: str,
    email: str,
    password: str,
    role: Role | None = None,
    corpus: Corpus | None = None,
) -> User:
    """An account without an invitation. `by` is None for a command: whoever may start one owns the machine.

    Raises NameTaken or AddressTaken.
    """
    if by is not None:
        require_manages(by, corpus)
    person = add_person(username=username, email=email, password=password)
    if role is not None:
        Membership.objects.create(person=person, role=role, corpus=corpus, granted_by=by)
    audit.record(
        by=by, action="person.created", target=person, corpus=corpus, details={"role": role} if role else {}
    )
    return person


@transaction.atomic
def grant(*, by: User, person: User, role: Role, corpus: Corpus | None = None) -> Membership:
    """Give a role in one corpus or, without one, in the whole installation. Raises RoleHeld, ErasedPerson."""
    require_manages(by, corpus)
    # An erasure that is under way goes first; this then finds it done.
    if User.objects.select_for_update(no_key=True).get(pk=person.pk).erased_at is not None:
        raise ErasedPerson
    membership, created = Membership.objects.get_or_create(
        person=person, role=role, corpus=corpus, defaults={"granted_by": by}
    )
    if not created:
        raise RoleHeld(f"{person.username} is {role} there already.")
    audit.record(by=by, action="role.granted", target=person, corpus=corpus, details={"role": role})
    return membership


@transaction.atomic
def revoke_membership(*, by: User, membership: Membership) -> None:
    """Take a role away, and with a role of power the invitations that it made and that are still open.

    Raises LastAdmin for the last admin of the installation, RoleMissing if somebody else was quicker.
    """
    require_manages(by, membership.corpus)
    if membership.corpus is None and membership.role == Role.ADMIN and not membership.person.is_superuser:
        keep_an_admin(besides=membership.person)
    deleted, _ = Membership.objects.filter(pk=membership.pk).delete()
    if not deleted:
        raise RoleMissing
    person = membership.person
    audit.record(
        by=by,
        action="role.revoked",
        target=person,
        corpus=membership.corpus,
        details={"role": membership.role},
    )
    close_invitations(by=by, made_by=person)


def keep_an_admin(*, besides: User) -> None:
    """Raises LastAdmin where nobody but `besides` is an admin of the whole installation.

    Locks the roles and the accounts of all admins, so that two who take each other's power away do so one
    after the other. Whoever locks an account as well does that after this.
    """
    admins = Membership.objects.select_for_update(of=("self", "person"), no_key=True).filter(
        corpus=None, role=Role.ADMIN, person__is_active=True
    )
    if any(other.person_id != besides.pk for other in admins.select_related("person").order_by("pk")):
        return
    superusers = User.objects.select_for_update(no_key=True).filter(is_active=True, is_superuser=True)
    if not list(superusers.exclude(pk=besides.pk).order_by("pk")):
        raise LastAdmin


def close_invitations(*, by: User, made_by: User) -> None:
    """Revoke what `made_by` promised and could not promise any more: no way back in by an old link."""
    promised = Invitation.objects.select_for_update(of=("self",)).filter(
        invited_by=made_by, accepted_at=None, revoked_at=None
    )
    for invitation in promised.select_related("corpus"):
        if not manages(made_by, invitation.corpus):
            close_invitation(by=by, invitation=invitation)


def close_invitation(*, by: User, invitation: Invitation) -> None:
    """The bare write; the caller holds the row's lock and has asked whether `by` may."""
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    audit.record(by=by, action="invitation.revoked", target=invitation, corpus=invitation.corpus)


@transaction.atomic
def change_password(*, by: User, password: str) -> None:
    """`by` changes their own; every other session of theirs ends with the old one."""
    by.set_password(password)
    by.save(update_fields=["password"])
    audit.record(by=by, action="password.changed", target=by)


@transaction.atomic
def set_preferences(*, by: User, theme: str, email: str) -> None:
    """`by` changes their own address and theme. Raises AddressTaken."""
    changed = [name for name, value in (("email", email), ("theme", theme)) if getattr(by, name) != value]
    if not changed:
        return
    try:
        with transaction.atomic():
            User.objects.filter(pk=by.pk).update(email=email, theme=theme)
    except IntegrityError as error:
        raise AddressTaken from error
    by.email, by.theme = email, theme
    audit.record(by=by, action="account.changed", target=by, details={"changed": changed})


def require_manages(by: User, corpus: Corpus | None) -> None:
    """The service's own lock, whatever the caller checked: no role is given where `by` has no power."""
    if not manages(by, corpus):
        place = "this corpus" if corpus else "the whole installation"
        raise PermissionDenied(f"Only an admin of {place} may manage its people.")


def add_person(*, username: str, email: str, password: str) -> User:
    """The bare account. The database decides whether name and address are free, even in a race."""
    try:
        with transaction.atomic():
            return User.objects.create_user(username=username, email=email, password=password)
    except IntegrityError as error:
        raise (AddressTaken if "user_email_once" in str(error) else NameTaken) from error
