"""What checks of tags found: counts by run, attribute and hardness, and the tags that were not kept.

All of it is truth: it is for people who may see profiles. Of a suggestion that several runs checked, the
latest check counts, unless one run of checks is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from annotation.domain.judging import truth_of
from annotation.metrics.shares import Share
from annotation.models import Suggestion, SuggestionCheck
from annotation.selectors.tag_compare import latest_checks
from simulation.domain.attributes import CATALOGUE, HARDNESS
from simulation.models import Corpus, Run

LISTED = 50
WRONG = 50
"""Tags on a page that were not kept."""


@dataclass
class Tally:
    """Checked tags by what became of their first guess; and how many were kept."""

    right: int = 0
    less_precise: int = 0
    wrong: int = 0
    kept: int = 0

    @property
    def n(self) -> int:
        return self.right + self.less_precise + self.wrong

    @property
    def right_share(self) -> Share:
        return Share(self.right, self.n)

    @property
    def kept_share(self) -> Share:
        return Share(self.kept, self.n)

    def take(self, first: float | None, kept: bool, n: int) -> None:
        self.right += n * (first == 1)
        self.less_precise += n * (first == 0.5)
        self.wrong += n * (first not in (1, 0.5))
        self.kept += n * kept


@dataclass
class Tagger:
    """The checked tags of one tagging run; of imported ones, or of another source, where there is no run."""

    run: Run | None
    name: str
    all: Tally = field(default_factory=Tally)
    attributes: dict[str, Tally] = field(default_factory=dict)
    hardness: dict[int | None, Tally] = field(default_factory=dict)

    @property
    def by_attribute(self) -> list[tuple[str, Tally]]:
        """In the catalogue's order."""
        return [(key, self.attributes[key]) for key in CATALOGUE if key in self.attributes]

    @property
    def by_hardness(self) -> list[tuple[str, Tally]]:
        """The easiest first; last those without a hardness."""
        words = {mark.number: f"{mark.number}, {mark.word}" for mark in HARDNESS} | {None: "not said"}
        return [(word, self.hardness[number]) for number, word in words.items() if number in self.hardness]


def made(corpus: Corpus, *, by: Run | None = None, of: str = "") -> QuerySet[SuggestionCheck]:
    """The checks that count: those of the run `by`, else the latest of each suggestion.

    `of` leaves those of one tagging run, by its public id; “imported”: of suggestions without a run.
    """
    checks = SuggestionCheck.objects.filter(run__corpus=corpus)
    if of:
        checks = (
            checks.filter(suggestion__run=None)
            if of == IMPORTED
            else checks.filter(suggestion__run__public_id=of)
        )
    return checks.filter(run=by).order_by() if by else latest_checks(checks)


IMPORTED = "imported"


def summary(corpus: Corpus, *, by: Run | None = None, of: str = "") -> list[Tagger]:
    """A tally by run, attribute and hardness; two queries. Newest runs first, imported tags last."""
    counted = (
        made(corpus, by=by, of=of)
        .values_list(
            "suggestion__run_id",
            "suggestion__tagger",
            "suggestion__attribute",
            "suggestion__hardness",
            "scores__0",
            "kept",
        )
        .annotate(n=Count("pk"))
    )
    found: dict[tuple[int, str], Tagger] = {}
    rows = list(counted)
    runs = Run.objects.in_bulk({run for run, *_ in rows if run})
    for run, tagger, attribute, hardness, first, kept, n in rows:
        one = runs.get(run) if run else None
        key = (run or 0, "" if one else tagger)
        known = found.setdefault(key, Tagger(one, one.name if one else tagger))
        for tally in (
            known.all,
            known.attributes.setdefault(attribute, Tally()),
            known.hardness.setdefault(hardness, Tally()),
        ):
            tally.take(first, kept, n)
    return [found[key] for key in sorted(found, reverse=True)]


def check_runs(corpus: Corpus) -> list[Run]:
    """The latest runs that checked tags, newest first."""
    return list(Run.objects.filter(corpus=corpus, kind=Run.JUDGE).select_related("provider")[:LISTED])


@dataclass(frozen=True)
class WrongTag:
    check: SuggestionCheck
    truth: str
    guesses: Sequence[tuple[str, str]]
    """(guess, the verdict on it)"""

    @property
    def suggestion(self) -> Suggestion:
        return self.check.suggestion


@dataclass(frozen=True)
class WrongTags:
    rows: Sequence[WrongTag]
    after: int
    """Key behind which the next page begins; 0: this is the last."""


def not_kept(
    corpus: Corpus, *, by: Run | None = None, of: str = "", attribute: str = "", after: int = 0
) -> WrongTags:
    """One page of the tags that were not kept, newest checks first; one query."""
    checks = made(corpus, by=by, of=of).filter(kept=False)
    if attribute:
        checks = checks.filter(suggestion__attribute=attribute)
    if after:
        checks = checks.filter(pk__lt=after)
    page = list(
        checks.order_by("-pk").select_related("suggestion__comment__profile", "suggestion__run", "run")[
            : WRONG + 1
        ]
    )
    rows = [wrong_tag(check) for check in page[:WRONG]]
    return WrongTags(rows, page[WRONG - 1].pk if len(page) > WRONG else 0)


def wrong_tag(check: SuggestionCheck) -> WrongTag:
    """A check with the truth it was made against, as the profile has it now."""
    suggestion = check.suggestion
    profile = suggestion.comment.profile
    truth = truth_of(suggestion.attribute, profile.facts) if profile else ""
    return WrongTag(check, truth, list(zip(suggestion.words, check.verdicts, strict=False)))
