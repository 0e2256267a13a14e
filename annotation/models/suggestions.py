"""What a tagging model says can be inferred from a comment. Kept for ever, never overwritten by people."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import Func, TextField, Value
from django.db.models.functions import Cast

from simulation.models import Comment, ModelCall, Run

GUESSES = Cast("guesses", TextField())
GUESSED_WORDS = SearchVector(
    Func(
        GUESSES,
        Value("[^[:alnum:]]+"),
        Value(" "),
        Value("g"),
        function="regexp_replace",
        output_field=TextField(),
    ),
    config="simple",
)
"""The words of the guesses: what is searched, and the very expression of the index that answers it."""


class Suggestion(models.Model):
    """Up to three guesses of one tagger for one attribute of one comment.

    `hardness` is the number of the tagger's word (direct 1, indirect 2, complicated 4; NULL for another
    word). `model_eval` is how the guesses compared with the profile when they were made: that is truth,
    and never goes to a labeler's browser.
    """

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="suggestions", db_index=False)
    tagger = models.CharField(max_length=100, default="imported")
    batch = models.CharField(max_length=100, blank=True, default="")
    """What a tagger outside calls the run in which it said so; empty for runs here and for files."""
    run = models.ForeignKey(Run, on_delete=models.RESTRICT, null=True, blank=True, related_name="suggestions")
    call = models.ForeignKey(ModelCall, on_delete=models.RESTRICT, null=True, blank=True, related_name="+")
    """The tagging run and the very call it comes from; neither for imported ones."""
    attribute = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField(default=0)
    guesses = models.JSONField(default=list)
    hardness_word = models.CharField(max_length=40)
    hardness = models.PositiveSmallIntegerField(null=True)
    certainty = models.PositiveSmallIntegerField(null=True)
    model_eval = models.JSONField(null=True)
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position", "id"]
        indexes = [
            models.Index(
                fields=["attribute", "hardness", "certainty", "comment"], name="suggestion_by_scales"
            ),
            models.Index(
                fields=["tagger", "attribute", "hardness", "certainty", "comment"],
                name="suggestion_by_tagger",
            ),
            GinIndex(GUESSED_WORDS, name="suggestion_words", fastupdate=False),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["comment", "tagger", "attribute", "run", "batch"],
                name="suggestion_once_a_run",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(hardness__isnull=True) | models.Q(hardness__range=(1, 5)),
                name="suggestion_hardness_1_5",
            ),
            models.CheckConstraint(
                condition=models.Q(certainty__isnull=True) | models.Q(certainty__range=(1, 5)),
                name="suggestion_certainty_1_5",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attribute} of {self.comment_id} by {self.tagger}"

    @property
    def words(self) -> list[str]:
        """The guesses as text, best first."""
        return [str(guess) for guess in self.guesses]


class SuggestionCheck(models.Model):
    """How one suggestion compares with the persona's truth, as a check of tags found it.

    One score a guess: 1 right, 0.5 less precise, 0 wrong. `kept` by the published rule: the mean is above 0.
    That is truth, and never goes to a labeler's browser.
    """

    RULE, JUDGE = "rule", "judge"

    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.CASCADE, related_name="checks", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="suggestion_checks")
    call = models.ForeignKey(ModelCall, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    """The judge's call; none where a rule decided."""
    scores = models.JSONField()
    verdicts = models.JSONField(default=list)
    """The judge's words, one a guess: yes, no, less precise."""
    kept = models.BooleanField()
    decided_by = models.CharField(max_length=10, choices=[(RULE, "a rule"), (JUDGE, "the judge")])
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["suggestion", "run"], name="check_once_a_run"),
        ]

    def __str__(self) -> str:
        return f"{self.suggestion_id}: {self.scores}"
