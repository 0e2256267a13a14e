"""The providers: where models are reached. For those who start runs in the whole installation."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from simulation.domain.roles import Right
from simulation.forms import ProviderForm
from simulation.selectors import providers as selectors
from simulation.selectors import runs
from simulation.selectors.access import PersonRequest, needs
from simulation.services import providers


def _require_everywhere(request: PersonRequest) -> None:
    """A provider is in no corpus: a role in some corpora is not enough."""
    if not runs.starts_everywhere(request.user):
        raise PermissionDenied("Only an admin of the whole installation sees and names providers.")


@needs(Right.START_RUNS)
@require_safe
def provider_list(request: PersonRequest) -> HttpResponse:
    _require_everywhere(request)
    rows = [(provider, providers.key_present(provider)) for provider in selectors.listed()]
    return render(request, "providers/list.html", {"section": "runs", "rows": rows})


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def provider_new(request: PersonRequest) -> HttpResponse:
    _require_everywhere(request)
    form = ProviderForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            provider = providers.add(by=request.user, **form.cleaned_data)
        except ValidationError as problems:
            _say(form, problems)
        else:
            messages.success(request, f"Provider “{provider.name}” is there. Runs can be started with it.")
            return redirect("providers")
    context = {"section": "runs", "form": form, "private": settings.LLM_PRIVATE_ADDRESSES}
    return render(request, "providers/new.html", context, status=422 if form.errors else 200)


def _say(form: ProviderForm, problems: ValidationError) -> None:
    """Each problem beside its field; what belongs to none goes above."""
    for field, said in problems.message_dict.items():
        form.add_error(field if field in form.fields else None, said)
