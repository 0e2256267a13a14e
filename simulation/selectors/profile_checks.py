"""Profiles to be checked: a page of them, how many are in which state, and what was changed in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform

from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.run_states import OPEN_RUNS, StepState
from simulation.models import Corpus, Profile, ProfileVersion, Run, Step

PAGE = 20
PROPOSED, WARNED, APPROVED, REJECTED = "proposed", "warned", "approved", "rejected"
SHOWN = {
    PROPOSED: "Proposed",
    WARNED: "With warnings",
    APPROVED: "Approved",
    REJECTED: "Rejected",
}
"""What the page can show. With warnings: the proposed ones of which something does not fit together."""
WITH_WARNINGS = Q(state=Profile.PROPOSED) & ~Q(warnings=[])
CLEAN = Q(state=Profile.PROPOSED, warnings=[])
CONDITIONS = {
    PROPOSED: Q(state=Profile.PROPOSED),
    WARNED: WITH_WARNINGS,
    APPROVED: Q(state=Profile.APPROVED),
    REJECTED: Q(state=Profile.REJECTED),
}
HEAVY = ("run__plan", "call__request", "call__reply")


@dataclass(frozen=True)
class Fact:
    """One fact of a profile, with what does not fit it."""

    attribute: Attribute
    value: Any
    warnings: Sequence[str]


@dataclass(frozen=True)
class Card:
    """A profile as a person checks it."""

    profile: Profile
    facts: Sequence[Fact]
    warnings: Sequence[Mapping[str, Any]]
    """What belongs to no single fact, and why somebody rejected it."""

    @property
    def n_warnings(self) -> int:
        return len(self.profile.warnings)


@dataclass(frozen=True)
class Counts:
    proposed: int
    warned: int
    approved: int
    rejected: int
    unfinished: int
    """Proposed without a warning, but with a style that is still being written."""
    last: str
    """Public id of the newest profile, in any state: what comes later was not seen."""

    @property
    def clean(self) -> int:
        """How many may be approved unseen."""
        return self.proposed - self.warned - self.unfinished

    @property
    def all(self) -> int:
        return self.proposed + self.approved + self.rejected

    def of(self, shown: str) -> int:
        return int(getattr(self, shown))


@dataclass(frozen=True)
class CheckPage:
    cards: Sequence[Card]
    after: str
    """Public id to continue behind; empty on the last page."""


def page(corpus: Corpus, shown: str, *, after: str = "", size: int = PAGE) -> CheckPage:
    """One page of the profiles in a state, oldest first; two queries, however many they are."""
    rows = detailed(corpus.profiles.filter(CONDITIONS[shown])).order_by("pk")
    if after:
        rows = rows.filter(pk__gt=key_of(corpus, after))
    found = list(rows[: size + 1])
    cards = [card(profile) for profile in found[:size]]
    return CheckPage(cards, found[size - 1].public_id if len(found) > size else "")


def key_of(corpus: Corpus, public_id: str) -> int:
    """The key of a profile of the corpus; 0 where there is no such profile."""
    return corpus.profiles.filter(public_id=public_id).values_list("pk", flat=True).first() or 0


def detailed(profiles: QuerySet[Profile]) -> QuerySet[Profile]:
    """With what made and who checked them, without the prompts and answers."""
    return profiles.select_related("corpus", "run", "call", "checked_by").defer(*HEAVY)


def card(profile: Profile) -> Card:
    beside: dict[str, list[str]] = {}
    loose = []
    for warning in profile.warnings:
        attributes = [key for key in warning["attributes"] if key in CATALOGUE]
        if not attributes:
            loose.append(warning)
        # Beside the last of those that do not go together: the first ones are read by then.
        for key in attributes[-1:]:
            beside.setdefault(key, []).append(warning["text"])
    facts = [
        Fact(attribute, profile.facts.get(key), beside.get(key, ())) for key, attribute in CATALOGUE.items()
    ]
    return Card(profile, facts, loose)


def counts(corpus: Corpus) -> Counts:
    """How many profiles are in which state; three queries."""
    numbers = corpus.profiles.aggregate(
        **{shown: Count("pk", filter=condition) for shown, condition in CONDITIONS.items()}
    )
    last = corpus.profiles.order_by("-pk").values_list("public_id", flat=True).first()
    unfinished = unstyled(corpus).filter(CLEAN).count()
    return Counts(**numbers, unfinished=unfinished, last=last or "")


def unstyled(corpus: Corpus) -> QuerySet[Profile]:
    """Profiles of which a run that is not over is still to write the style."""
    steps = Step.objects.filter(
        run__corpus=corpus,
        run__kind=Run.PROFILES,
        run__state__in=OPEN_RUNS,
        kind="style",
        state__in=[StepState.READY, StepState.LEASED],
    )
    named = steps.annotate(who=KeyTextTransform("profile", "asks")).values("who")
    return corpus.profiles.filter(external_id__in=named)


def next_proposed(corpus: Corpus, behind: Profile, shown: str = PROPOSED) -> Profile | None:
    """The one to be checked after `behind`, else the first that is left."""
    rows = corpus.profiles.filter(CONDITIONS[shown]).exclude(pk=behind.pk).order_by("pk").only("public_id")
    return rows.filter(pk__gt=behind.pk).first() or rows.first()


def open_run(corpus: Corpus) -> Run | None:
    """The run that makes profiles or styles for the corpus right now."""
    runs = corpus.runs.filter(kind=Run.PROFILES, state__in=OPEN_RUNS)
    return runs.defer("plan").order_by("-pk").first()


def arrived(corpus: Corpus, last: str) -> int:
    """How many proposed profiles came after the one with the public id `last`."""
    return corpus.profiles.filter(CONDITIONS[PROPOSED], pk__gt=key_of(corpus, last)).count()


def without_style(corpus: Corpus) -> QuerySet[Profile]:
    """Profiles that were not rejected and have no style yet."""
    return corpus.profiles.filter(style="").exclude(state=Profile.REJECTED).order_by("pk")


@dataclass(frozen=True)
class Change:
    label: str
    before: Any
    after: Any


@dataclass(frozen=True)
class VersionRow:
    """One version of a profile, with what differs from the one before; nothing for the first that is kept."""

    version: ProfileVersion
    changes: Sequence[Change]


def history(profile: Profile) -> list[VersionRow]:
    """The kept versions, newest first; one query."""
    kept = list(profile.versions.select_related("by").order_by("version"))
    befores: Iterable[ProfileVersion | None] = [None, *kept]
    rows = [VersionRow(now, _changes(before, now)) for before, now in zip(befores, kept, strict=False)]
    return rows[::-1]


def _changes(before: ProfileVersion | None, now: ProfileVersion) -> list[Change]:
    if before is None:
        return []
    pairs = [("Username", before.username, now.username)]
    pairs += [(one.label, before.facts.get(key), now.facts.get(key)) for key, one in CATALOGUE.items()]
    pairs += [("Style", before.style, now.style)]
    return [Change(*pair) for pair in pairs if pair[1] != pair[2]]


def mark(corpus: Corpus) -> str:
    """Changes whenever a profile is made, edited, or rejected; one query."""
    kept = corpus.profiles.exclude(state=Profile.REJECTED)
    seen = kept.aggregate(n=Count("pk"), last=Max("pk"), versions=Sum("version"), keys=Sum("pk"))
    return "-".join(str(value or 0) for value in seen.values())


def last_generation(corpus: Corpus) -> Run | None:
    """The latest run that generated profiles: its targets are what the corpus is measured against."""
    return corpus.runs.filter(kind=Run.PROFILES, plan__has_key="targets").order_by("-pk").first()
