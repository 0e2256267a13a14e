"""Runs: a frozen plan, the steps that carry it out, and what happened meanwhile.

Progress is counted from step rows. A step is the unit of work and of repetition: whoever holds its lease
may write its result, once.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.domain.run_states import RunState, StepState
from simulation.models.accounts import User
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField
from simulation.models.profiles import Profile
from simulation.models.providers import Provider
from simulation.models.threads import Comment, Thread


def states(enum: type[RunState] | type[StepState]) -> list[tuple[str, str]]:
    return [(state.value, state.value) for state in enum]


class PromptVersion(models.Model):
    """One version of a prompt file, for ever: what a run was started with is what it goes on with."""

    name = models.CharField(max_length=100)
    language = models.CharField(max_length=10)
    digest = models.CharField(max_length=64, unique=True)
    source = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.name} {self.digest[:8]}"


class RunQuerySet(models.QuerySet["Run"]):
    def with_right(self, person: User, right: Right) -> RunQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, right))

    def visible_to(self, person: User) -> RunQuerySet:
        return self.with_right(person, Right.SEE_RUNS)


class Run(models.Model):
    SIMULATE, TAG, PROFILES, JUDGE = "simulate", "tag", "profiles", "judge"
    MATCH, INFER, MASK, TOPICS = "match", "infer", "mask", "topics"
    KINDS = [
        (SIMULATE, "simulation"),
        (TAG, "tagging"),
        (PROFILES, "profile generation"),
        (JUDGE, "check of tags"),
        (MATCH, "settling by a judge"),
        (INFER, "inference"),
        (MASK, "rewriting"),
        (TOPICS, "naming of communities"),
    ]
    FRESH, REPLAY, RERUN, FORK = "fresh", "replay", "rerun", "fork"
    ORIGINS = [
        (FRESH, "planned anew"),
        (REPLAY, "replay from the ledger"),
        (RERUN, "another sample"),
        (FORK, "fork of a thread"),
    ]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=10, choices=KINDS)
    name = models.CharField(max_length=80)
    plan = models.JSONField()
    """What was decided at the start: profiles, targets, models, parameters, prompt digests. Never changed."""
    seed = models.BigIntegerField()
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="runs")
    follows = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="followers"
    )
    """The simulation whose comments this tagging run was started for."""
    state = models.CharField(max_length=10, choices=states(RunState), default=RunState.QUEUED.value)
    reason = models.TextField(blank=True)
    """Why it is halted, failed or cancelled, and what to do."""
    parallel = models.PositiveSmallIntegerField(default=32)
    """Steps in work at once, at most."""
    max_calls = models.PositiveBigIntegerField()
    max_tokens = models.PositiveBigIntegerField()
    calls = models.PositiveBigIntegerField(default=0)
    """Attempts sent, whatever became of them. This and the next two are kept in step with the ledger."""
    tokens = models.PositiveBigIntegerField(default=0)
    """Tokens spent; of a call that was lost in flight, what had been set aside for it."""
    tokens_held = models.PositiveBigIntegerField(default=0)
    """Tokens set aside for calls in flight."""
    soft_cost = models.BigIntegerField(null=True, blank=True)
    """Nano-dollars from which the page warns."""
    max_cost = models.BigIntegerField(null=True, blank=True)
    """Nano-dollars that spent and set aside never pass; NULL: calls and tokens alone limit the run."""
    cost = models.BigIntegerField(default=0)
    """Nano-dollars spent: by the provider's counts, or what had been set aside where nobody knows."""
    cost_held = models.BigIntegerField(default=0)
    warned_at = models.DateTimeField(null=True, blank=True)
    """When the soft cap was passed."""
    sample = models.PositiveIntegerField(default=0)
    """0 for the first run of a plan; a re-run with other answers has the next number."""
    origin = models.CharField(max_length=10, choices=ORIGINS, default=FRESH)
    source = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="descendants"
    )
    """The run that this one replays, repeats or forks from."""
    group = models.CharField(max_length=32, blank=True, db_index=True)
    """Runs that were started side by side, to be compared, share it."""
    stepping = models.BooleanField(default=False)
    """Whether it pauses again after the next turn."""
    tick = models.BigIntegerField(default=0)
    """Grows with whatever changes what the page of the run shows."""
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    resumed_at = models.DateTimeField(null=True, blank=True)
    """When it last began to run: at the start or after a pause."""
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in RunState]), name="run_state_known"
            ),
            models.CheckConstraint(condition=Q(parallel__range=(1, 512)), name="run_parallel_1_512"),
            models.UniqueConstraint(
                fields=["follows"], name="run_followed_once", condition=Q(follows__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CastMember(models.Model):
    """A profile as a run has it, for ever: a later edit or import does not change what a run asks."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="cast", db_index=False)
    profile = models.ForeignKey(Profile, on_delete=models.SET_NULL, null=True, related_name="+")
    external_id = models.CharField(max_length=100)
    username = models.CharField(max_length=100)
    facts = models.JSONField()
    style = models.TextField(blank=True)
    version = models.PositiveIntegerField()

    class Meta:
        ordering = ["run_id", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "external_id"], name="cast_once")]

    def __str__(self) -> str:
        return f"{self.username} in run {self.run_id}"


class RunPreset(models.Model):
    """A filled-in run form under a name, to begin from."""

    public_id = PublicIdField()
    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=10, choices=Run.KINDS, default=Run.SIMULATE)
    values = models.JSONField(default=dict)
    """Field of the form -> value."""
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RunThread(models.Model):
    """One thread that a simulation run is to write. Its row is locked while its next step is decided."""

    WAITING, RUNNING, DONE, PARTIAL, FAILED = "waiting", "running", "done", "partial", "failed"
    STATES = [(state, state) for state in (WAITING, RUNNING, DONE, PARTIAL, FAILED)]

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="run_threads", db_index=False)
    index = models.PositiveIntegerField()
    target = models.CharField(max_length=40)
    author = models.ForeignKey(Profile, on_delete=models.RESTRICT, related_name="+")
    asked = models.JSONField()
    """External ids of the profiles that are asked for interest, in the thread's order."""
    external_id = models.CharField(max_length=100)
    first_sequence = models.PositiveBigIntegerField()
    last_sequence = models.PositiveBigIntegerField()
    """The places in the corpus' order that its comments may take."""
    thread = models.OneToOneField(
        Thread, on_delete=models.CASCADE, null=True, blank=True, related_name="run_thread"
    )
    state = models.CharField(max_length=10, choices=STATES, default=WAITING)
    reason = models.CharField(max_length=300, blank=True)
    typed = models.JSONField(default=dict, blank=True)
    """{question, description} where a person wrote the post; empty where its author's model does."""
    forked_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="forks"
    )
    forked_at = models.PositiveIntegerField(null=True, blank=True)
    """The turn up to which it is a copy; 0: of the post alone."""

    class Meta:
        ordering = ["run_id", "index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="run_thread_once")]

    def __str__(self) -> str:
        return self.external_id


class Step(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps", db_index=False)
    run_thread = models.ForeignKey(
        RunThread, on_delete=models.CASCADE, null=True, blank=True, related_name="steps"
    )
    key = models.CharField(max_length=80)
    """What it does, unique in the run: t2/interest/pers7. A step planned twice is one step."""
    kind = models.CharField(max_length=20)
    number = models.PositiveBigIntegerField()
    """Place in the thread (turns) or in the run (tagging)."""
    asks = models.JSONField(default=dict)
    """What the planner decided: who, whom to answer, how long."""
    state = models.CharField(max_length=10, choices=states(StepState), default=StepState.READY.value)
    due_at = models.DateTimeField()
    lease = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveIntegerField(default=0)
    faults = models.PositiveSmallIntegerField(default=0)
    """How often our own code broke on it."""
    tries = models.PositiveSmallIntegerField(default=0)
    """How often a person asked for it to be tried again after it had ended without a result."""
    result = models.JSONField(default=dict)
    reason = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)
    comment = models.ForeignKey(
        Comment, on_delete=models.SET_NULL, null=True, blank=True, related_name="steps"
    )
    """The comment it wrote, or is about."""
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="step_once"),
            models.CheckConstraint(
                name="step_lease_has_its_fields",
                condition=Q(state="leased", lease__isnull=False, leased_until__isnull=False)
                | (~Q(state="leased") & Q(lease__isnull=True, leased_until__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(fields=["run", "due_at", "id"], name="step_ready", condition=Q(state="ready")),
            models.Index(fields=["run", "leased_until"], name="step_leased", condition=Q(state="leased")),
            models.Index(fields=["run", "kind", "state"], name="step_counts"),
        ]

    def __str__(self) -> str:
        return self.key


class Happening(models.Model):
    """One line of a run's story, in the order of its key. Append-only."""

    LEVELS = [(level, level) for level in ("info", "ok", "warn", "danger")]

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="happenings", db_index=False)
    at = models.DateTimeField(auto_now_add=True)
    level = models.CharField(max_length=10, choices=LEVELS, default="info")
    text = models.CharField(max_length=400)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run", "id"], name="happening_in_order")]

    def __str__(self) -> str:
        return self.text
