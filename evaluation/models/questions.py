"""What rules could not tell: is this guess that truth? Asked once, however many verdicts wait for it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models import Corpus, ModelCall, PublicIdField, Run, User


class QuestionQuerySet(models.QuerySet["Question"]):
    def visible_to(self, person: User) -> QuestionQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.EVALUATE))


class Question(models.Model):
    """Whether `guess` means `truth` for an attribute: right (1), less precise (0.5) or wrong (0).

    `score` and `rung` are derived from the opinions: people's before a judge's before a file's; of each the
    latest. DISPUTED: people differ, and nobody has settled it since.
    """

    OPEN, SETTLED, DISPUTED = "open", "settled", "disputed"
    STATES = [(state, state) for state in (OPEN, SETTLED, DISPUTED)]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="questions", db_index=False)
    key = models.CharField(max_length=64)
    """SHA-256 of attribute, truth and guess in their canonical spelling: see `domain.questions.key_of`."""
    attribute = models.CharField(max_length=40)
    truth = models.CharField(max_length=1000)
    guess = models.CharField(max_length=1000)
    reason = models.CharField(max_length=300, blank=True)
    """Why rules left it open."""
    state = models.CharField(max_length=10, choices=STATES, default=OPEN)
    score = models.FloatField(null=True, blank=True)
    rung = models.CharField(max_length=12, blank=True)
    wants = models.PositiveSmallIntegerField(default=1)
    """How many people have to answer before it counts as settled by people; 2: a second opinion was asked."""
    asked_of_people = models.PositiveSmallIntegerField(default=0)
    """How many people have a standing opinion."""
    waiting = models.PositiveIntegerField(default=0)
    """Guesses and labels that depend on it."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "key"], name="question_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__in=[0, 0.5, 1]), name="question_score_known"
            ),
        ]
        indexes = [
            models.Index(fields=["corpus", "state", "attribute", "-waiting", "id"], name="question_to_settle")
        ]

    def __str__(self) -> str:
        return f"{self.attribute}: is {self.guess} {self.truth}?"


class Opinion(models.Model):
    """What somebody said of a question. Append-only: who thinks again says it again.

    `score` is NULL where they could not say; `withdrawn` takes the same person's former opinion back.
    """

    PERSON, JUDGE, FILE = "person", "judge", "recorded"
    SOURCES = [(PERSON, "a person"), (JUDGE, "a judge model"), (FILE, "the scores of an imported file")]

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="opinions")
    source = models.CharField(max_length=10, choices=SOURCES)
    person = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.RESTRICT, null=True, blank=True, related_name="opinions")
    call = models.ForeignKey(
        ModelCall, on_delete=models.RESTRICT, null=True, blank=True, related_name="+", db_index=False
    )
    score = models.FloatField(null=True, blank=True)
    resolves = models.BooleanField(default=False)
    """Said by somebody who saw what the others said: it settles a dispute."""
    withdrawn = models.BooleanField(default=False)
    note = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__in=[0, 0.5, 1]), name="opinion_score_known"
            ),
            models.CheckConstraint(
                condition=Q(source="person", person__isnull=False)
                | (~Q(source="person") & Q(person__isnull=True)),
                name="opinion_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} on {self.question_id}: {self.score}"
