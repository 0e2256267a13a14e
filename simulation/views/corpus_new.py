"""A new corpus, empty at first: the page of the corpus then says what comes next."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from simulation.domain.roles import Right
from simulation.forms.corpora import CorpusForm
from simulation.selectors import corpora
from simulation.selectors.access import PersonRequest, needs
from simulation.services.corpora import create_corpus


@needs(Right.BROWSE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest) -> HttpResponse:
    """A corpus is in no corpus: a role in some corpora is not enough."""
    if not corpora.may_make(request.user):
        raise PermissionDenied("Only who may import or start runs in the whole installation makes a corpus.")
    form = CorpusForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            with transaction.atomic():
                corpus = create_corpus(by=request.user, **form.cleaned_data)
        except IntegrityError:
            form.add_error("name", "There is a corpus of this name already, perhaps in the trash.")
        except ValidationError as problems:
            for field, said in problems.message_dict.items():
                form.add_error(field if field in form.fields else None, said)
        else:
            messages.success(request, f"“{corpus.name}” is there, and empty. Next it needs profiles.")
            return redirect("corpus", corpus_id=corpus.public_id)
    context = {"section": "corpora", "form": form}
    return render(request, "corpora/new.html", context, status=422 if form.errors else 200)
