"""Settling what rules left open: one question at a time, the log of what was said, all of one question."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.exchange import verdict_tables
from evaluation.forms import settling as acts
from evaluation.forms.settling import ActForm
from evaluation.models import Opinion, Question
from evaluation.selectors import matching, questions
from evaluation.selectors.question_agreement import SAW_JUDGE, SAW_OTHERS, people_agreement
from evaluation.selectors.questions import SCORE_WORDS, VIEW_WORDS, View
from evaluation.services import questions as answering
from evaluation.views.rooms import corpus_for, may
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest, needs

SKIPPED, ANSWERED = "skipped", "answered"
KEPT = {SKIPPED: 200, ANSWERED: 50}
SIGNED_OUT = "Your answer was not kept, because you had been signed out. Give it again."
NO_ACT = "Nothing was changed: the page did not say what to do. Press one of the buttons again."
JUDGE = "judge"


@needs(Right.EVALUATE)
@require_safe
def settle(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The next question of a view; `question` asks for one, `look` shows what the judge said first."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    asked = {key: request.GET.get(key, "") for key in ("view", "attribute", "question", "look")}
    return _show(request, corpus, **asked)


def _show(
    request: PersonRequest,
    corpus: Corpus,
    *,
    view: str = "",
    attribute: str = "",
    question: str = "",
    look: str = "",
) -> HttpResponse:
    chosen = View(view) if view in list(View) else View.OPEN
    attribute = attribute if attribute in CATALOGUE else ""
    there = questions.in_view(corpus, request.user, chosen, attribute)
    session = _session(request, corpus)
    wanted = Question.objects.filter(corpus=corpus, public_id=question).first() if question else None
    found = wanted or questions.following(there, session[SKIPPED])
    context: dict[str, Any] = {
        "section": "models",
        "tab": "settle",
        "corpus": corpus,
        "view": chosen.value,
        "views": [(one.value, word) for one, word in VIEW_WORDS.items()],
        "attribute": attribute,
        "attributes": questions.attributes(corpus),
        "progress": questions.progress(corpus, attribute),
        "shown": questions.shown(found, with_judge=look == JUDGE) if found else None,
        "resolves": bool(found and found.state == Question.DISPUTED),
        "last": _last(request, session),
        "may_judge": may(request, corpus, Right.START_RUNS),
        "query": urlencode({"view": chosen.value, "attribute": attribute}),
    }
    return render(request, "evaluation/settle.html" + ("#work" if request.htmx else ""), context)


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: PersonRequest, question_id: str) -> HttpResponse:
    """Takes one press, then shows the next question, or the page that was pressed on."""
    question = _question(request, question_id)
    if request.method != "POST":  # who had to sign in comes back here without what they had sent
        messages.warning(request, SIGNED_OUT)
        return redirect("question", question_id=question.public_id)
    form = ActForm(request.POST)
    if not form.is_valid():
        messages.error(request, NO_ACT)
        return _onward(request, question, {"back": acts.QUEUE, "view": "", "attribute": ""})
    said = form.cleaned_data
    _act(request, question, said)
    stays = said["do"] in (acts.SECOND, acts.ONE, acts.UNDO)
    return _onward(request, question, said, stays=stays)


def _question(request: PersonRequest, public_id: str) -> Question:
    visible = Question.objects.visible_to(request.user).select_related("corpus")
    return get_object_or_404(visible, public_id=public_id)


def _act(request: PersonRequest, question: Question, said: dict[str, Any]) -> None:
    act = said["do"]
    key = str(question.public_id)
    if act == acts.SKIP:
        _remember(request, question.corpus, SKIPPED, key)
    elif act in (acts.SECOND, acts.ONE):
        answering.want(question, 2 if act == acts.SECOND else 1, by=request.user)
    elif act == acts.UNDO:
        answering.say(question, by=request.user, score=None, withdrawn=True)
        _forget(request, question.corpus, key)
    else:
        seen = {JUDGE: SAW_JUDGE, "others": SAW_OTHERS}.get(said["saw"], "")
        answering.say(
            question,
            by=request.user,
            score=acts.SCORES[act],
            resolves=question.state == Question.DISPUTED and said["saw"] == "others",
            note="; ".join(filter(None, (seen, said["note"].strip()))),
        )
        if said["back"] != acts.PAGE:
            _remember(request, question.corpus, ANSWERED, key)


def _onward(
    request: PersonRequest, question: Question, said: dict[str, Any], *, stays: bool = False
) -> HttpResponse:
    if said["back"] == acts.PAGE:
        return redirect("question", question_id=question.public_id)
    asked = {
        "view": said["view"],
        "attribute": said["attribute"],
        "question": str(question.public_id) if stays else "",
    }
    if request.htmx:
        return _show(request, question.corpus, **asked)
    where = reverse("settle", args=[question.corpus.public_id])
    return redirect(f"{where}?{urlencode({key: one for key, one in asked.items() if one})}")


def _session(request: PersonRequest, corpus: Corpus) -> dict[str, list[str]]:
    """What this person skipped and answered lately in a corpus, the latest last."""
    kept = request.session.get(f"settling:{corpus.public_id}", {})
    return {name: list(kept.get(name, [])) for name in KEPT}


def _remember(request: PersonRequest, corpus: Corpus, name: str, key: str) -> None:
    kept = _session(request, corpus)
    others = [one for one in kept[name] if one != key]
    kept[name] = [*others[1 - KEPT[name] :], key]
    request.session[f"settling:{corpus.public_id}"] = kept


def _forget(request: PersonRequest, corpus: Corpus, key: str) -> None:
    kept = _session(request, corpus)
    kept[ANSWERED] = [one for one in kept[ANSWERED] if one != key]
    request.session[f"settling:{corpus.public_id}"] = kept


def _last(request: PersonRequest, session: dict[str, list[str]]) -> dict[str, Any] | None:
    """The last answer of this person, which can be taken back, and what the judge said of it."""
    if not session[ANSWERED]:
        return None
    question = Question.objects.filter(public_id=session[ANSWERED][-1]).first()
    mine = questions.own(question, request.user) if question else None
    if question is None or mine is None:
        return None
    return {"question": question, "said": SCORE_WORDS[mine.score], "judge": questions.judge_said(question)}


@needs(Right.EVALUATE)
@require_safe
def settled(request: PersonRequest, corpus_id: str) -> HttpResponseBase:
    """The log of opinions with how far people and judges agree; `format=csv` gives all of it as a file."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    asked = _asked(request)
    if request.GET.get("format") == "csv":
        return as_stream(verdict_tables.opinions(corpus, request.user, asked), "questions-settled")
    after = request.GET.get("after", "")
    context = {
        "section": "models",
        "tab": "settle",
        "corpus": corpus,
        "log": questions.log(
            corpus, request.user, asked, int(after) if after.isdecimal() and len(after) < 19 else 0
        ),
        "asked": asked,
        "query": urlencode(asked),
        "begun": bool(after),
        "people": questions.people(corpus),
        "attributes": questions.attributes(corpus),
        "sources": Opinion.SOURCES,
        "progress": questions.progress(corpus),
        "agreement": people_agreement(corpus),
        "health": matching.judge_health(corpus),
    }
    return render(request, "evaluation/settled.html", context)


def _asked(request: PersonRequest) -> dict[str, str]:
    asked = {key: request.GET.get(key, "").strip()[:60] for key in ("person", "attribute", "source")}
    if asked["source"] not in dict(Opinion.SOURCES):
        asked["source"] = ""
    if asked["attribute"] not in CATALOGUE:
        asked["attribute"] = ""
    return {key: value for key, value in asked.items() if value}


@needs(Right.EVALUATE)
@require_safe
def question(request: PersonRequest, question_id: str) -> HttpResponse:
    """Everything that was said of one question, and what depends on it."""
    found = _question(request, question_id)
    said = questions.lines(
        list(found.opinions.select_related("question", "person", "run").order_by("-pk")), request.user
    )
    context = {
        "section": "models",
        "tab": "settle",
        "corpus": found.corpus,
        "shown": questions.shown(found),
        "said": said,
        "hidden": any(one.is_hidden for one in said),
        "own": questions.own(found, request.user),
        "wants_more": questions.wants_more(found),
        "depending": questions.depending(found),
        "listed": questions.LISTED,
    }
    return render(request, "evaluation/question.html", context)


def as_stream(lines: verdict_tables.Lines, name: str) -> StreamingHttpResponse:
    """A file that goes out as it is made."""
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
