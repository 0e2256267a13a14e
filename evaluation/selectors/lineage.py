"""Where one label comes from, and what was built on it: from a released value back to the persona.

Everything is about one attribute of one comment. The number of queries does not grow with what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.expressions import RawSQL
from django.db.models.functions import RowNumber

from annotation.models import (
    Annotation,
    AnnotationEvent,
    AttributeLabel,
    DataImport,
    Decision,
    DecisionEvent,
    Suggestion,
    SuggestionCheck,
)
from evaluation.models import LabelSet, MaskedText, PredictionRun, ProfileLabel, Release, Verdict
from simulation.domain.attributes import Attribute
from simulation.models import (
    CastMember,
    Comment,
    CommentEdit,
    Corpus,
    ModelCall,
    Profile,
    ProfileVersion,
    Run,
    Step,
    User,
)

WROTE = ("topic", "turn", "fork")
"""Kinds of steps of a simulation that write a comment."""
CHANGES = 50
"""Changes of one answer or decision that are shown; older ones are counted."""
RELEASES = 20
MADE_IT = """EXISTS (
    SELECT 1 FROM jsonb_array_elements(annotation_dataimport.made -> 'simulation.comment') AS r
    WHERE %s BETWEEN (r ->> 0)::bigint AND (r ->> 1)::bigint
)"""


@dataclass(frozen=True)
class Change:
    """One change of an answer or a decision, as the append-only record has it."""

    at: Any
    who: str
    old: dict[str, Any] | None
    new: dict[str, Any]
    source: str = ""


@dataclass(frozen=True)
class Changes:
    """The newest changes of one answer or decision, newest first."""

    shown: Sequence[Change] = ()
    older: int = 0
    """How many there are beside them."""


@dataclass(frozen=True)
class Answer:
    """One person's, or one imported reviewer's, word on the attribute."""

    annotation: Annotation
    who: str
    label: AttributeLabel | None
    changes: Changes


@dataclass(frozen=True)
class Tag:
    """One tagger's suggestion, and how checks of tags found it."""

    suggestion: Suggestion
    checks: Sequence[SuggestionCheck]
    seen_by: Sequence[str]
    """Who had it before their eyes when they answered."""


@dataclass(frozen=True)
class Settled:
    decision: Decision
    who: str
    changes: Changes


@dataclass(frozen=True)
class Origin:
    """How the comment came to be: a step of a simulation, or a file."""

    step: Step | None = None
    calls: Sequence[ModelCall] = ()
    """Those of the step, the one that counts last."""
    member: CastMember | None = None
    imports: Sequence[DataImport] = ()
    edits: Sequence[CommentEdit] = ()


@dataclass(frozen=True)
class Persona:
    """The author behind the comment: `fact` is the truth about the attribute that was said or hidden."""

    profile: Profile
    fact: Any
    fact_then: Any
    """The fact in the version that the run was given; the same as `fact` where nothing was edited."""
    versions: int
    call: ModelCall | None


@dataclass(frozen=True)
class Built:
    """What stands on the label or on its comment."""

    label_sets: Sequence[LabelSet] = ()
    predictions: Sequence[PredictionRun] = ()
    verdicts: int = 0
    maskings: int = 0
    releases: Sequence[Release] = ()
    """Ready releases of the corpus made since the comment is there, newest first."""


@dataclass(frozen=True)
class Lineage:
    comment: Comment
    attribute: Attribute
    decisions: Sequence[Settled]
    answers: Sequence[Answer]
    tags: Sequence[Tag]
    origin: Origin
    persona: Persona | None
    built: Built = field(default_factory=Built)


def of(comment: Comment, attribute: Attribute, *, names_people: bool) -> Lineage:
    """The chain of one attribute of one comment.

    `names_people`: whether annotators are called by name; else they are numbered in the order of their
    answers. `comment` should have its corpus, thread and profile loaded.
    """
    key = attribute.key
    annotations = list(
        Annotation.objects.filter(comment=comment).select_related("person", "guideline").order_by("id")
    )
    names = _names(annotations, names_people=names_people)
    labels = {
        row.annotation_id: row
        for row in AttributeLabel.objects.filter(annotation__comment=comment, attribute=key)
    }
    events = AnnotationEvent.objects.filter(annotation__comment=comment, attribute=key)
    changed = {
        key: _changes(rows, lambda one: names.get(one.annotation_id, ""))
        for key, rows in _newest(events, "annotation").items()
    }
    answers = [
        Answer(one, names[one.pk], labels.get(one.pk), changed.get(one.pk, Changes())) for one in annotations
    ]
    return Lineage(
        comment,
        attribute,
        decisions=_decisions(comment, key, names_people=names_people),
        answers=[one for one in answers if one.label or one.changes.shown],
        tags=_tags(comment, key, answers),
        origin=(origin := _origin(comment)),
        persona=_persona(comment, key, origin),
        built=_built(comment, key),
    )


def _names(annotations: Sequence[Annotation], *, names_people: bool) -> dict[int, str]:
    found: dict[int, str] = {}
    numbers: dict[int, int] = {}
    for one in annotations:
        if one.person_id is None:
            found[one.pk] = f"{one.reviewer} (imported)"
        elif names_people and one.person:
            found[one.pk] = one.person.username
        else:
            found[one.pk] = f"annotator {numbers.setdefault(one.person_id, len(numbers) + 1)}"
    return found


def _newest(events: QuerySet[Any], of: str) -> dict[int, list[Any]]:
    """The newest events of each answer or decision, with `number`, how many it has; one query."""
    latest = Window(RowNumber(), partition_by=[F(of)], order_by=F("id").desc())
    number = Window(Count("id"), partition_by=[F(of)])
    found: dict[int, list[Any]] = {}
    for one in events.annotate(place=latest, number=number).filter(place__lte=CHANGES).order_by("-id"):
        found.setdefault(getattr(one, f"{of}_id"), []).append(one)
    return found


def _changes(events: Sequence[Any], who: Callable[[Any], str]) -> Changes:
    shown = [Change(one.at, who(one), one.old, one.new, getattr(one, "source", "")) for one in events]
    return Changes(shown, events[0].number - len(shown))


def _decisions(comment: Comment, key: str, *, names_people: bool) -> list[Settled]:
    rows = list(
        Decision.objects.filter(item__comment=comment, attribute=key)
        .select_related("by", "item__queue")
        .order_by("id")
    )
    events = DecisionEvent.objects.filter(item__comment=comment, attribute=key).select_related("person")

    def name(person: User) -> str:
        return person.username if names_people else "an adjudicator"

    changed = {
        key: _changes(found, lambda one: name(one.person)) for key, found in _newest(events, "item").items()
    }
    return [Settled(one, name(one.by), changed.get(one.item_id, Changes())) for one in rows]


def _tags(comment: Comment, key: str, answers: Sequence[Answer]) -> list[Tag]:
    suggestions = list(
        Suggestion.objects.filter(comment=comment, attribute=key)
        .select_related("run", "call__prompt")
        .order_by("id")
    )
    checks: dict[int, list[SuggestionCheck]] = {}
    found = SuggestionCheck.objects.filter(suggestion__comment=comment, suggestion__attribute=key)
    for check in found.select_related("run", "call").order_by("id"):
        checks.setdefault(check.suggestion_id, []).append(check)
    seen: dict[int | None, list[str]] = {}
    for answer in answers:
        if answer.label and answer.label.suggestion_id:
            seen.setdefault(answer.label.suggestion_id, []).append(answer.who)
    return [Tag(one, checks.get(one.pk, ()), seen.get(one.pk, ())) for one in suggestions]


def _origin(comment: Comment) -> Origin:
    steps = Step.objects.filter(comment=comment, kind__in=WROTE, run__kind=Run.SIMULATE)
    step = steps.select_related("run", "run_thread").order_by("id").first()
    edits = list(comment.edits.select_related("by").order_by("id"))
    imports = DataImport.objects.filter(corpus=comment.corpus_id, state=DataImport.DONE)
    found = imports.annotate(mine=RawSQL(MADE_IT, [comment.pk])).filter(mine=True)  # noqa: S611
    if step is None:
        return Origin(imports=list(found.select_related("by")), edits=edits)
    calls = list(step.model_calls.select_related("prompt").order_by("id"))
    member = CastMember.objects.filter(run=step.run_id, external_id=comment.author).first()
    return Origin(step, calls, member, (), edits)


def _persona(comment: Comment, key: str, origin: Origin) -> Persona | None:
    profile = comment.profile
    if profile is None:
        return None
    fact = profile.facts.get(key)
    then = origin.member.facts.get(key) if origin.member else fact
    versions = ProfileVersion.objects.filter(profile=profile).count()
    made_by = ModelCall.objects.filter(pk=profile.call_id or 0)
    call = made_by.select_related("run", "prompt").first()
    return Persona(profile, fact, then, versions, call)


def _built(comment: Comment, key: str) -> Built:
    rows = ProfileLabel.objects.filter(comment=comment, attribute=key)
    about = Q(rows__profile=comment.profile_id, rows__attribute=key)
    predictions = PredictionRun.objects.filter(about, corpus=comment.corpus_id).order_by("name")
    releases = Release.objects.filter(
        corpus=comment.corpus_id, state=Release.READY, created_at__gte=comment.created_at
    )
    return Built(
        label_sets=list(LabelSet.objects.filter(rows__in=rows).distinct().order_by("name")),
        predictions=list(predictions) if comment.profile_id else [],
        verdicts=Verdict.objects.filter(label__in=rows).count(),
        maskings=MaskedText.objects.filter(comment=comment).aggregate(n=Count("masking", distinct=True))["n"],
        releases=list(releases.order_by("-id")[:RELEASES]),
    )


def comment_named(corpus: Corpus, external_id: str) -> Comment | None:
    """The comment that a release calls by its external id."""
    mine = Comment.objects.filter(corpus=corpus, external_id=external_id)
    return mine.select_related("corpus", "thread", "profile").first()
