"""Making and steering queues."""

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.forms import QueueForm
from annotation.models import Queue
from annotation.services import queues
from annotation.views.browse import corpus_for
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = corpus_for(request, corpus_id, Right.MANAGE_QUEUES)
    form = QueueForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                queue = queues.create(by=request.user, corpus=corpus, **form.cleaned_data)
        except IntegrityError:
            form.add_error("name", "This corpus has a queue of that name already; choose another.")
        else:
            messages.success(request, f"Queue “{queue.name}” is open.")
            return redirect("corpus", corpus_id=corpus.public_id)
    status = 422 if form.errors else 200
    return render(
        request,
        "corpora/queue_form.html",
        {"section": "corpora", "corpus": corpus, "form": form},
        status=status,
    )


@needs(Right.MANAGE_QUEUES)
@require_POST
def set_state(request: PersonRequest, queue_id: str) -> HttpResponse:
    managed = Queue.objects.with_right(request.user, Right.MANAGE_QUEUES).select_related("corpus")
    queue = get_object_or_404(managed, public_id=queue_id)
    try:
        queues.set_state(by=request.user, queue=queue, state=request.POST.get("state", ""))
    except ValueError:
        return HttpResponse(
            "A queue can be set to open, paused or closed.", status=422, content_type="text/plain"
        )
    messages.success(request, f"Queue “{queue.name}” is {queue.state}.")
    return redirect("corpus", corpus_id=queue.corpus.public_id)
