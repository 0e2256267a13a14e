"""References: listed, and added by people who may evaluate."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.forms.boards import ReferenceForm
from evaluation.models import Reference
from evaluation.selectors.board_lines import label_of
from evaluation.selectors.board_words import percent
from evaluation.services import references as service
from evaluation.views.rooms import corpus_for, may
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest, needs

SECTION = "models"


@needs(Right.SEE_PROFILES)
@require_safe
def references(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The references of a corpus with their values."""
    corpus = corpus_for(request, corpus_id)
    found = list(Reference.objects.filter(corpus=corpus).select_related("created_by"))
    context = {
        "section": SECTION,
        "corpus": corpus,
        "references": [(one, _values(one)) for one in found],
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    return render(request, "evaluation/references.html", context)


def _values(reference: Reference) -> list[tuple[str, str, int | None]]:
    """(label, percent, n), in the catalogue's order, all attributes last."""
    keys = [key for key in CATALOGUE if key in reference.values]
    keys += sorted(set(reference.values).difference(CATALOGUE, [""]))
    keys += [""] if "" in reference.values else []
    return [
        (
            label_of("by_attribute", key) if key else "All",
            percent(reference.values[key]["value"]),
            reference.values[key].get("n"),
        )
        for key in keys
    ]


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of a reference; kept, it is shown beside the leaderboard."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    form = ReferenceForm(corpus=corpus)
    if request.method == "POST":
        form = ReferenceForm(request.POST, request.FILES, corpus=corpus)
        if form.is_valid() and (made := _add(request, corpus, form)):
            messages.success(request, f"{made.name} is kept and shown beside the models.")
            return redirect(f"{reverse('leaderboard', args=[corpus.public_id])}?reference={made.public_id}")
    context = {"section": SECTION, "corpus": corpus, "form": form}
    return render(request, "evaluation/reference_new.html", context, status=422 if form.errors else 200)


def _add(request: PersonRequest, corpus: Corpus, form: ReferenceForm) -> Reference | None:
    try:
        return service.add(
            corpus,
            by=request.user,
            name=form.cleaned_data["name"],
            values=form.values,
            note=form.cleaned_data["note"],
        )
    except service.NameTaken:
        form.add_error("name", "This corpus has a reference of this name. Choose another one.")
        return None
