"""Everything that the decision page of one item needs, without a name of anybody."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch
from django.utils.crypto import salted_hmac

from annotation.domain.adjudication import Opinion, shuffled
from annotation.domain.labels import Guessed, Quote, State
from annotation.domain.rulings import Ruling
from annotation.models import Annotation, AttributeLabel, Decision, Flag, Item, Slot
from annotation.selectors import adjudication
from annotation.selectors.queue import suggestions_for
from simulation.domain.attributes import CATALOGUE, TARGETS, Attribute
from simulation.domain.matching import Match, compare
from simulation.domain.seeds import generator
from simulation.models import AuditEntry, Profile, User

MODEL_OPENED = "adjudication.model_opened"
TRUTH_OPENED = "adjudication.truth_opened"


@dataclass(frozen=True)
class Voice:
    """One annotator, by a letter."""

    letter: str
    note: str
    opinions: Mapping[str, Opinion]


@dataclass(frozen=True)
class Flagged:
    """A flag that stands. `letter` is empty where who raised it did not answer."""

    letter: str
    attribute: str
    note: str


@dataclass(frozen=True)
class Skip:
    reason: str
    note: str


@dataclass(frozen=True)
class Sheet:
    """`answers` and `events` say in which state the page was made: both come back with the form."""

    item: Item
    voices: list[Voice]
    flags: list[Flagged]
    skips: list[Skip]
    decisions: dict[str, Decision]
    answers: str
    events: int
    own: bool
    """Who looks at it answered the item as well."""

    @property
    def columns(self) -> list[tuple[str, Mapping[str, Opinion]]]:
        return [(voice.letter, voice.opinions) for voice in self.voices]

    @property
    def stamp(self) -> str:
        return f"{self.answers}-{self.events}"

    @property
    def is_decided(self) -> bool:
        return self.item.agreement == Item.SETTLED and not self.item.flagged and bool(self.decisions)

    @property
    def rulings(self) -> dict[str, Ruling]:
        return {key: ruling_of(decision) for key, decision in self.decisions.items()}


def sheet(item: Item, person: User) -> Sheet:
    """Seven queries, however many answered. `item` comes with its queue and comment."""
    labels = Prefetch("labels", AttributeLabel.objects.filter(attribute__in=list(CATALOGUE)))
    annotations = list(adjudication.counted([item]).prefetch_related(labels))
    lettered = shuffled(annotations, generator(0, "adjudication", item.public_id))
    letters = {annotation.person_id: letter for letter, annotation in lettered}
    flags = Flag.objects.filter(item=item, resolved_at=None).order_by("at")
    skips = Slot.objects.filter(item=item, state=Slot.SKIPPED).order_by("number")
    return Sheet(
        item=item,
        voices=[
            Voice(
                letter, annotation.note, {row.attribute: opinion_of(row) for row in annotation.labels.all()}
            )
            for letter, annotation in lettered
        ],
        flags=[Flagged(letters.get(flag.person_id, ""), flag.attribute, flag.note) for flag in flags],
        skips=[Skip(slot.get_skip_reason_display() or "no reason given", slot.skip_note) for slot in skips],
        decisions={decision.attribute: decision for decision in item.decisions.all()},
        answers=_seal(item, annotations),
        events=item.decision_events.count(),
        own=Annotation.objects.filter(item=item, person=person).exists(),
    )


def _seal(item: Item, annotations: list[Annotation]) -> str:
    """Another one as soon as an answer comes, goes or changes; it tells nothing about them."""
    versions = ",".join(f"{annotation.pk}:{annotation.version}" for annotation in annotations)
    return salted_hmac("annotation.adjudication", f"{item.pk}/{versions}", algorithm="sha256").hexdigest()[
        :16
    ]


def opinion(
    state: str, value: str, hardness: int | None, certainty: int | None, evidence: Iterable[Mapping[str, Any]]
) -> Opinion:
    """What is stored in the columns of a label or a decision, as a value."""
    quotes = (Quote(one["comment"], one["start"], one["end"], one["quote"]) for one in evidence)
    return Opinion(State(state), value, hardness, certainty, tuple(quotes))


def opinion_of(row: AttributeLabel | Decision) -> Opinion:
    return opinion(row.state, row.value, row.hardness, row.certainty, row.evidence)


def ruling_of(decision: Decision) -> Ruling:
    return Ruling(opinion_of(decision), decision.reason, decision.note, decision.guideline_gap)


def guesses(item: Item) -> dict[str, Guessed]:
    """Attribute key -> what the model says: the one of the queue, else the latest."""
    queue = item.queue
    found = suggestions_for(item.comment, queue if queue.assisted else None)
    return {
        key: Guessed(tuple(row.words), row.hardness, row.certainty)
        for key, row in found.items()
        if key in CATALOGUE
    }


def opened(person: User, item: Item) -> set[str]:
    """What `person` opened of this item: the model's column, the truth (MODEL_OPENED, TRUTH_OPENED)."""
    entries = AuditEntry.objects.filter(
        actor=person, object_id=item.public_id, action__in=(MODEL_OPENED, TRUTH_OPENED)
    )
    return set(entries.values_list("action", flat=True))


@dataclass(frozen=True)
class Fact:
    """A true attribute of the author beside what was decided; `match` where both say a value."""

    attribute: Attribute
    true: str
    decision: Decision | None
    match: Match | None


def facts(item: Item, decisions: Mapping[str, Decision]) -> list[Fact] | None:
    """The truth about the author of an item's comment; None where the comment has no profile.

    Whoever calls this has made sure that it was decided and has written down who looks.
    """
    profile = Profile.objects.filter(comments=item.comment_id).first()
    if profile is None:
        return None
    found = []
    for attribute in TARGETS:
        given = profile.facts.get(attribute.key)
        true = "" if given is None else str(given)
        decision = decisions.get(attribute.key)
        match = None
        if true and decision is not None and decision.state == State.VALUE:
            match = compare(attribute, decision.value, true)
        found.append(Fact(attribute, true, decision, match))
    return found
