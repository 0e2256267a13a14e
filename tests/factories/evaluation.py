"""The smallest valid label sets, prediction runs and verdicts."""

import factory
from factory.django import DjangoModelFactory

from evaluation.domain.questions import key_of
from evaluation.models import (
    LabelSet,
    Prediction,
    PredictionRun,
    ProfileLabel,
    Question,
    Scoring,
    Verdict,
)
from tests.factories.simulation import CorpusFactory, ProfileFactory


class LabelSetFactory(DjangoModelFactory):
    """An imported set without labels."""

    class Meta:
        model = LabelSet

    corpus = factory.SubFactory(CorpusFactory)
    name = factory.Sequence(lambda number: f"labels {number}")
    kind = LabelSet.IMPORTED


class ProfileLabelFactory(DjangoModelFactory):
    """Somebody is labelled 30, easily and certainly."""

    class Meta:
        model = ProfileLabel

    label_set = factory.SubFactory(LabelSetFactory)
    profile = factory.SubFactory(ProfileFactory, corpus=factory.SelfAttribute("..label_set.corpus"))
    attribute = "age"
    value = "30"
    hardness = 2
    certainty = 4


class PredictionRunFactory(DjangoModelFactory):
    """An imported run without predictions."""

    class Meta:
        model = PredictionRun

    corpus = factory.SubFactory(CorpusFactory)
    name = factory.Sequence(lambda number: f"guesses {number}")
    model = factory.Sequence(lambda number: f"model-{number}")
    origin = PredictionRun.IMPORTED


class PredictionFactory(DjangoModelFactory):
    """Three guesses at an age."""

    class Meta:
        model = Prediction

    prediction_run = factory.SubFactory(PredictionRunFactory)
    profile = factory.SubFactory(ProfileFactory, corpus=factory.SelfAttribute("..prediction_run.corpus"))
    attribute = "age"
    guesses = factory.LazyFunction(lambda: ["30", "35", "25"])


class ScoringFactory(DjangoModelFactory):
    """A scoring of a corpus, by the default rules, without verdicts."""

    class Meta:
        model = Scoring

    prediction_run = factory.SubFactory(PredictionRunFactory)
    label_set = factory.SubFactory(LabelSetFactory, corpus=factory.SelfAttribute("..prediction_run.corpus"))
    mode = Scoring.DEFAULT
    labels_version = factory.SelfAttribute("label_set.version")


class VerdictFactory(DjangoModelFactory):
    """The first guess is right; the label is made with it."""

    class Meta:
        model = Verdict

    scoring = factory.SubFactory(ScoringFactory)
    label = factory.SubFactory(ProfileLabelFactory, label_set=factory.SelfAttribute("..scoring.label_set"))
    profile = factory.SelfAttribute("label.profile")
    attribute = factory.SelfAttribute("label.attribute")
    hardness = factory.SelfAttribute("label.hardness")
    certainty = factory.SelfAttribute("label.certainty")
    outcome = Prediction.ANSWERED
    scores = factory.LazyFunction(lambda: [1.0, 0.0, 0.0])
    rungs = factory.LazyFunction(lambda: ["exact", "rule", "rule"])
    reasons = factory.LazyFunction(lambda: ["the same words", "15 years apart", "12 years apart"])


class QuestionFactory(DjangoModelFactory):
    """Whether a bus driver is a driver of buses."""

    class Meta:
        model = Question

    corpus = factory.SubFactory(CorpusFactory)
    attribute = "occupation"
    truth = "bus driver"
    guess = factory.Sequence(lambda number: f"driver of bus {number}")
    key = factory.LazyAttribute(lambda one: key_of(one.attribute, one.truth, one.guess))
    reason = "words that no rule can compare"
    waiting = 1
