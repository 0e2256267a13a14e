"""The people of the installation or of one's corpora: roles, invitations, what was done."""

from datetime import datetime

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from simulation.domain.roles import Right, Role
from simulation.forms import InviteForm
from simulation.models import Corpus, User
from simulation.selectors import people as selectors
from simulation.selectors.access import PersonRequest, needs
from simulation.services import invitations, people

SHOWN_ONCE = "invitation_to_show"


@needs(Right.MANAGE_PEOPLE)
@require_safe
def people_list(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "people",
        "page": selectors.people_page(person=request.user, after=request.GET.get("after", "")),
        "invitations": selectors.latest_invitations(person=request.user),
        "reach": selectors.reach_of(request.user),
    }
    return render(request, "people/list.html", context)


@needs(Right.MANAGE_PEOPLE)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: PersonRequest) -> HttpResponse:
    """Make an invitation; its link is shown on the page after, and never again."""
    form = InviteForm(
        request.POST if request.method == "POST" else None, reach=selectors.reach_of(request.user)
    )
    if form.is_valid():
        role, corpus = Role(form.cleaned_data["role"]), form.cleaned_data["corpus"]
        try:
            invitation, token = invitations.invite(
                by=request.user, email=form.cleaned_data["email"], role=role, corpus=corpus
            )
        except invitations.HasAccount as known:
            return _grant(request, person=known.person, role=role, corpus=corpus)
        request.session[SHOWN_ONCE] = {
            "email": invitation.email,
            "link": request.build_absolute_uri(reverse("join", args=[token])),
            "expires": invitation.expires_at.isoformat(),
        }
        return redirect("invite")
    made = request.session.pop(SHOWN_ONCE, None) if request.method == "GET" else None
    if made:
        made["expires"] = datetime.fromisoformat(made["expires"])
    return render(request, "people/invite.html", {"section": "people", "form": form, "made": made})


@needs(Right.MANAGE_PEOPLE)
@require_POST
def invitation_revoke(request: PersonRequest, public_id: str) -> HttpResponse:
    invitation = get_object_or_404(selectors.invitations_visible_to(request.user), public_id=public_id)
    try:
        invitations.revoke_invitation(by=request.user, invitation=invitation)
    except invitations.InvitationUsed as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request, f"The invitation of {invitation.email} is withdrawn. Its link is worthless now."
        )
    return redirect("people")


@needs(Right.MANAGE_PEOPLE)
@require_POST
def membership_grant(request: PersonRequest, public_id: str) -> HttpResponse:
    person = get_object_or_404(selectors.visible_to(request.user), public_id=public_id)
    return _grant(request, person=person, role=_role(request), corpus=_place(request))


@needs(Right.MANAGE_PEOPLE)
@require_POST
def membership_revoke(request: PersonRequest, public_id: str) -> HttpResponse:
    membership = get_object_or_404(
        selectors.memberships_visible_to(request.user).select_related("person", "corpus"),
        person__public_id=public_id,
        role=_role(request),
        corpus=_place(request),
    )
    try:
        people.revoke_membership(by=request.user, membership=membership)
    except people.PeopleError as refusal:
        messages.error(request, str(refusal))
        return redirect("people")
    where = membership.corpus or "the whole installation"
    messages.success(request, f"{membership.person.username} is no longer {membership.role} in {where}.")
    # Who took a role from themselves may have lost this page with it.
    return redirect("home" if membership.person == request.user else "people")


def _grant(request: PersonRequest, *, person: User, role: Role, corpus: Corpus | None) -> HttpResponse:
    try:
        people.grant(by=request.user, person=person, role=role, corpus=corpus)
    except (people.RoleHeld, people.ErasedPerson) as refusal:
        messages.error(request, str(refusal))
    else:
        where = corpus or "the whole installation"
        messages.success(request, f"{person.username} is now {role} in {where}.")
    return redirect("people")


def _role(request: PersonRequest) -> Role:
    try:
        return Role(request.POST.get("role", ""))
    except ValueError:
        raise BadRequest("There is no such role.") from None


def _place(request: PersonRequest) -> Corpus | None:
    """The corpus that the form names, among those whose people one manages; none: the whole installation."""
    public_id = request.POST.get("corpus", "")
    if public_id:
        return get_object_or_404(selectors.managed_corpora(request.user), public_id=public_id)
    if not selectors.manages_installation(request.user):
        raise PermissionDenied("Only an admin of the whole installation gives roles in it.")
    return None
