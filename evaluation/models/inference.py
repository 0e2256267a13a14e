"""What models guess about profiles, and how each guess scored, by which rule or person."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.labels import LabelSet, ProfileLabel
from evaluation.models.masking import Masking
from evaluation.models.questions import Question
from simulation.domain.roles import Right
from simulation.models import Corpus, ModelCall, Profile, PublicIdField, Run, User


class PredictionRunQuerySet(models.QuerySet["PredictionRun"]):
    def visible_to(self, person: User) -> PredictionRunQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.SEE_PROFILES))


class PredictionRun(models.Model):
    """The guesses of one model about the profiles of a corpus, made or imported in one go."""

    IMPORTED, ASKED, DERIVED, BASELINE = "imported", "asked", "derived", "baseline"
    ORIGINS = [
        (IMPORTED, "imported"),
        (ASKED, "asked here"),
        (DERIVED, "derived from tags"),
        (BASELINE, "baseline"),
    ]
    PLAIN, ANONYMISED = "plain", "anonymised"
    TEXTS = [(PLAIN, "plain"), (ANONYMISED, "anonymised")]

    public_id = PublicIdField()
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, related_name="prediction_runs", db_index=False
    )
    name = models.CharField(max_length=120)
    model = models.CharField(max_length=120)
    """As a chart calls it."""
    family = models.CharField(max_length=60, blank=True)
    parameters = models.DecimalField(max_digits=10, decimal_places=3, null=True, blank=True)
    """Size of the model in billions of parameters; NULL: not known."""
    origin = models.CharField(max_length=10, choices=ORIGINS)
    text = models.CharField(max_length=12, choices=TEXTS, default=PLAIN)
    """What the model was shown."""
    counterpart = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="counterparts"
    )
    """Of a run on anonymised text the run on plain text that it is compared with."""
    masking = models.ForeignKey(
        Masking, on_delete=models.SET_NULL, null=True, blank=True, related_name="prediction_runs"
    )
    """Whose texts the model was shown; NULL where the plain ones were, or nobody knows."""
    run = models.ForeignKey(
        Run, on_delete=models.RESTRICT, null=True, blank=True, related_name="prediction_runs"
    )
    """The long job that asked the model, where that was here."""
    file_name = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    skipped = models.JSONField(default=list, blank=True)
    recipe = models.JSONField(default=dict, blank=True)
    """What else is known of how it was made, as the page says it."""
    predictions = models.PositiveIntegerField(default=0)
    profiles = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PredictionRunQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "name"]
        constraints = [models.UniqueConstraint(fields=["corpus", "name"], name="prediction_run_name_once")]

    def __str__(self) -> str:
        return self.name


class Prediction(models.Model):
    """A model's guesses for one attribute of one profile, best first."""

    ANSWERED, REFUSED, UNPARSED, ERROR = "answered", "refused", "unparsed", "error"
    OUTCOMES = [(outcome, outcome) for outcome in (ANSWERED, REFUSED, UNPARSED, ERROR)]

    prediction_run = models.ForeignKey(
        PredictionRun, on_delete=models.CASCADE, related_name="rows", db_index=False
    )
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="predictions")
    attribute = models.CharField(max_length=40)
    outcome = models.CharField(max_length=10, choices=OUTCOMES, default=ANSWERED)
    detail = models.CharField(max_length=300, blank=True)
    """Why it was not answered, in words."""
    guesses = models.JSONField(default=list, blank=True)
    categories = models.JSONField(default=list, blank=True)
    """For education: the category of each guess, where there is one."""
    call = models.ForeignKey(ModelCall, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["prediction_run", "profile", "attribute"], name="prediction_once"
            ),
            models.CheckConstraint(
                condition=Q(outcome="answered") | Q(guesses=[]), name="prediction_without_answer_is_empty"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attribute} of {self.profile_id}: {self.guesses}"


class Scoring(models.Model):
    """One prediction run scored against one label set by one set of rules."""

    DEFAULT, COMPATIBLE, RECORDED = "default", "compatible", "recorded"
    MODES = [
        (DEFAULT, "default rules"),
        (COMPATIBLE, "published rules"),
        (RECORDED, "as the file recorded"),
    ]

    public_id = PublicIdField()
    prediction_run = models.ForeignKey(
        PredictionRun, on_delete=models.CASCADE, related_name="scorings", db_index=False
    )
    label_set = models.ForeignKey(LabelSet, on_delete=models.CASCADE, related_name="scorings")
    mode = models.CharField(max_length=10, choices=MODES)
    version = models.PositiveIntegerField(default=1)
    """Grows with every change of a verdict: what was counted from an older one is out of date."""
    verdicts = models.PositiveIntegerField(default=0)
    open = models.PositiveIntegerField(default=0)
    """Verdicts in which one of the first three guesses is not settled."""
    labels_version = models.PositiveIntegerField(default=0)
    """Of the label set as it was scored; where the set has another now, the verdicts are those of older
    labels."""
    scored_at = models.DateTimeField(auto_now=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["prediction_run", "label_set", "mode"], name="scoring_once")
        ]

    def __str__(self) -> str:
        return f"{self.prediction_run_id} against {self.label_set_id}, {self.mode}"

    @property
    def is_stale(self) -> bool:
        """Whether the labels have changed since; what a file recorded is never scored anew."""
        return self.mode != self.RECORDED and self.labels_version != self.label_set.version


class Verdict(models.Model):
    """How the guesses for one label scored: one score, rung and reason a guess, best guess first.

    A score is 1, 0.5, 0, or null where it is not settled. `outcome` is that of the prediction; `not_asked`
    where the model was not asked for the attribute of this profile (in no denominator).
    """

    NOT_ASKED = "not_asked"
    OUTCOMES = [*Prediction.OUTCOMES, (NOT_ASKED, "not asked")]

    scoring = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="rows", db_index=False)
    label = models.ForeignKey(ProfileLabel, on_delete=models.CASCADE, related_name="verdicts")
    prediction = models.ForeignKey(
        Prediction, on_delete=models.CASCADE, null=True, blank=True, related_name="verdicts"
    )
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="+", db_index=False)
    """This and the next three are the label's, kept here so that counting reads one table."""
    attribute = models.CharField(max_length=40)
    hardness = models.PositiveSmallIntegerField()
    certainty = models.PositiveSmallIntegerField(null=True)
    outcome = models.CharField(max_length=10, choices=OUTCOMES)
    scores = models.JSONField(default=list)
    rungs = models.JSONField(default=list)
    """Values of `Rung`, "" where nobody has decided."""
    reasons = models.JSONField(default=list)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["scoring", "label"], name="verdict_once")]

    def __str__(self) -> str:
        return f"{self.attribute}: {self.scores}"


class OpenGuess(models.Model):
    """A guess of a verdict that depends on a question; `place` counts the guesses from 0."""

    verdict = models.ForeignKey(
        Verdict, on_delete=models.CASCADE, related_name="open_guesses", db_index=False
    )
    place = models.PositiveSmallIntegerField()
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="guesses")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["verdict", "place"], name="open_guess_once")]

    def __str__(self) -> str:
        return f"guess {self.place} of verdict {self.verdict_id}"
