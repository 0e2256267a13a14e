"""Tagging runs side by side: what each tagged of the comments that all of them dealt with.

Counts are made by the database; a fixed number of queries, however many comments and attributes there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum

from annotation.metrics.shares import Share
from annotation.models import Suggestion, SuggestionCheck
from simulation.domain.attributes import CATALOGUE, HARDNESS_WORDS
from simulation.domain.matching import Match, compare
from simulation.domain.run_states import ENDED_STEPS, StepState
from simulation.models import Corpus, Run, Step

MOST = 6
LETTERS = "ABCDEF"
LISTED = 60
UNREADABLE = ("unreadable", "truncated", "empty")


@dataclass
class Column:
    """One run: what it is and what became of its comments."""

    letter: str
    run: Run
    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def model(self) -> str:
        return str(self.run.plan["models"]["tagger"]["model"])

    @property
    def variant(self) -> str:
        return str(self.run.plan.get("variant", "tag_comment"))

    @property
    def done(self) -> int:
        return self.states[StepState.DONE]

    @property
    def ended(self) -> int:
        return sum(self.states[state] for state in ENDED_STEPS)

    @property
    def known(self) -> int:
        return self.states.total()

    @property
    def refused(self) -> int:
        return self.reasons["refused"]

    @property
    def unreadable(self) -> int:
        """Answers of which nothing could be said: cut off and empty ones too."""
        return sum(self.reasons[reason] for reason in UNREADABLE)

    @property
    def tokens_per_1000(self) -> int | None:
        return round(1000 * self.run.tokens / self.ended) if self.ended else None

    @property
    def cost_per_1000(self) -> int | None:
        """Nano-dollars."""
        return round(1000 * self.run.cost / self.ended) if self.ended else None


@dataclass
class Cell:
    """One attribute as one run tagged it, of the comments that all runs dealt with."""

    column: Column
    tagged: int = 0
    alone: int = 0
    """Tagged by this run and by none of the others."""
    certainty_sum: int = 0
    certainty_n: int = 0
    hardness: Counter[str] = field(default_factory=Counter)
    """The tagger's word -> tags; "" where it gave another."""
    both: int = 0
    """Tagged by the first run as well."""
    same: int = 0
    """Of these, those with the same first guess."""
    less_precise: int = 0
    kept: int = 0
    checked: int = 0

    @property
    def certainty(self) -> float | None:
        return self.certainty_sum / self.certainty_n if self.certainty_n else None

    @property
    def agreement(self) -> Share:
        return Share(self.same, self.both)

    @property
    def kept_share(self) -> Share:
        return Share(self.kept, self.checked)

    @property
    def mix(self) -> list[tuple[str, int]]:
        """Percent of the tags by hardness word, the easiest first; words of another kind last."""
        known = [(word, self.hardness[word]) for word in HARDNESS_WORDS]
        other = self.hardness.total() - sum(n for _, n in known)
        total = self.hardness.total()
        return [(word, round(100 * n / total)) for word, n in [*known, ("other", other)] if n]


@dataclass(frozen=True)
class Comparison:
    columns: Sequence[Column]
    """The first is the one with which the others are compared."""
    common: int
    """Comments that every run has dealt with."""
    rows: Sequence[tuple[str, Sequence[Cell]]]
    """Attribute -> a cell a run, for the attributes that any of them tagged; in the catalogue's order."""


def comparison(runs: Sequence[Run], *, sees_truth: bool) -> Comparison:
    """Six queries, one less without truth; `runs` are two to six tagging runs of one corpus."""
    columns = [Column(letter, run) for letter, run in zip(LETTERS, runs, strict=False)]
    by_run = {column.run.pk: column for column in columns}
    steps = Step.objects.filter(run__in=by_run, kind="tag").order_by()
    for run, state, reason, n in steps.values_list("run_id", "state", "reason").annotate(n=Count("pk")):
        by_run[run].states[state] += n
        by_run[run].reasons[reason] += n
    cells = {(key, pk): Cell(column) for key in CATALOGUE for pk, column in by_run.items()}
    shared = common(runs).count()
    tags = _tags(runs, all_shared={column.done for column in columns} == {shared})
    _count(runs, tags, cells)
    _agreement(runs, tags, cells)
    if sees_truth:
        _checks(tags, cells)
    rows = [(key, [cells[key, run.pk] for run in runs]) for key in CATALOGUE]
    shown = [(key, row) for key, row in rows if any(cell.tagged for cell in row)]
    return Comparison(columns, shared, shown)


Cells = Mapping[tuple[str, int], Cell]


def common(runs: Sequence[Run]) -> QuerySet[Any, Any]:
    """The comments that every one of `runs` has dealt with, as a subquery."""
    done = Step.objects.filter(run__in=runs, kind="tag", state=StepState.DONE, comment__isnull=False)
    return (
        done.order_by()
        .values("comment")
        .annotate(n=Count("run", distinct=True))
        .filter(n=len(runs))
        .values("comment")
    )


def _tags(runs: Sequence[Run], *, all_shared: bool) -> QuerySet[Suggestion]:
    """The tags of the comments that every run has dealt with. `all_shared`: there are no others, as a rule of
    runs that were started side by side; not to look again saves most of the time."""
    tags = Suggestion.objects.filter(run__in=runs).order_by()
    return tags if all_shared else tags.filter(comment__in=common(runs))


def _count(runs: Sequence[Run], tags: QuerySet[Suggestion], cells: Cells) -> None:
    """How much each run tagged, how hard and how certain; and what it tagged alone."""
    counted = tags.values_list("run_id", "attribute", "hardness_word").annotate(
        n=Count("pk"), sure=Sum("certainty"), graded=Count("certainty")
    )
    for run, attribute, word, n, sure, graded in counted:
        if cell := cells.get((attribute, run)):
            cell.tagged += n
            cell.hardness[word] += n
            cell.certainty_sum += sure or 0
            cell.certainty_n += graded
    others = Suggestion.objects.filter(
        run__in=runs, comment=OuterRef("comment"), attribute=OuterRef("attribute")
    ).exclude(run=OuterRef("run"))
    alone = tags.filter(~Exists(others)).values_list("run_id", "attribute").annotate(n=Count("pk"))
    for run, attribute, n in alone:
        if cell := cells.get((attribute, run)):
            cell.alone = n


def _agreement(runs: Sequence[Run], tags: QuerySet[Suggestion], cells: Cells) -> None:
    """First guesses beside those of the first run, compared by the rules for values of the attribute."""
    first = Suggestion.objects.filter(
        run=runs[0], comment=OuterRef("comment"), attribute=OuterRef("attribute")
    ).values("guesses__0")[:1]
    pairs = (
        tags.exclude(run=runs[0])
        .annotate(its=Subquery(first))
        .exclude(its=None)
        .values_list("run_id", "attribute", "guesses__0", "its")
        .annotate(n=Count("pk"))
    )
    for run, attribute, guess, other, n in pairs:
        if cell := cells.get((attribute, run)):
            match = compare(CATALOGUE[attribute], str(guess), str(other))
            cell.both += n
            cell.same += n * (match is Match.SAME)
            cell.less_precise += n * (match is Match.LESS_PRECISE)


def latest_checks(checks: QuerySet[SuggestionCheck]) -> QuerySet[SuggestionCheck]:
    """Of each suggestion the check that was made last."""
    later = SuggestionCheck.objects.filter(suggestion=OuterRef("suggestion"), pk__gt=OuterRef("pk"))
    return checks.filter(~Exists(later)).order_by()


def _checks(tags: QuerySet[Suggestion], cells: Cells) -> None:
    made = latest_checks(SuggestionCheck.objects.filter(suggestion__in=tags.values("pk")))
    counted = made.values_list("suggestion__run_id", "suggestion__attribute", "kept").annotate(n=Count("pk"))
    for run, attribute, kept, n in counted:
        if cell := cells.get((attribute, run)):
            cell.checked += n
            cell.kept += n * kept


def group_runs(corpus: Corpus, *, group: str, ids: Iterable[str]) -> list[Run]:
    """The tagging runs of a group, or those with these public ids in this order; at most `MOST`."""
    tagging = Run.objects.filter(corpus=corpus, kind=Run.TAG).select_related("provider")
    if group:
        return list(tagging.filter(group=group).order_by("pk")[:MOST])
    wanted = list(dict.fromkeys(ids))[:MOST]
    found = {run.public_id: run for run in tagging.filter(public_id__in=wanted)}
    return [found[one] for one in wanted if one in found]


def listed(corpus: Corpus) -> list[Run]:
    """The latest tagging runs, newest first, to choose from."""
    return list(Run.objects.filter(corpus=corpus, kind=Run.TAG).select_related("provider")[:LISTED])
