"""The page on which a person sets the keys of the review page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.domain.keys import CHANGEABLE, bound, normal
from annotation.services.keys import KeysRefused, set_keys
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


@needs(Right.REVIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def review_keys(request: PersonRequest) -> HttpResponse:
    """All actions with their keys; takes changes, switches keys off, or goes back to the defaults."""
    person = request.user
    changes, on, problems = person.review_keys, person.review_keys_on, {}
    if request.method == "POST":
        changes, on = {}, "on" in request.POST
        if request.POST.get("act") != "reset":
            changes = {
                action: normal(request.POST[f"key-{action}"][:30])
                for action in CHANGEABLE
                if f"key-{action}" in request.POST
            }
        else:
            on = True
        try:
            set_keys(by=person, changes=changes, on=on)
        except KeysRefused as refused:
            problems = {clash.action: clash.message for clash in refused.clashes}
        else:
            messages.success(request, "Saved. The review page uses these keys from now on.")
            return redirect("review_keys")
    context = {
        "section": "review",
        "keys": [one for one in bound(changes) if not one.fixed],
        "fixed": [one for one in bound({}) if one.fixed],
        "defaults": {action: key for action, (key, _) in CHANGEABLE.items()},
        "on": on,
        "problems": problems,
    }
    return render(request, "review/keys.html", context, status=422 if problems else 200)
