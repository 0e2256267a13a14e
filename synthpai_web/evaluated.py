"""The demo's evaluation: labels inherited from tags, adversaries on plain and on masked text, a baseline.

The models are those of the demo: rules, unless a real provider is paid for. What the leaderboard shows is
therefore how well rules hear what rules have written; the pages are what is to be seen.
"""

from __future__ import annotations

from collections.abc import Callable

from evaluation.models import LabelSet, Masking, PredictionRun, Scoring
from evaluation.selectors import boards
from evaluation.selectors import inferring as needs_of
from evaluation.services import baselines, following, inferring, label_sets, masking, reports, scoring
from simulation.domain.caps import proposed
from simulation.domain.plans import Forecast, RoleModel
from simulation.models import Corpus, Run, User
from synthpai_web import simulated
from synthpai_web.simulated import Model

LABELS, GUESSES, MASKED = "inherited from the tags", "who wrote this?", "by rules"


def evaluate(by: User, tags: Run, model: Model, say: Callable[[str], None]) -> PredictionRun | None:
    """Everything up to a leaderboard, once; None where the tags give no labels. Called again it goes on."""
    corpus = tags.corpus
    labels = _labels(by, corpus, tags)
    if labels is None:
        return None
    into = _asked(by, corpus, labels, model, None)
    masked = _masked(by, corpus)
    for asked in (into, _asked(by, corpus, labels, model, masked)):
        if asked.run is not None:
            simulated.see_through(asked.run, say)
    following.follow_inferences()
    tagger = str(tags.plan["models"]["tagger"]["model"])
    for run in (baselines.from_tags(corpus, tagger, by=by), baselines.majority_guess(labels, by=by)):
        if not Scoring.objects.filter(prediction_run=run, label_set=labels).exists():
            scoring.score(run, labels, Scoring.DEFAULT, by=by)
    if choice := boards.choose(corpus, {"labels": labels.public_id}):
        reports.ask_for(corpus, "board", choice.parameters)
    return into


def _labels(by: User, corpus: Corpus, tags: Run) -> LabelSet | None:
    if known := LabelSet.objects.filter(corpus=corpus, name=LABELS).first():
        return known
    try:
        return label_sets.inherit(corpus, name=LABELS, run=tags, by=by)
    except label_sets.BadLabels:
        return None


def _masked(by: User, corpus: Corpus) -> Masking:
    """The comments without what gives their authors away, by rules; here, not by a worker: they are few."""
    found = masking.mask_corpus(corpus, name=MASKED, by=by)
    masking.carry_out(found.pk)
    found.refresh_from_db()
    return found


def _asked(by: User, corpus: Corpus, labels: LabelSet, model: Model, texts: Masking | None) -> PredictionRun:
    """The inference run that is there, or a new one. A paid demo asks as many authors as its cap allows."""
    text = PredictionRun.ANONYMISED if texts else PredictionRun.PLAIN
    known = PredictionRun.objects.filter(corpus=corpus, origin=PredictionRun.ASKED, text=text)
    if there := known.first():
        return there
    need = needs_of.need(corpus, inferring.wanted(corpus, labels), None)
    caps = proposed(Forecast(need.authors, need.authors + need.authors // 5, need.tokens, 0))
    return inferring.start_inference(
        corpus,
        inferring.Wish(
            name=f"{GUESSES} (masked)" if texts else GUESSES,
            provider=model.provider,
            model=RoleModel(model.provider.default_model, 0.1, max_tokens=2000),
            labels=labels,
            masking=texts,
            max_calls=min(caps.calls, model.max_calls),
            max_tokens=caps.tokens,
        ),
        by=by,
    )
