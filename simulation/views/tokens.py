"""Personal tokens of one's own account: a list, a new one that is shown once, an end to one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from simulation.forms.tokens import TokenForm
from simulation.selectors import api_tokens as selectors
from simulation.selectors.access import PersonRequest, signed_in
from simulation.services import api_tokens


@signed_in
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: PersonRequest) -> HttpResponse:
    """The text of a new token is on the page that answers the form, and nowhere else."""
    person = request.user
    form, made, text = TokenForm(request.POST or None, person=person), None, ""
    if form.is_valid():
        try:
            made, text = api_tokens.make_token(by=person, person=person, **form.asked())
        except api_tokens.BadToken as problem:
            form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        else:
            form = TokenForm(person=person)
    context = {
        "section": "account",
        "form": form,
        "made": made,
        "text": text,
        "rows": selectors.rows(person, timezone.now()),
    }
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@signed_in
@require_POST
def token_revoke(request: PersonRequest, token_id: str) -> HttpResponse:
    token = get_object_or_404(selectors.of_person(request.user), public_id=token_id)
    api_tokens.revoke_token(by=request.user, token=token)
    messages.success(request, f"“{token.name}” is revoked: it opens nothing any more.")
    return redirect("tokens")
