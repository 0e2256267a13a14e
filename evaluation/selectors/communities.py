"""Communities of threads: runs that named them, what they named, and what threads say themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Exists, Max, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length

from evaluation.domain.communities import WANTED, distinct, is_askreddit, written
from evaluation.domain.thread_targets import target_of
from evaluation.models import ThreadTopics
from simulation.domain.dry_run import PerCall
from simulation.domain.run_states import RunState, StepState
from simulation.models import Comment, Corpus, Run, Step, Thread

IMPORTED = "imported"
"""Stands where a run's public id would: what the threads name themselves."""
PAGE = 50
MOST_RUNS = 50
"""So many runs, the latest, are offered."""
PROMPT, ANSWER = 230, 25
"""Tokens of the prompt around a post, and of the usual answer."""
LETTERS_PER_TOKEN = 4
LONG = 1.6
SECONDS = 2.0
NAMED, WITHOUT, WAITING = "named", "without", "waiting"
STATES = {
    NAMED: (StepState.DONE,),
    WITHOUT: (StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED),
    WAITING: (StepState.READY, StepState.LEASED),
}


def roots(corpus: Corpus) -> QuerySet[Comment]:
    """The post of each thread, of several the first, that is not withdrawn; in the order of arrival."""
    posts = Comment.objects.filter(corpus=corpus, parent=None, state="active").exclude(text="")
    first = posts.filter(thread=OuterRef("thread"))
    earlier = Q(sequence__lt=OuterRef("sequence")) | Q(sequence=OuterRef("sequence"), pk__lt=OuterRef("pk"))
    return posts.filter(~Exists(first.filter(earlier))).order_by("sequence", "pk")


@dataclass(frozen=True)
class Need:
    """What a run will need: threads, what a call takes, and the tokens of all calls, each asked once."""

    threads: int
    per_call: PerCall
    tokens: int


def need(corpus: Corpus, answer_cap: int) -> Need:
    """One query."""
    sizes = roots(corpus).order_by().annotate(size=Length("text"))
    found = sizes.aggregate(n=Count("pk"), mean=Avg("size"), most=Max("size"), letters=Sum("size"))
    n = found["n"]
    if not n:
        return Need(0, PerCall(0, 0, 0, 0, 0, 0), 0)
    usual, most = (PROMPT + found[key] / LETTERS_PER_TOKEN for key in ("mean", "most"))
    each = PerCall(usual, most, ANSWER, ANSWER * LONG, SECONDS, SECONDS * LONG)
    return Need(n, each, n * (PROMPT + answer_cap) + found["letters"] // LETTERS_PER_TOKEN)


def runs_of(corpus: Corpus) -> list[Run]:
    """Naming runs, latest first. One query."""
    return list(Run.objects.filter(corpus=corpus, kind=Run.TOPICS).order_by("-pk")[:MOST_RUNS])


def done_runs(corpus: Corpus) -> QuerySet[Run]:
    """Those that are done and have named something, latest first."""
    runs = Run.objects.filter(corpus=corpus, kind=Run.TOPICS, state=RunState.DONE)
    return runs.filter(Exists(ThreadTopics.objects.filter(run=OuterRef("pk")))).order_by("-ended_at", "-pk")


def naming_of(corpus: Corpus, key: str) -> Run | None:
    """The done run of this public id; for "" the last one; None for `IMPORTED` and one that is not there."""
    if key == IMPORTED:
        return None
    runs = done_runs(corpus)
    return (runs.filter(public_id=key) if key else runs).first()


def is_known(corpus: Corpus, key: str) -> bool:
    """Whether a report can be asked for with this key."""
    return key in ("", IMPORTED) or naming_of(corpus, key) is not None


def imported(corpus: Corpus) -> QuerySet[Thread]:
    """Threads that name topics themselves, in the order of arrival."""
    return Thread.objects.filter(corpus=corpus, extra__has_key="topics").order_by("pk")


def topics_in(given: Any) -> list[str]:
    """A list of names, or names with commas between them; anything else names none."""
    if isinstance(given, str):
        return given.split(",")
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


@dataclass(frozen=True)
class Tally:
    """What a run named: threads planned, with names, with fewer than three, without, still to come.

    `reasons` says why threads have none. `distinct` and `written`: different names with letter case aside,
    and as they are written. `askreddit`: threads that name r/AskReddit.
    """

    threads: int = 0
    named: int = 0
    short: int = 0
    waiting: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    namings: int = 0
    distinct: int = 0
    written: int = 0
    askreddit: int = 0

    @property
    def without(self) -> int:
        return sum(self.reasons.values())


def tally(run: Run) -> Tally:
    """Two queries."""
    counts = Step.objects.filter(run=run).order_by().values_list("state", "reason").annotate(n=Count("pk"))
    reasons: dict[str, int] = {}
    waiting = threads = 0
    for state, reason, n in counts:
        threads += n
        waiting += n if state in STATES[WAITING] else 0
        if state in STATES[WITHOUT]:
            word = reason or str(state)
            reasons[word] = reasons.get(word, 0) + n
    named = [topics for (topics,) in ThreadTopics.objects.filter(run=run).values_list("topics")]
    return _tally(named, threads, waiting, reasons)


def tally_imported(corpus: Corpus) -> Tally:
    """Of what threads name themselves. One query."""
    named = [topics_in(given) for (given,) in imported(corpus).values_list("extra__topics")]
    return _tally(named, len(named), 0, {})


def _tally(named: Sequence[Sequence[str]], threads: int, waiting: int, reasons: dict[str, int]) -> Tally:
    plain, folded = distinct(named)
    return Tally(
        threads=threads,
        named=len(named),
        short=sum(len(one) < WANTED for one in named),
        waiting=waiting,
        reasons=dict(sorted(reasons.items(), key=lambda one: (-one[1], one[0]))),
        namings=sum(len(one) for one in named),
        distinct=folded,
        written=plain,
        askreddit=sum(any(map(is_askreddit, one)) for one in named),
    )


class Row(NamedTuple):
    """One thread with its communities as they are written, or why it has none."""

    number: int
    thread: Thread | None
    root: str
    """The post's id in the source."""
    target: str
    topics: tuple[str, ...]
    state: str
    reason: str = ""
    detail: str = ""
    call: str = ""
    """Public id of the call behind it."""


@dataclass(frozen=True)
class Page:
    """`after`: number behind which the next page begins, None on the last."""

    rows: Sequence[Row]
    after: int | None = None


def page(run: Run, *, what: str = "", after: int = -1, size: int = PAGE) -> Page:
    """One page of a run's threads, of `what` (`STATES`) or all. Three queries."""
    found = list(_rows(run, what=what, after=after, most=size + 1))
    return Page(found[:size], found[size - 1].number if len(found) > size else None)


def rows(run: Run) -> Iterator[Row]:
    """Every thread of a run, in its order; three queries a thousand threads."""
    after = -1
    while found := list(_rows(run, after=after, most=1000)):
        yield from found
        after = found[-1].number


def _rows(run: Run, *, after: int, most: int, what: str = "") -> Iterator[Row]:
    steps = Step.objects.filter(run=run, number__gt=after).select_related("comment").order_by("number")
    if what in STATES:
        steps = steps.filter(state__in=STATES[what])
    chosen = list(steps[:most])
    keys = [step.asks["thread"] for step in chosen]
    threads = {one.pk: one for one in Thread.objects.filter(pk__in=keys).select_related("run_thread")}
    named = dict(ThreadTopics.objects.filter(run=run, thread__in=keys).values_list("thread", "topics"))
    for step in chosen:
        thread = threads.get(step.asks["thread"])
        yield Row(
            step.number,
            thread,
            step.comment.external_id if step.comment else "",
            _target(thread) if thread else "",
            tuple(written(named.get(step.asks["thread"], ()))),
            next(state for state, members in STATES.items() if step.state in members),
            step.reason,
            step.detail,
            str(step.result.get("call", "")),
        )


def imported_page(corpus: Corpus, *, after: int = -1, size: int = PAGE) -> Page:
    """The same of what threads name themselves; numbered from 0. Two queries."""
    start = after + 1
    found = list(imported(corpus).select_related("run_thread")[start : start + size + 1])
    shown = _of_threads(found[:size], start)
    return Page(shown, shown[-1].number if len(found) > size else None)


def imported_rows(corpus: Corpus) -> list[Row]:
    """All of them. Two queries."""
    return _of_threads(list(imported(corpus).select_related("run_thread")), 0)


def _of_threads(threads: Sequence[Thread], start: int) -> list[Row]:
    posts = Comment.objects.filter(thread__in=threads, parent=None).order_by("-sequence", "-pk")
    first = dict(posts.values_list("thread", "external_id"))  # the earliest comes last
    return [
        Row(
            number,
            one,
            first.get(one.pk, ""),
            _target(one),
            tuple(name.strip() for name in topics_in(one.extra["topics"]) if name.strip()),
            NAMED,
        )
        for number, one in enumerate(threads, start)
    ]


def _target(thread: Thread) -> str:
    """As the run that wrote it planned it, else as its phrase or name says."""
    planned = thread.run_thread.target if hasattr(thread, "run_thread") else ""
    return planned or target_of(thread.target_phrase, thread.external_id)
