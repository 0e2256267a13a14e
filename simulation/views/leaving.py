"""An account is closed, opened again, or erased: what happens in words and numbers, then the button."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from simulation.domain.roles import Right
from simulation.domain.typed import NotConfirmed
from simulation.models import User
from simulation.selectors import people as selectors
from simulation.selectors.access import PersonRequest, needs
from simulation.services import leaving, people


@needs(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def deactivate(request: PersonRequest, public_id: str) -> HttpResponse:
    person = _person(request, public_id)
    try:
        if request.method != "POST":
            return _page(request, person, "people/deactivate.html")
        leaving.deactivate(by=request.user, person=person)
    except people.PeopleError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request, f"{person.username} is deactivated and signed out everywhere. Their work stays."
        )
    return redirect("people")


@needs(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def reactivate(request: PersonRequest, public_id: str) -> HttpResponse:
    person = _person(request, public_id)
    try:
        if request.method != "POST":
            return _page(request, person, "people/reactivate.html")
        leaving.reactivate(by=request.user, person=person)
    except people.PeopleError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{person.username} may sign in again, with the same name and password.")
    return redirect("people")


@needs(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def erase(request: PersonRequest, public_id: str) -> HttpResponse:
    """The name is typed to confirm: nothing brings it back."""
    person = _person(request, public_id)
    try:
        if request.method != "POST":
            return _page(request, person, "people/erase.html")
        erased = leaving.erase(by=request.user, person=person, typed=request.POST.get("typed", ""))
    except NotConfirmed as refusal:
        return _page(request, person, "people/erase.html", problem=str(refusal))
    except people.PeopleError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"Erased for good. The work stays under the name {erased.username}.")
    return redirect("people")


def _person(request: PersonRequest, public_id: str) -> User:
    """An account is the whole installation's matter, whoever gave it a role."""
    if not selectors.manages_installation(request.user):
        raise PermissionDenied("Only an admin of the whole installation closes, opens and erases accounts.")
    return get_object_or_404(selectors.visible_to(request.user), public_id=public_id)


def _page(request: PersonRequest, person: User, template: str, *, problem: str = "") -> HttpResponse:
    leaving.check(by=request.user, person=person)
    context = {
        "section": "people",
        "person": person,
        "has": selectors.belongings(person, now=timezone.now()),
        "problem": problem,
        "typed": request.POST.get("typed", ""),
    }
    return render(request, template, context, status=422 if problem else 200)
