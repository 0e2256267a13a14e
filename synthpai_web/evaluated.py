"""The demo's evaluation: labels inherited from tags, adversaries on plain and on masked text, a baseline.

The models are those of the demo: rules, unless a real provider is paid for. What the leaderboard shows is
therefore how well rules hear what rules have written; the pages are what is to be seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from evaluation.models import LabelSet, Masking, PredictionRun, Scoring
from evaluation.selectors import boards
from evaluation.selectors import inferring as needs_of
from evaluation.services import (
    baselines,
    following,
    inferring,
    label_sets,
    masking,
    masking_rewriting,
    naming,
    reports,
    scoring,
)
from simulation.domain.caps import proposed
from simulation.domain.plans import Forecast, RoleModel
from simulation.domain.run_states import ENDED_RUNS
from simulation.llm.scripted import SMALL
from simulation.models import Corpus, Run, User
from synthpai_web import simulated
from synthpai_web.simulated import Model

LABELS, GUESSES = "inherited from the tags", "who wrote this?"
COMMUNITIES = "where would it be posted?"
MASKED, FORMS, REWRITTEN = "by rules", "by form", "rewritten"
CALLS_A_COMMENT = 12
"""Of a rewriting run, at most."""


def evaluate(by: User, tags: Run, model: Model, say: Callable[[str], None]) -> PredictionRun | None:
    """Everything up to a leaderboard, once; None where the tags give no labels. Called again it goes on.

    With the scripted model the whole comparison: two models on the plain texts, and the better one on the
    texts of three maskers. A paid demo asks one model, on plain texts and on those masked by rules.
    """
    corpus = tags.corpus
    labels = _labels(by, corpus, tags)
    if labels is None:
        return None
    better = model.provider.default_model
    if not model.paid:
        simulated.see_through(_named(by, corpus, model), say)
    into = _asked(by, corpus, labels, model, better, None)
    asked = [into]
    if not model.paid:
        asked.append(_asked(by, corpus, labels, model, SMALL, None))
    for texts in _maskings(by, corpus, model, say):
        asked.append(_asked(by, corpus, labels, model, better, texts))
    for one in asked:
        if one.run is not None:
            simulated.see_through(one.run, say)
    following.follow_inferences()
    tagger = str(tags.plan["models"]["tagger"]["model"])
    for run in (baselines.from_tags(corpus, tagger, by=by), baselines.majority_guess(labels, by=by)):
        if not Scoring.objects.filter(prediction_run=run, label_set=labels).exists():
            scoring.score(run, labels, Scoring.DEFAULT, by=by)
    if choice := boards.choose(corpus, {"labels": labels.public_id}):
        reports.ask_for(corpus, "board", choice.parameters)
    return into


def _named(by: User, corpus: Corpus, model: Model) -> Run:
    """The run that names communities for the threads: the one that is there, or a new one."""
    if known := Run.objects.filter(corpus=corpus, kind=Run.TOPICS).first():
        return known
    asked = RoleModel(model.provider.default_model, 0.1, max_tokens=2000)
    return naming.start_naming(corpus, naming.Wish(COMMUNITIES, model.provider, asked), by=by)


def _labels(by: User, corpus: Corpus, tags: Run) -> LabelSet | None:
    if known := LabelSet.objects.filter(corpus=corpus, name=LABELS).first():
        return known
    try:
        return label_sets.inherit(corpus, name=LABELS, run=tags, by=by)
    except label_sets.BadLabels:
        return None


def _maskings(by: User, corpus: Corpus, model: Model, say: Callable[[str], None]) -> list[Masking]:
    """The comments without what gives their authors away: by rules, and, where it costs nothing, by their
    forms alone and rewritten by the model against itself."""
    if model.paid:
        return [_masked(by, corpus, MASKED, "rules")]
    found = [_masked(by, corpus, MASKED, "rules"), _masked(by, corpus, FORMS, "forms")]
    rewritten = _rewritten(by, corpus, model, say)
    return [*found, rewritten] if rewritten.state == Masking.DONE else found


def _masked(by: User, corpus: Corpus, name: str, masker: str) -> Masking:
    """Made here, not by a worker: the comments are few."""
    found = masking.mask_corpus(corpus, name=name, masker=masker, by=by)
    masking.carry_out(found.pk)
    found.refresh_from_db()
    return found


def _rewritten(by: User, corpus: Corpus, model: Model, say: Callable[[str], None]) -> Masking:
    """The masking of a rewriting run that is there, or of a new one, seen through."""
    found = Masking.objects.filter(corpus=corpus, name=REWRITTEN).first()
    if found is None:
        itself = RoleModel(model.provider.default_model, 0.1, max_tokens=2000)
        comments = corpus.comments.filter(state="active").count()
        wish = masking_rewriting.Wish(
            name=REWRITTEN,
            provider=model.provider,
            rewriter=itself,
            adversary=itself,
            max_calls=min(model.max_calls, CALLS_A_COMMENT * max(1, comments)),
        )
        found = masking_rewriting.start_rewriting(corpus, wish, by=by)
    has_ended = found.run is not None and simulated.see_through(found.run, say).state in ENDED_RUNS
    end = time.monotonic() + 30
    while has_ended and found.state not in (Masking.DONE, Masking.FAILED) and time.monotonic() < end:
        # The clock may be ending it at this very moment; then there is nothing to do here but to wait.
        if not masking_rewriting.follow_rewritings():
            time.sleep(0.1)
        found.refresh_from_db()
    return found


def _asked(
    by: User, corpus: Corpus, labels: LabelSet, model: Model, asked: str, texts: Masking | None
) -> PredictionRun:
    """The inference run that is there, or a new one. A paid demo asks as many authors as its cap allows."""
    name = f"{texts.name}: {GUESSES}" if texts else GUESSES
    if asked != model.provider.default_model:
        name = f"{asked}: {name}"
    known = PredictionRun.objects.filter(corpus=corpus, origin=PredictionRun.ASKED, name=name)
    if there := known.first():
        return there
    need = needs_of.need(corpus, inferring.wanted(corpus, labels), None)
    caps = proposed(Forecast(need.authors, need.authors + need.authors // 5, need.tokens, 0))
    return inferring.start_inference(
        corpus,
        inferring.Wish(
            name=name,
            provider=model.provider,
            model=RoleModel(asked, 0.1, max_tokens=2000),
            labels=labels,
            masking=texts,
            max_calls=min(caps.calls, model.max_calls),
            max_tokens=caps.tokens,
        ),
        by=by,
    )
