"""The pages that know every app: home, help, health, errors."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.domain import keys
from annotation.selectors import labels
from annotation.selectors import queue as work
from simulation.domain.attributes import CERTAINTY, HARDNESS, TARGETS
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.rest.problems import CONTENT_TYPE, problem
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, public, rights_of, signed_in
from synthpai_web import health
from synthpai_web.middleware import is_api


@signed_in
@require_safe
def home(request: PersonRequest) -> HttpResponse:
    """What there is to do, by what the person may do."""
    rights = rights_of(request.user)
    queues = work.work_of(request.user) if Right.REVIEW in rights else []
    seen = Corpus.objects.with_right(request.user, Right.SEE_LABELS)
    corpora = list(seen) if Right.SEE_LABELS in rights else []
    context = {
        "section": "home",
        "now": timezone.localtime(),
        "work": queues,
        "start": next((one for one in queues if one.holds), None)
        or next((one for one in queues if one.progress.left and one.queue.state == "open"), None),
        "corpora": [(corpus, labels.counts(corpus)) for corpus in corpora[:12]],
        "n_corpora": len(corpora),
        "workers": workers.alive() if rights & {Right.IMPORT, Right.MANAGE_PEOPLE} else None,
    }
    return render(request, "home.html", context)


@signed_in
@require_safe
def help_page(request: PersonRequest) -> HttpResponse:
    """Both scales, the attributes and the keys."""
    context = {
        "section": "help",
        "hardness": HARDNESS,
        "certainty": CERTAINTY,
        "attributes": TARGETS,
        "keys": keys.bound(request.user.review_keys),
        "keys_on": request.user.review_keys_on,
    }
    return render(request, "help.html", context)


@public
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process is up. Touches nothing else."""
    return JsonResponse({"ok": True})


@public
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Database, broker, migrations and a worker, each by name; 503 while one of them is not ready."""
    checks = health.readiness()
    ok = all(check.ok for check in checks)
    body = {"ok": ok, "checks": {check.name: {"ok": check.ok, "said": check.said} for check in checks}}
    return JsonResponse(body, status=200 if ok else 503)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", {"reason": str(exception or "")}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def broken(request: HttpRequest) -> HttpResponse:
    """Drawn without the database, which may be what is broken."""
    if is_api(request):
        said = "Something broke on our side; it was not done. Try again, with the same Idempotency-Key."
        return JsonResponse(problem(500, said), status=500, content_type=CONTENT_TYPE)
    return HttpResponse(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Something broke · SynthPAI Studio</title>"
        "<h1>Something broke on our side</h1><p>What you had submitted before is safe. Go back and try again;"
        " if it stays, tell your administrator the time and this page's address.</p></html>",
        status=500,
        headers={"Retry-After": "30"} if not settings.DEBUG else None,
    )
