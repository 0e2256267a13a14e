"""Scored runs of a corpus, and how tests read the pages about them."""

import re

from django.urls import reverse

from evaluation.models import PredictionRun, Verdict
from evaluation.selectors import boards
from evaluation.services import reports
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
    ScoringFactory,
)
from tests.factories.simulation import ProfileFactory


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def address(corpus, name="leaderboard", *more):
    return reverse(name, args=[corpus.public_id, *more])


def results(corpus, *, models=2, profiles=8, certainty=4, step=3, name="truth"):
    """Scored runs: “model 0” is right of all, the others less and less; a baseline is right of none."""
    labels = LabelSetFactory(corpus=corpus, name=name)
    known = [
        ProfileLabelFactory(label_set=labels, profile=profile, attribute=attribute, certainty=certainty)
        for profile in ProfileFactory.create_batch(profiles, corpus=corpus)
        for attribute in ("age", "sex")
    ]
    for place in range(models + 1):
        origin = PredictionRun.BASELINE if place == models else PredictionRun.IMPORTED
        title = "majority" if place == models else f"model {place}"
        run = PredictionRunFactory(corpus=corpus, name=f"{title} {name}", model=title, origin=origin)
        scoring = ScoringFactory(prediction_run=run, label_set=labels)
        right = 0 if place == models else len(known) - step * place
        Verdict.objects.bulk_create(
            Verdict(
                scoring=scoring,
                label=label,
                profile=label.profile,
                attribute=label.attribute,
                hardness=label.hardness,
                certainty=label.certainty,
                outcome="answered",
                scores=[float(at < right), 0.0, 0.0],
                rungs=["rule"] * 3,
            )
            for at, label in enumerate(known)
        )
    return labels


def counted(corpus, labels, **changes):
    choice = boards.Choice(labels, **changes)
    return reports.make(corpus, "board", choice.parameters)
