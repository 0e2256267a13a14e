"""Artefact review: what generators left behind in the comments of a corpus, and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import BadRequest
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from simulation import tasks
from simulation.domain.artefacts import RULES
from simulation.domain.roles import Right
from simulation.forms.artefacts import CommentEditForm
from simulation.models import Artefact, Comment, Corpus
from simulation.selectors import artefacts as found
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import artefacts as acts

DONE = {
    "clear": "Cleared: it will not be reported again.",
    "reopen": "Open again.",
    "withdraw": "The comment is withdrawn. Under “withdrawn” it can be taken back.",
    "restore": "The comment is back.",
}


def _corpus(request: PersonRequest, corpus_id: str) -> Corpus:
    """The corpus, if the person may start runs in it: who fills it mends it."""
    return get_object_or_404(Corpus.objects.with_right(request.user, Right.START_RUNS), public_id=corpus_id)


def _asked(params: Mapping[str, str]) -> dict[str, str]:
    """Rule and state that are on the list; open ones of all rules where nothing else is said."""
    rule, state = params.get("rule", ""), params.get("state", Artefact.OPEN)
    return {
        "rule": rule if rule in RULES else "",
        "state": state if state in found.STATES else Artefact.OPEN,
    }


def _query(asked: Mapping[str, str]) -> str:
    return urlencode({key: value for key, value in asked.items() if value and value != Artefact.OPEN})


@needs(Right.START_RUNS)
@require_safe
def artefact_list(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The filter and where the page begins stand in the address."""
    corpus = _corpus(request, corpus_id)
    asked = _asked(request.GET)
    page = found.page(
        corpus, **asked, after=request.GET.get("after", ""), before=request.GET.get("before", "")
    )
    groups = found.by_rule(corpus)
    chosen = [one for _, counts in groups for one in counts if one.rule.key == asked["rule"]]
    context = {
        "section": "corpora",
        "corpus": corpus,
        "page": page,
        "rows": [
            (row, _form(row), following.artefact.public_id if following else "")
            for row, following in zip_longest(page.rows, page.rows[1:])
        ],
        "groups": groups,
        "chosen": chosen[0] if chosen else None,
        "total_open": sum(one.open for _, counts in groups for one in counts),
        "asked": asked,
        "query": _query(asked),
        "rule_query": _query({"rule": asked["rule"]}),
        "state_query": _query({"state": asked["state"]}),
        "states": found.STATES.items(),
        "last_scan": found.last_scan(corpus),
        "workers": workers.alive(),
    }
    return render(request, "artefacts/list.html", context)


def _form(row: found.Row, text: str | None = None) -> CommentEditForm:
    own = row.comment.text
    return CommentEditForm(
        initial={"text": own if text is None else text, "expected_text": own},
        in_use=row.labelled or row.held,
        auto_id=f"id_{row.artefact.public_id}_%s",
    )


@needs(Right.START_RUNS)
@require_POST
def scan(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """A worker looks through the corpus; the page says so when it is done."""
    corpus = _corpus(request, corpus_id)
    try:
        tasks.scan_artefacts.delay_on_commit(corpus.pk, request.user.pk)  # type: ignore[attr-defined]
    except (BrokerError, RedisError):
        messages.error(request, "No worker can be reached: the broker does not answer. Nothing was scanned.")
    else:
        messages.success(request, "All comments are being looked through. Reload the page in a moment.")
    return HttpResponseRedirect(reverse("artefacts", args=[corpus.public_id]))


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def artefact(request: PersonRequest, corpus_id: str, artefact_id: str) -> HttpResponse:
    """One finding; what is sent here is done to it. `cut` proposes the text without the place."""
    corpus = _corpus(request, corpus_id)
    own = found.in_corpus(corpus).select_related("comment__thread", "comment__profile", "decided_by")
    one = get_object_or_404(own, public_id=artefact_id)
    if request.method != "POST":
        [row] = found.rows([one])
        form = _form(row, row.cut if "cut" in request.GET and row.cut else None)
        return _one(request, corpus, row, form, opened="edit" in request.GET or "cut" in request.GET)
    act = request.POST.get("act", "")
    if act == "edit":
        return _edit(request, corpus, one)
    _do(request, act, one)
    return _back(request, corpus)


def _one(
    request: PersonRequest, corpus: Corpus, row: found.Row, form: CommentEditForm, **more: Any
) -> HttpResponse:
    status = more.pop("status", 200)
    asked = _asked(request.POST or request.GET)
    context = {"section": "corpora", "corpus": corpus, "row": row, "form": form, "query": _query(asked)}
    return render(
        request, "artefacts/one.html", {**context, "asked": asked, "alone": True, **more}, status=status
    )


def _edit(request: PersonRequest, corpus: Corpus, one: Artefact) -> HttpResponse:
    [row] = found.rows([one])
    form = CommentEditForm(
        request.POST, in_use=row.labelled or row.held, auto_id=f"id_{one.public_id}_%s", initial={"text": ""}
    )
    if not form.is_valid():
        return _one(request, corpus, row, form, opened=True, status=422)
    sent = form.cleaned_data
    try:
        acts.edit(
            by=request.user,
            comment=one.comment,
            text=sent["text"],
            expected_text=sent["expected_text"],
            reason=sent["reason"],
            force=bool(sent.get("force")),
        )
    except acts.Conflict as refusal:
        form.add_error(None, str(refusal))
        # What was typed stays; the next press counts as made in sight of the text that is shown now.
        data = request.POST.copy()
        data["expected_text"] = one.comment.text
        form.data = data
        return _one(request, corpus, row, form, opened=True, conflict=True, status=409)
    except acts.Refused as refusal:
        form.add_error(
            "force" if isinstance(refusal, acts.Labelled) and "force" in form.fields else "text", str(refusal)
        )
        return _one(request, corpus, row, form, opened=True, status=422)
    messages.success(request, "The comment has its new text. The first one is kept.")
    return _back(request, corpus)


def _do(request: PersonRequest, act: str, one: Artefact) -> None:
    findings = Artefact.objects.filter(pk=one.pk)
    comments = Comment.objects.filter(pk=one.comment_id)
    if act == "clear":
        done = acts.clear(by=request.user, artefacts=findings)
    elif act == "reopen":
        done = acts.reopen(by=request.user, artefacts=findings)
    elif act == "withdraw":
        done = acts.withdraw(by=request.user, comments=comments)
    elif act == "restore":
        done = acts.restore(by=request.user, comments=comments)
    else:
        raise BadRequest("A finding is edited, cleared, reopened, withdrawn or restored.")
    if done:
        messages.success(request, DONE[act])
    else:
        messages.warning(request, "Somebody was quicker; nothing was changed.")


def _back(request: PersonRequest, corpus: Corpus) -> HttpResponseRedirect:
    """To the list as it was, at the finding that followed."""
    place = reverse("artefacts", args=[corpus.public_id])
    query = _query(_asked(request.POST))
    following = request.POST.get("next", "")
    mark = f"#f-{following}" if following.isalnum() else "#findings"
    return HttpResponseRedirect(f"{place}?{query}{mark}" if query else f"{place}{mark}")


@needs(Right.START_RUNS)
@require_POST
def bulk(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """First how many findings of a rule an act touches; with that number in `confirm`, the act."""
    corpus = _corpus(request, corpus_id)
    rule, act = RULES.get(request.POST.get("rule", "")), request.POST.get("act", "")
    if rule is None or act not in ("clear", "withdraw"):
        raise BadRequest("Choose a rule, and whether to clear its findings or to withdraw their comments.")
    confirm, changed = request.POST.get("confirm", ""), ""
    back = f"{reverse('artefacts', args=[corpus.public_id])}?{_query({'rule': rule.key})}"
    if confirm.isdecimal() and len(confirm) < 12:
        try:
            n = acts.all_of_rule(
                by=request.user, corpus=corpus, rule=rule.key, act=act, expected=int(confirm)
            )
        except acts.Conflict as refusal:
            changed = str(refusal)
        else:
            what = "cleared" if act == "clear" else "closed, and their comments withdrawn"
            messages.success(
                request, f"{intcomma(n)} finding{'s' if n != 1 else ''} of “{rule.name}” {what}."
            )
            return HttpResponseRedirect(back)
    open_ones = found.in_corpus(corpus).filter(rule=rule.key, state=Artefact.OPEN)
    context = {
        "section": "corpora",
        "corpus": corpus,
        "rule": rule,
        "act": act,
        "n": open_ones.count(),
        "n_comments": open_ones.values("comment").distinct().count(),
        "n_labelled": open_ones.filter(comment__annotations__isnull=False)
        .values("comment")
        .distinct()
        .count(),
        "changed": changed,
        "back": back,
    }
    return render(request, "artefacts/bulk.html", context, status=409 if changed else 200)
