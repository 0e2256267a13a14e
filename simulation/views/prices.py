"""What models cost: the list for those who see runs, the form for those who start them everywhere."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from simulation.domain.roles import Right
from simulation.forms.prices import PriceForm
from simulation.models import Provider
from simulation.selectors import ledger_sums, price_list, runs
from simulation.selectors import prices as selectors
from simulation.selectors.access import PersonRequest, needs
from simulation.services import budget, prices


@needs(Right.SEE_RUNS)
@require_safe
def price_page(request: PersonRequest) -> HttpResponse:
    now, counted_from = timezone.now(), budget.workspace().counted_from
    context = {
        "section": "runs",
        "rows": price_list.rows(now, ledger_sums.since(counted_from)),
        "now": now,
        "counted_from": counted_from,
        "may_set": runs.starts_everywhere(request.user),
    }
    return render(request, "money/prices.html", context)


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def price_new(request: PersonRequest) -> HttpResponse:
    """`?provider=..&model=..` fill the form, with the price that holds or that the list proposes."""
    if not runs.starts_everywhere(request.user):
        raise PermissionDenied("Only an admin of the whole installation sets prices.")
    if request.method == "POST":
        form = PriceForm(request.POST)
    else:
        form = PriceForm(initial=_first(request.GET.get("provider", ""), request.GET.get("model", "")))
    if form.is_valid():
        try:
            price = prices.set_price(by=request.user, **form.cleaned_data)
        except ValidationError as problems:
            for field, said in problems.message_dict.items():
                form.add_error(field if field in form.fields else None, said)
        else:
            messages.success(request, f"The price of “{price.model}” at {price.provider.name} is set.")
            return redirect("prices")
    context = {"section": "runs", "form": form, "known": Provider.objects.exists()}
    return render(request, "money/price_new.html", context, status=422 if form.errors else 200)


def _first(public_id: str, model: str) -> dict[str, Any]:
    """What stands in the form at first."""
    provider = Provider.objects.filter(public_id=public_id).first() or Provider.objects.first()
    if provider is None:
        return {}
    model, now = model[:100] or provider.default_model, timezone.now()
    row = selectors.current(provider, model, now)
    found = selectors.proposed(provider, model, now)
    unit = row.unit if row else found.unit if found else None
    first: dict[str, Any] = {"provider": provider.public_id, "model": model}
    if unit:
        amounts = {"input": unit.input, "output": unit.output, "cached": unit.cached}
        first |= {name: f"{one.normalize():f}" for name, one in amounts.items() if one is not None}
    return first
