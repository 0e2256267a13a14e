"""Signing in and out, joining by an invitation, one's own account."""

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from simulation.forms import AccountForm, ChangePasswordForm, JoinForm, LoginForm
from simulation.selectors import api_tokens
from simulation.selectors.access import PersonRequest, public, signed_in
from simulation.services import invitations, people

BACKEND = "django.contrib.auth.backends.ModelBackend"

sign_in = public(
    require_http_methods(["GET", "HEAD", "POST"])(
        LoginView.as_view(
            template_name="accounts/login.html",
            authentication_form=LoginForm,
            redirect_authenticated_user=True,
        )
    )
)


# Public, so that a second click after the session has ended leads to the login page, not to an error.
@public
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")


@public
@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """The page behind an invitation's link."""
    try:
        invitation = invitations.find(token=token)
        form = JoinForm(_posted(request), email=invitation.email)
        if not request.user.is_authenticated and form.is_valid():
            person = invitations.accept(
                token=token,
                username=form.cleaned_data["username"],
                password=form.cleaned_data["password1"],
            )
            login(request, person, backend=BACKEND)
            messages.success(request, f"Welcome, {person.username}. Your account is ready.")
            return redirect("home")
    except invitations.InvitationError as refusal:
        unknown = isinstance(refusal, invitations.InvitationUnknown)
        return render(
            request, "accounts/join_refused.html", {"refusal": refusal}, status=404 if unknown else 410
        )
    except people.NameTaken as taken:
        form.add_error("username", str(taken))
    except people.AddressTaken:
        form.add_error(None, "The invited address has an account by now. Sign in with it.")
    return render(request, "accounts/join.html", {"invitation": invitation, "form": form})


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: PersonRequest) -> HttpResponse:
    person = request.user
    form = AccountForm(_posted(request), initial={"email": person.email, "theme": person.theme})
    if form.is_valid():
        try:
            people.set_preferences(by=person, **form.cleaned_data)
        except people.AddressTaken as taken:
            form.add_error("email", str(taken))
        else:
            messages.success(request, "Saved.")
            return redirect("account")
    context = {
        "section": "account",
        "form": form,
        "tokens": api_tokens.working(person, timezone.now()),
        "memberships": person.memberships.select_related("corpus").order_by("corpus__name", "role"),
    }
    return render(request, "accounts/account.html", context)


@signed_in
@never_cache
@sensitive_post_parameters("old_password", "new_password1", "new_password2")
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: PersonRequest) -> HttpResponse:
    form = ChangePasswordForm(request.user, _posted(request))
    if form.is_valid():
        people.change_password(by=request.user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, request.user)
        messages.success(
            request, "Password changed. Other browsers in which you were signed in are signed out."
        )
        return redirect("account")
    return render(request, "accounts/password.html", {"section": "account", "form": form})


def _posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: nothing on the first look."""
    return request.POST if request.method == "POST" else None
