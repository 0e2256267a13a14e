"""Runs that a person may see, newest first; and what is needed to begin one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from simulation.domain.profile_filter import ProfileFilter
from simulation.domain.roles import Right, roles_with
from simulation.domain.run_states import ENDED_STEPS, StepState
from simulation.models import Corpus, Profile, Run, RunThread, Step, User

PAGE = 25
OVER = (RunThread.DONE, RunThread.PARTIAL, RunThread.FAILED)
LOST = (StepState.SKIPPED, StepState.FAILED)
UNITS = {
    Run.SIMULATE: "threads",
    Run.TAG: "comments",
    Run.INFER: "authors",
    Run.MASK: "comments",
    Run.TOPICS: "threads",
}
"""What progress is counted in; of other kinds of runs in steps."""


@dataclass(frozen=True)
class Share:
    """How much of a run is over: threads of a simulation, comments of a tagging run, else steps."""

    over: int
    known: int
    unit: str

    @property
    def left(self) -> int:
        return self.known - self.over


@dataclass(frozen=True)
class RunRow:
    run: Run
    share: Share
    trouble: int = 0
    """Steps that were skipped or failed."""


@dataclass(frozen=True)
class RunsPage:
    rows: Sequence[RunRow]
    before: str
    """Public id to continue behind; empty on the last page."""


def page(person: User, *, before: str = "", corpus: Corpus | None = None, size: int = PAGE) -> RunsPage:
    """One page of runs; five queries, however many they are."""
    visible = Run.objects.visible_to(person)
    if corpus is not None:
        visible = visible.filter(corpus=corpus)
    runs = visible.select_related("corpus", "created_by").defer("plan").order_by("-id")
    if before:
        runs = runs.filter(pk__lt=visible.filter(public_id=before).values("pk"))
    found = list(runs[: size + 1])
    shown = found[:size]
    return RunsPage(rows=rows(shown), before=shown[-1].public_id if len(found) > size else "")


def rows(found: Sequence[Run]) -> list[RunRow]:
    """How far each of the runs is; three queries, however many they are."""
    shares, trouble = _shares(found), _trouble(found)
    return [RunRow(run, shares[run.pk], trouble.get(run.pk, 0)) for run in found]


def _shares(runs: Iterable[Run]) -> Mapping[int, Share]:
    shares = {run.pk: Share(0, 0, UNITS.get(run.kind, "steps")) for run in runs}
    simulations = [run.pk for run in runs if run.kind == Run.SIMULATE]
    others = [run.pk for run in runs if run.kind != Run.SIMULATE]
    threads = RunThread.objects.filter(run__in=simulations).order_by()
    steps = Step.objects.filter(run__in=others).order_by()
    for rows, ended in ((threads, OVER), (steps, ENDED_STEPS)):
        for pk, state, n in rows.values_list("run_id", "state").annotate(n=Count("pk")):
            known = shares[pk]
            shares[pk] = Share(known.over + n * (state in ended), known.known + n, known.unit)
    return shares


def _trouble(runs: Iterable[Run]) -> Mapping[int, int]:
    """Run -> steps that came to nothing though nobody ended it."""
    lost = Step.objects.filter(run__in=[run.pk for run in runs], state__in=LOST).order_by()
    return dict(lost.values_list("run_id").annotate(n=Count("pk")))


def startable(person: User) -> QuerySet[Corpus]:
    """The corpora in which `person` may start runs."""
    return Corpus.objects.with_right(person, Right.START_RUNS)


def may_start(person: User, corpus: Corpus) -> bool:
    return startable(person).filter(pk=corpus.pk).exists()


def starts_everywhere(person: User) -> bool:
    """May `person` start runs in the whole installation, and so say which providers there are?"""
    if not person.is_authenticated or not person.is_active or person.bound_to is not None:
        return False
    roles = [role.value for role in roles_with(Right.START_RUNS)]
    return person.is_superuser or person.memberships.filter(corpus=None, role__in=roles).exists()


def of_form(corpus: Corpus, mark: UUID) -> Run | None:
    """The run that this very form started already, if it was sent before."""
    return Run.objects.filter(corpus=corpus, plan__form=str(mark)).first()


def matching(corpus: Corpus, wanted: ProfileFilter) -> list[Profile]:
    """The approved profiles that `wanted` lets through, in the order of their arrival."""
    everybody = corpus.profiles.filter(state=Profile.APPROVED).order_by("pk")
    return [profile for profile in everybody if wanted.matches(profile.facts)]


def next_name(corpus: Corpus, what: str = "run") -> str:
    """A name for the next run of a corpus; to be changed at will."""
    return f"{what} {Run.objects.filter(corpus=corpus).count() + 1}"
