"""Label sets: making one, looking at it, comparing it with the profiles, revising it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import AttributeLabel, Suggestion
from evaluation.exchange import label_tables
from evaluation.forms.labels import FORMS, CompareForm, InheritForm, NewSetForm, RollUpForm
from evaluation.models import LabelSet
from evaluation.selectors import label_sets as selected
from evaluation.selectors.label_sets import TRUTHS, Narrowed
from evaluation.selectors.label_words import counted, made_how
from evaluation.services import label_sets
from evaluation.services.label_sets import BadLabels, Count
from evaluation.views.rooms import corpus_for, may
from simulation.domain.attributes import CATALOGUE, HARDNESS
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest, needs


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of a new set; with `look`, or asked by htmx, what would come of it."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    sent = request.POST if request.method == "POST" else request.GET
    kind = sent.get("kind", LabelSet.ROLLED_UP)
    form_of = FORMS.get(kind, RollUpForm)
    form = form_of(request.POST if request.method == "POST" else _first(corpus, form_of), corpus=corpus)
    looking = request.method == "POST" and ("look" in request.POST or bool(request.htmx))
    wrong = request.method == "POST" and not looking and not form.is_valid()
    if request.method == "POST" and not looking and not wrong:
        if made := _make(request, corpus, form):
            return redirect("label_set", set_id=made.public_id)
        wrong = True
    context: dict[str, Any] = {
        "section": "models",
        "corpus": corpus,
        "form": form,
        "kind": form_of.KIND,
        "found": _forecast(corpus, form) if looking and form.can_look else None,
        "looked": looking,
        "wrong": wrong,
        "marks": HARDNESS,
        "any_labels": AttributeLabel.objects.filter(annotation__comment__corpus=corpus).exists(),
        "any_tags": Suggestion.objects.filter(comment__corpus=corpus).exists(),
    }
    template = "evaluation/label_set_new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _first(corpus: Corpus, form_of: type[NewSetForm]) -> dict[str, Any]:
    """What the fields hold at first; the first name that is free."""
    wanted = "labels" if form_of is RollUpForm else "inherited"
    taken = set(LabelSet.objects.filter(corpus=corpus).values_list("name", flat=True))
    name = next(name for number in range(1, len(taken) + 2) if (name := f"{wanted} {number}") not in taken)
    fields = form_of.base_fields
    initial = {key: one.initial for key, one in fields.items() if one.initial is not None}
    return initial | {"kind": form_of.KIND, "name": name, "use_decisions": "on"}


def _forecast(corpus: Corpus, form: NewSetForm) -> Count | None:
    form.full_clean()
    policy = form.cleaned_data["policy"]
    if isinstance(form, RollUpForm):
        several = form.cleaned_data["several"]
        return label_sets.forecast(corpus, form.sources, policy=policy, several=several)
    if isinstance(form, InheritForm):
        return label_sets.inherit_forecast(corpus, policy=policy, **form.chosen)
    return None


def _make(request: PersonRequest, corpus: Corpus, form: NewSetForm) -> LabelSet | None:
    """The set that was made; None with the reason beside its field."""
    said = {key: form.cleaned_data[key] for key in ("name", "policy")} | {"by": request.user}
    try:
        if isinstance(form, RollUpForm):
            made = label_sets.roll_up_corpus(corpus, **said, **form.chosen)
        else:
            assert isinstance(form, InheritForm)
            made = label_sets.inherit(corpus, **said, **form.chosen)
    except BadLabels as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{made.name}” is made: {_size(made)}.")
    return made


def _size(label_set: LabelSet) -> str:
    labels, profiles = label_set.labels, label_set.profiles
    return f"{labels:,} label{'s'[: labels != 1]} of {profiles:,} profile{'s'[: profiles != 1]}"


@needs(Right.SEE_PROFILES)
@require_safe
def one(request: PersonRequest, set_id: str) -> HttpResponse:
    """What a set is, how it stands against the profiles, and its labels."""
    return _page(request, _set(request, set_id))


def _page(request: PersonRequest, label_set: LabelSet, *, problem: str = "", name: str = "") -> HttpResponse:
    narrowed = Narrowed.of(request.GET.dict())
    after = request.GET.get("after", "")
    known = int(after) if after.isascii() and after.isdecimal() and len(after) < 19 else 0
    scorings = selected.scorings(label_set)
    context: dict[str, Any] = {
        "section": "models",
        "corpus": label_set.corpus,
        "labels": label_set,
        "how": made_how(label_set),
        "counted": counted(label_set),
        "numbers": selected.numbers(label_set),
        "marks": HARDNESS,
        "page": selected.listed(label_set, narrowed, after=known),
        "asked": narrowed,
        "query": urlencode(narrowed.asked),
        "begun": bool(known),
        "attributes": CATALOGUE.values(),
        "truths": TRUTHS.items(),
        "scorings": [scored for scored, _ in scorings],
        "stale": {scored.scoring.pk for scored, is_stale in scorings if is_stale},
        "revisions": label_set.revisions.order_by("name"),
        "is_of_profiles": label_set.kind in (LabelSet.REVISED, LabelSet.INHERITED),
        "form": CompareForm(),
        "may_evaluate": may(request, label_set.corpus, Right.EVALUATE),
        "problem": problem,
        "name": name or f"{label_set.name[:110]}, revised",
    }
    return render(request, "evaluation/label_set.html", context, status=422 if problem else 200)


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, set_id: str) -> HttpResponseBase:
    """The labels that the list shows, all of them, as a file."""
    label_set = _set(request, set_id)
    return StreamingHttpResponse(
        label_tables.lines(label_set, Narrowed.of(request.GET.dict())),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="labels-{label_set.public_id}.csv"'},
    )


@needs(Right.EVALUATE)
@require_POST
def compare(request: PersonRequest, set_id: str) -> HttpResponse:
    """Scores the labels against the profiles."""
    label_set = _set(request, set_id, Right.EVALUATE)
    form = CompareForm(request.POST)
    if not form.is_valid():
        return _page(request, label_set, problem="Choose by which rules the labels are compared.")
    try:
        found = label_sets.compare_with_profiles(label_set, mode=form.cleaned_data["mode"], by=request.user)
    except BadLabels as problem:
        return _page(request, label_set, problem=str(problem))
    settled = found.right + found.less_precise + found.wrong + found.kept
    said = f"Compared: {settled:,} labels are settled"
    if found.open:
        said += f", {found.open:,} wait for somebody to settle them"
    messages.success(request, f"{said}.")
    return redirect("label_set", set_id=label_set.public_id)


@needs(Right.EVALUATE)
@require_POST
def revise(request: PersonRequest, set_id: str) -> HttpResponse:
    """Makes the set of the labels that are not wrong."""
    label_set = _set(request, set_id, Right.EVALUATE)
    name = request.POST.get("name", "")
    try:
        made = label_sets.revise(label_set, name=name, by=request.user)
    except BadLabels as problem:
        return _page(request, label_set, problem=str(problem), name=name[:120])
    messages.success(request, f"“{made.name}” is made: {made.labels:,} of {label_set.labels:,} labels stay.")
    return redirect("label_set", set_id=made.public_id)


def _set(request: PersonRequest, set_id: str, right: Right = Right.SEE_PROFILES) -> LabelSet:
    """The set, where the person has `right` in its corpus. Raises Http404."""
    sets = LabelSet.objects.visible_to(request.user).select_related("corpus", "source", "created_by")
    allowed = Corpus.objects.with_right(request.user, right)
    return get_object_or_404(sets.filter(corpus__in=allowed), public_id=set_id)
