"""Who is here, in which role, and who has been invited, as far as the asking person may know."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Lower
from django.utils import timezone

from simulation.domain.invitations import InvitationState, state_of
from simulation.domain.roles import STRENGTH, Right, Role, roles_with
from simulation.models import Corpus, Invitation, Membership, User

PAGE = 50
INVITATIONS_SHOWN = 50
_MANAGERS = [role.value for role in roles_with(Right.MANAGE_PEOPLE)]
_RANK = {role.value: place for place, role in enumerate(STRENGTH)}


def manages_installation(person: User) -> bool:
    """May `person` manage people everywhere, not only in some corpora?"""
    if not person.is_authenticated or not person.is_active or person.bound_to is not None:
        return False
    return person.is_superuser or person.memberships.filter(corpus=None, role__in=_MANAGERS).exists()


def managed_corpora(person: User) -> QuerySet[Corpus]:
    return Corpus.objects.with_right(person, Right.MANAGE_PEOPLE)


def manages(person: User, corpus: Corpus | None) -> bool:
    """May `person` give and take roles in `corpus` (None: the whole installation)?"""
    if corpus is None:
        return manages_installation(person)
    return managed_corpora(person).filter(pk=corpus.pk).exists()


def roles_held(person: User) -> QuerySet[Membership]:
    """The roles of `person`, with their corpora; of one who is bound to a corpus those that count there."""
    held = person.memberships.select_related("corpus").order_by("id")
    if person.bound_to is not None:
        held = held.filter(Q(corpus=None) | Q(corpus=person.bound_to))
    return held


def memberships_visible_to(person: User) -> QuerySet[Membership]:
    if manages_installation(person):
        return Membership.objects.all()
    return Membership.objects.filter(corpus__in=managed_corpora(person))


def visible_to(person: User) -> QuerySet[User]:
    """Everybody to an admin of the installation; to one of a corpus those who have a role in it."""
    if manages_installation(person):
        return User.objects.all()
    return User.objects.filter(pk__in=memberships_visible_to(person).values("person_id"))


def invitations_visible_to(person: User) -> QuerySet[Invitation]:
    if manages_installation(person):
        return Invitation.objects.all()
    return Invitation.objects.filter(corpus__in=managed_corpora(person))


@dataclass(frozen=True)
class RoleRow:
    role: str
    corpus_name: str
    """Empty: in the whole installation."""
    corpus_public_id: str
    in_trash: bool = False
    """The role counts again once the corpus is restored."""


@dataclass(frozen=True)
class PersonRow:
    public_id: str
    username: str
    email: str
    is_active: bool
    is_erased: bool
    is_you: bool
    last_login: datetime | None
    roles: Sequence[RoleRow]


@dataclass(frozen=True)
class PeoplePage:
    rows: Sequence[PersonRow]
    total: int
    after: str
    """Public id to continue after; empty on the last page."""


def people_page(*, person: User, after: str = "") -> PeoplePage:
    """People by name with the roles that `person` may know of; five queries, however many they are."""
    everybody = visible_to(person)
    rest = everybody.annotate(key=Lower("username")).order_by("key")
    if after:
        start = everybody.filter(public_id=after).values(key=Lower("username"))
        rest = rest.filter(key__gt=Coalesce(Subquery(start), Value("")))
    shown = memberships_visible_to(person).select_related("corpus")
    found = list(rest.prefetch_related(Prefetch("memberships", queryset=shown))[: PAGE + 1])
    rows = [_person_row(other, you=person) for other in found[:PAGE]]
    return PeoplePage(
        rows=rows, total=everybody.count(), after=rows[-1].public_id if len(found) > PAGE else ""
    )


def _person_row(other: User, *, you: User) -> PersonRow:
    return PersonRow(
        public_id=other.public_id,
        username=other.username,
        email="" if other.erased_at else other.email,
        is_active=other.is_active,
        is_erased=other.erased_at is not None,
        is_you=other.pk == you.pk,
        last_login=other.last_login,
        roles=_role_rows(other.memberships.all()),
    )


def _role_rows(memberships: Iterable[Membership]) -> list[RoleRow]:
    roles = [
        RoleRow(
            role=membership.role,
            corpus_name=membership.corpus.name if membership.corpus else "",
            corpus_public_id=membership.corpus.public_id if membership.corpus else "",
            in_trash=bool(membership.corpus and membership.corpus.trashed_at),
        )
        for membership in memberships
    ]
    return sorted(roles, key=lambda row: (row.corpus_name != "", row.corpus_name, _RANK[row.role]))


@dataclass(frozen=True)
class Belongings:
    """What hangs on an account and is touched when the person leaves."""

    roles: Sequence[RoleRow]
    open_invitations: int
    """Made by this person, neither used nor withdrawn nor run out."""


def belongings(person: User, *, now: datetime) -> Belongings:
    """Two queries."""
    made = Invitation.objects.filter(invited_by=person, accepted_at=None, revoked_at=None, expires_at__gt=now)
    return Belongings(_role_rows(person.memberships.select_related("corpus")), made.count())


@dataclass(frozen=True)
class InvitationRow:
    public_id: str
    email: str
    role: str
    corpus_name: str
    state: InvitationState
    invited_by: str
    expires_at: datetime


def latest_invitations(*, person: User, now: datetime | None = None) -> Sequence[InvitationRow]:
    """The newest invitations that `person` may know of."""
    now = now or timezone.now()
    found = invitations_visible_to(person).select_related("corpus", "invited_by")
    return [
        InvitationRow(
            public_id=invitation.public_id,
            email=invitation.email,
            role=invitation.role,
            corpus_name=invitation.corpus.name if invitation.corpus else "",
            state=invitation_state(invitation, now=now),
            invited_by=invitation.invited_by.username,
            expires_at=invitation.expires_at,
        )
        for invitation in found.order_by("-created_at", "-id")[:INVITATIONS_SHOWN]
    ]


def invitation_state(invitation: Invitation, *, now: datetime) -> InvitationState:
    return state_of(
        accepted_at=invitation.accepted_at,
        revoked_at=invitation.revoked_at,
        expires_at=invitation.expires_at,
        now=now,
    )


@dataclass(frozen=True)
class Reach:
    """Where somebody may give roles: what the choices of a form are made of."""

    everywhere: bool
    corpora: Sequence[Corpus]
    roles: Sequence[Role] = STRENGTH[::-1]


def reach_of(person: User) -> Reach:
    return Reach(everywhere=manages_installation(person), corpora=list(managed_corpora(person)))
