"""Saying what the columns of an uploaded table stand for, before it is imported."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.exchange import upload_columns, uploads
from annotation.forms import ColumnsForm
from annotation.models import DataImport
from annotation.views.exchange import hand_over
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


@needs(Right.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def columns(request: PersonRequest, import_id: str) -> HttpResponse:
    """Shows the first rows and a form with a proposal; then imports by what the person says."""
    mine = DataImport.objects.visible_to(request.user).select_related("corpus")
    one = get_object_or_404(mine, public_id=import_id)
    act = request.POST.get("act", "")
    try:
        if act == "discard":
            uploads.cancel(by=request.user, one=one)
            messages.info(request, "The file will not be imported.")
            return redirect("imports", one.corpus.public_id)
        question = upload_columns.question(one)
        described = question.described
        form = ColumnsForm(
            request.POST or None,
            columns=described.columns,
            mapping=question.mapping,
            initial={"name": question.remembered.name if question.remembered else ""},
        )
        if request.method == "POST" and form.is_valid():
            begun = upload_columns.explain(
                by=request.user,
                one=one,
                columns=described.columns,
                mapping=form.mapping,
                dry_run=act != "import",
                name=form.cleaned_data["name"],
            )
            hand_over(begun)
            return redirect("import_status", begun.public_id)
    except uploads.NotPossible as error:
        messages.error(request, str(error))
        return redirect("imports", one.corpus.public_id)
    context = {
        "section": "corpora",
        "one": one,
        "corpus": one.corpus,
        "form": form,
        "described": described,
        "remembered": question.remembered,
        "waits": uploads.ASKS in one.options,
    }
    return render(request, "corpora/import_columns.html", context, status=422 if form.errors else 200)
