"""The webhooks of a corpus: who is told what, and what became of each message."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from simulation.domain.roles import Right
from simulation.forms.webhooks import EventsForm, WebhookForm
from simulation.models import Corpus, Webhook
from simulation.selectors import webhooks as selectors
from simulation.selectors.access import PersonRequest, needs
from simulation.services import webhook_keeping as keeping
from simulation.services.webhooks import secret_of

ACTS = {
    "pause": (keeping.pause, "Paused: nothing is sent until it is resumed."),
    "resume": (keeping.resume, "Resumed: what waits is sent within seconds."),
    "rotate": (keeping.rotate, "The secret is another one now. Give it to the receiver."),
    "ping": (keeping.ping, "A test message is on its way; what becomes of it stands below."),
}


@needs(Right.CONNECT)
@require_safe
def webhook_list(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = _corpus(request, corpus_id)
    context = {"section": "corpora", "corpus": corpus, "rows": selectors.listed(corpus)}
    return render(request, "webhooks/list.html", {**context, "most": keeping.MOST})


@needs(Right.CONNECT)
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = _corpus(request, corpus_id)
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            webhook = keeping.add(by=request.user, corpus=corpus, **form.asked())
        except ValidationError as problems:
            _say(form, problems)
        else:
            messages.success(request, "The webhook is there. Give its secret to the receiver, and test it.")
            return redirect("webhook", webhook.public_id)
    context = {"section": "corpora", "corpus": corpus, "form": form}
    context["private"] = settings.WEBHOOK_PRIVATE_ADDRESSES
    return render(request, "webhooks/new.html", context, status=422 if form.errors else 200)


@needs(Right.CONNECT)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """One of them with its messages; a POST changes what it is told."""
    found = _webhook(request, webhook_id)
    given = request.POST if request.method == "POST" else None
    form = EventsForm(given, initial={"events": found.events, "note": found.note})
    if form.is_valid():
        try:
            keeping.change(by=request.user, webhook=found, **form.cleaned_data)
        except ValidationError as problems:
            _say(form, problems)
        else:
            messages.success(request, "Changed: it counts for what happens from now on.")
            return redirect("webhook", found.public_id)
    context = {
        "section": "corpora",
        "corpus": found.corpus,
        "webhook": found,
        "form": form,
        "secret": secret_of(found),
        "page": selectors.page(found, before=request.GET.get("before", "")),
    }
    return render(request, "webhooks/one.html", context, status=422 if form.errors else 200)


@needs(Right.CONNECT)
@require_POST
def webhook_act(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Pause, resume, another secret, a test message."""
    found = _webhook(request, webhook_id)
    if (wanted := request.POST.get("act", "")) not in ACTS:
        raise BadRequest("There is no such act.")
    act, said = ACTS[wanted]
    try:
        act(by=request.user, webhook=found)
    except keeping.NotSent as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, said)
    return redirect("webhook", found.public_id)


@needs(Right.CONNECT)
@require_POST
def webhook_remove(request: PersonRequest, webhook_id: str) -> HttpResponse:
    found = _webhook(request, webhook_id)
    keeping.remove(by=request.user, webhook=found)
    messages.success(request, "The webhook is removed, and every message to it.")
    return redirect("webhooks", found.corpus.public_id)


@needs(Right.CONNECT)
@require_POST
def delivery_again(request: PersonRequest, delivery_id: str) -> HttpResponse:
    visible = selectors.deliveries_visible_to(request.user).select_related("webhook")
    found = get_object_or_404(visible, public_id=delivery_id)
    try:
        keeping.again(by=request.user, delivery=found)
    except keeping.NotSent as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "It is sent again within seconds, under the same id.")
    return redirect("webhook", found.webhook.public_id)


def _corpus(request: PersonRequest, corpus_id: str) -> Corpus:
    return get_object_or_404(Corpus.objects.with_right(request.user, Right.CONNECT), public_id=corpus_id)


def _webhook(request: PersonRequest, webhook_id: str) -> Webhook:
    visible = Webhook.objects.visible_to(request.user).select_related("corpus")
    return get_object_or_404(visible, public_id=webhook_id)


def _say(form: EventsForm, problems: ValidationError) -> None:
    """Each problem beside its field; what belongs to none goes above."""
    for field, said in problems.message_dict.items():
        form.add_error(field if field in form.fields else None, said)
