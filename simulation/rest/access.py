"""What an endpoint says about each of its methods, and the check that nobody comes past it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import MethodNotAllowed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import ApiToken
from simulation.selectors.access import rights_of

if TYPE_CHECKING:
    from rest_framework.serializers import BaseSerializer

    from simulation.rest.strict import Strict


@dataclass(frozen=True)
class Access:
    """One method of an endpoint: who may use it, what it is asked, what it answers.

    `scope` is what a token must carry (None: any token), `right` what its person must have somewhere (of
    several, one is enough; None: an account is enough). The view looks its object up among those in which the
    person has the right, as on the pages.
    """

    scope: Scope | None
    right: Right | tuple[Right, ...] | None
    does: str
    """One line: what it does. The rest of the words are the docstring of the handler."""
    answer: type[BaseSerializer[Any]] | None = None
    """What a good answer holds; None: it has no body (204)."""
    query: type[Strict] | None = None
    body: type[Strict] | None = None
    upload: bool = False
    """The body is a form with files (multipart/form-data) in place of JSON."""
    status: int = 200
    paged: bool = False
    """`answer` is one row of a page."""
    also: tuple[int, ...] = ()
    """Refusals of its own besides those that follow from the rest: 409."""

    @property
    def rights(self) -> tuple[Right, ...]:
        if self.right is None:
            return ()
        return self.right if isinstance(self.right, tuple) else (self.right,)


def access_of(view: Any, method: str) -> Access | None:
    """What a view says about a method; HEAD is GET without its body."""
    declared: Access | None = view.access.get("GET" if method == "HEAD" else method)
    return declared


class Declared(BasePermission):
    """Nobody without an account, and no method that is not declared; then scope and right, both."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            return False
        declared = access_of(view, str(request.method))
        if declared is None:
            raise MethodNotAllowed(str(request.method))
        token = request.auth
        if declared.scope and isinstance(token, ApiToken) and declared.scope.value not in token.scopes:
            raise PermissionDenied(f"This token lacks the scope “{declared.scope.value}”.")
        if declared.rights and rights_of(request.user).isdisjoint(declared.rights):
            named = " or ".join(right.value for right in declared.rights)
            raise PermissionDenied(f"It takes the right to {named}.")
        return True
