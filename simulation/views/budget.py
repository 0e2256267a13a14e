"""The budget of the installation: what was spent, on what, and the caps."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from simulation.domain.caps import Meter
from simulation.domain.roles import Right
from simulation.domain.typed import NotConfirmed, require_typed
from simulation.forms.budget import BudgetForm
from simulation.models import Workspace
from simulation.selectors import ledger_sums, runs
from simulation.selectors.access import PersonRequest, needs
from simulation.services import budget

WORDS = "new period"
"""What is typed to begin one."""


@needs(Right.SEE_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def budget_page(request: PersonRequest) -> HttpResponse:
    """Seen by those who see runs; a POST sets the caps."""
    row = budget.workspace()
    if request.method != "POST":
        return _page(request, row, BudgetForm(budget=row))
    _require_everywhere(request)
    form = BudgetForm(request.POST, budget=row)
    if form.is_valid():
        try:
            row = budget.set_caps(by=request.user, **form.asked())
        except ValidationError as problems:
            for field, said in problems.message_dict.items():
                form.add_error(field, said)
        else:
            _say(request, row)
            return redirect("budget")
    return _page(request, row, form, status=422)


@needs(Right.START_RUNS)
@require_POST
def budget_period(request: PersonRequest) -> HttpResponse:
    """A new period, confirmed by typing two words."""
    _require_everywhere(request)
    typed = request.POST.get("typed", "")
    try:
        require_typed(typed, WORDS)
    except NotConfirmed as refusal:
        row = budget.workspace()
        return _page(request, row, BudgetForm(budget=row), status=422, typed=typed, problem=str(refusal))
    budget.begin_period(by=request.user)
    messages.success(request, "A new period has begun: spending is counted from now on.")
    return redirect("budget")


def _require_everywhere(request: PersonRequest) -> None:
    """The budget is of no corpus: a role in some corpora is not enough."""
    if not runs.starts_everywhere(request.user):
        raise PermissionDenied("Only an admin of the whole installation changes its budget.")


def _say(request: PersonRequest, row: Workspace) -> None:
    if row.hard_cap is not None and row.hard_cap < row.spent + row.held:
        messages.warning(
            request,
            "The caps are set. The hard cap is below what is spent and set aside: calls in flight finish, and"
            " no run begins another call until it is raised or a new period begins.",
        )
    else:
        messages.success(request, "The caps are set.")


def _mark(row: Workspace) -> str:
    """Where the soft cap stands on a meter of the hard cap, in percent; empty where only one is set."""
    if not row.hard_cap or row.soft_cap is None or row.soft_cap == row.hard_cap:
        return ""
    return f"{100 * row.soft_cap / row.hard_cap:.2f}"


def _page(
    request: PersonRequest,
    row: Workspace,
    form: BudgetForm,
    *,
    status: int = 200,
    typed: str = "",
    problem: str = "",
) -> HttpResponse:
    cap = row.hard_cap if row.hard_cap is not None else row.soft_cap
    context: dict[str, Any] = {
        "section": "runs",
        "budget": row,
        "form": form,
        "meter": None if cap is None else Meter(row.spent, row.held, cap),
        "mark": _mark(row),
        "is_full": row.hard_cap is not None and row.spent >= row.hard_cap,
        "is_warned": row.soft_cap is not None and row.spent >= row.soft_cap,
        "tables": ledger_sums.tables(
            ledger_sums.since(row.counted_from), total=row.spent, person=request.user
        ),
        "may_set": runs.starts_everywhere(request.user),
        "words": WORDS,
        "typed": typed,
        "problem": problem,
    }
    return render(request, "money/budget.html", context, status=status)
