"""Small answers for the script of the review page: drafts, holds, flags, a fresh token."""

from django.http import Http404, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation import forms
from annotation.models import Annotation, Item, Queue
from annotation.services import claims, drafts, flags, sheets
from annotation.views.review import item_for, made_for, queue_for
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.roles import Right
from simulation.selectors import threads
from simulation.selectors.access import PersonRequest, asks_itself, signed_in


def _handed_out(request: PersonRequest, queue_id: str, item_id: str) -> tuple[Queue, Item]:
    """An item that this person holds, has answered, or has a page of; 404 otherwise."""
    queue = queue_for(request, queue_id)
    found = item_for(queue, item_id)
    theirs = made_for(request, found) or found.slots.filter(person=request.user).exists()
    if not theirs and not Annotation.objects.filter(item=found, person=request.user).exists():
        raise Http404("never handed out to this person")
    return queue, found


@asks_itself(Right.REVIEW)
@require_POST
def draft(request: PersonRequest, queue_id: str, item_id: str) -> JsonResponse:
    """Keeps what was typed. 409: the stored answer is newer than the page; 413: more than a form holds."""
    queue, found = _handed_out(request, queue_id, item_id)
    page = sheets.page_of(queue, found, request.user, None) if found.blind else None
    if page and page.stage != request.POST.get("stage", page.stage):
        return JsonResponse(
            {"version": page.mine.version if page.mine else 0}, status=409
        )  # of the other half
    now = timezone.now()
    try:
        drafts.save(
            by=request.user,
            item=found,
            base_version=_number(request.POST.get("base_version", "")),
            stamp=_number(request.POST.get("stamp", "")),
            fields=forms.drafted(request.POST),
            now=now,
        )
    except drafts.Stale as stale:
        return JsonResponse({"version": stale.version}, status=409)
    except drafts.TooLarge:
        return JsonResponse({"error": "The draft is too long to be kept on the server."}, status=413)
    return JsonResponse({"saved": timezone.localtime(now).strftime("%H:%M:%S")})


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= 15 else 0


@asks_itself(Right.REVIEW)
@require_POST
def hold(request: PersonRequest, queue_id: str, item_id: str) -> JsonResponse:
    """Renews the hold on an item, or lets it go soon because the page was left. 409: it is theirs no more."""
    found = item_for(queue_for(request, queue_id), item_id)
    token = forms.as_uuid(request.POST.get("lease_token", ""))
    if token is None:
        return JsonResponse({"held": False}, status=409)
    if request.POST.get("act") == "leave":
        claims.leave(by=request.user, item=found, token=token, now=timezone.now())
        return JsonResponse({"held": True})
    until = claims.renew(by=request.user, item=found, token=token, now=timezone.now())
    if until is None:
        return JsonResponse({"held": False}, status=409)
    return JsonResponse({"until": until.isoformat()})


@asks_itself(Right.REVIEW)
@require_POST
def flag(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """Asks the adjudicator to look at an item, or takes that back."""
    queue, found = _handed_out(request, queue_id, item_id)
    attribute = request.POST.get("attribute", "")
    clear = request.POST.get("act") == "clear"
    if clear:
        flags.clear_flag(by=request.user, item=found)
    else:
        flags.raise_flag(
            by=request.user,
            item=found,
            attribute=attribute if attribute in TARGET_KEYS else "",
            note=request.POST.get("note", "").strip(),
        )
    if request.htmx:
        return JsonResponse({"flagged": not clear})
    return redirect("review_item", queue_id=queue.public_id, item_id=found.public_id)


@asks_itself(Right.REVIEW)
@require_GET
def whole_tree(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """The reply tree with what the page left folded, for whoever opens a fold."""
    found = item_for(queue_for(request, queue_id), item_id)
    if not found.slots.filter(person=request.user).exists():
        raise Http404("not an item of this person")
    steps = threads.around(found.comment)
    return render(request, "components/tree.html", {"steps": steps, "thread": found.comment.thread})


@signed_in
@require_GET
def token(request: PersonRequest) -> JsonResponse:
    """A fresh CSRF token and whose session this is, for a page that outlived its login."""
    answer = JsonResponse({"token": get_token(request), "person": request.user.public_id})
    answer["Cache-Control"] = "no-store"
    return answer
