"""May this person do this? The question at the start of every page.

Every view carries exactly one of `public`, `signed_in` and `needs(right)`; a guard test walks all
addresses and fails on one without. `needs` lets in who has the right in at least one corpus; the view
then looks its object up among those in which the person has it, so that a stranger's object is simply
not there (404).
"""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase

from simulation.domain.roles import RIGHTS, STRENGTH, Right, Role

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from simulation.models import User


class PersonRequest(HttpRequest):
    """A request behind the login: the middleware has seen to it that `user` is a person with an account."""

    user: "User"
    htmx: "HtmxDetails"


View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def rights_of(person: "User") -> frozenset[Right]:
    """What `person` may do in at least one corpus. Asked once a request, then remembered on the object."""
    if not person.is_authenticated or not person.is_active:
        return frozenset()
    known: frozenset[Right] | None = getattr(person, "_rights", None)
    if known is None:
        if person.is_superuser:
            known = frozenset(Right)
        else:
            known = frozenset().union(*(RIGHTS[role] for role in roles_of(person)))
        person._rights = known  # type: ignore[attr-defined]
    return known


def roles_of(person: "User") -> tuple[Role, ...]:
    """Distinct roles, strongest first; a superuser is an admin."""
    known: tuple[Role, ...] | None = getattr(person, "_roles", None)
    if known is None:
        memberships = person.memberships.all()
        if person.bound_to is not None:
            memberships = memberships.filter(Q(corpus=None) | Q(corpus=person.bound_to))
        held = set(memberships.values_list("role", flat=True).distinct())
        if person.is_superuser:
            held.add(Role.ADMIN)
        known = tuple(role for role in STRENGTH if role in held)
        person._roles = known  # type: ignore[attr-defined]
    return known


def public(view: View) -> View:
    """Anyone, without an account."""
    view.access = "public"  # type: ignore[attr-defined]
    return login_not_required(view)


def signed_in(view: View) -> View:
    """Anyone with an account; the page shows only what that person may see."""
    view.access = "signed in"  # type: ignore[attr-defined]
    return view


def needs(right: Right) -> Callable[[View], View]:
    """Those who have `right` somewhere."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if right not in rights_of(request.user):  # type: ignore[arg-type]
                raise PermissionDenied(f"This page needs the right to {right.value}.")
            return view(request, *args, **kwargs)

        guarded.access = right  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate


def asks_itself(right: Right) -> Callable[[View], View]:
    """Those who have `right` in the corpus of what they ask for, as the view's own look-up says in its query.

    For pages that are opened thousands of times a day. A test has each of them refuse who lacks the right.
    """

    def decorate(view: View) -> View:
        view.access = right  # type: ignore[attr-defined]
        view.asks_itself = True  # type: ignore[attr-defined]
        return view

    return decorate
