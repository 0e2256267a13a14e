"""What diversity is counted from: comments, threads and profiles of a corpus or of one run, as streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import BitXor
from django.db.models import Count, Func, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast, Concat, Length

from evaluation.domain.communities import written
from evaluation.domain.paper.records import Node, Thread
from evaluation.domain.thread_targets import target_of
from evaluation.models import Report, ThreadTopics
from evaluation.selectors import communities
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import CastMember, Comment, CommentEdit, Corpus, Profile, Run, User
from simulation.models import Thread as ThreadRow

CHUNK = 2000
ACTIVE = "active"
MOST_RUNS = 200
"""So many runs, the latest, are offered."""
MOST_COMPARED = 20
"""So many comparisons, the latest, are listed."""
KEY = re.compile(r"[0-9a-f]{16}")
"""How a comparison is named in addresses: the beginning of its key."""


@dataclass(frozen=True)
class Scope:
    """A corpus, or what one simulation run wrote in it."""

    corpus: Corpus
    run: Run | None = None
    topics: str = ""
    """Whose naming of communities counts: see `communities.naming_of`."""

    @property
    def name(self) -> str:
        return f"{self.run.name} ({self.corpus.name})" if self.run else self.corpus.name

    @property
    def parameters(self) -> dict[str, str]:
        """Of its report."""
        topics = {"topics": self.topics} if self.topics else {}
        return {"run": self.run.public_id if self.run else "", **topics}

    @property
    def address(self) -> str:
        """What an address names it by."""
        return self.run.public_id if self.run else self.corpus.public_id

    def comments(self) -> QuerySet[Comment]:
        """All, withdrawn ones too."""
        found = Comment.objects.filter(corpus=self.corpus)
        return found.filter(thread__run_thread__run=self.run) if self.run else found

    def threads(self) -> QuerySet[ThreadRow]:
        """Those with a comment that is not withdrawn."""
        found = ThreadRow.objects.filter(corpus=self.corpus, pk__in=self.written().values("thread"))
        return found.filter(run_thread__run=self.run) if self.run else found

    def written(self) -> QuerySet[Comment]:
        """Comments that are not withdrawn."""
        return self.comments().filter(state=ACTIVE)


def runs_of(corpus: Corpus) -> list[Run]:
    """Simulations that can be chosen, latest first. One query."""
    return list(Run.objects.filter(corpus=corpus, kind=Run.SIMULATE).order_by("-pk")[:MOST_RUNS])


def run_of(corpus: Corpus, public_id: str) -> Run | None:
    """The simulation of a public id; None for "" and an unknown one."""
    if not public_id:
        return None
    return Run.objects.filter(corpus=corpus, kind=Run.SIMULATE, public_id=public_id).first()


def scope_of(corpora: QuerySet[Corpus], public_id: str) -> Scope | None:
    """The corpus or simulation of a public id, within these corpora; None where there is none."""
    if not public_id:
        return None
    if (corpus := corpora.filter(public_id=public_id).first()) is not None:
        return Scope(corpus)
    runs = Run.objects.filter(kind=Run.SIMULATE, corpus__in=corpora).select_related("corpus")
    run = runs.filter(public_id=public_id).first()
    return Scope(run.corpus, run) if run else None


def state_of(scope: Scope) -> list[Any]:
    """What everything is counted from, in few numbers that change with it. Five queries; edits of texts are
    rows of their own, edits of profiles raise their version, a run that names again ends again."""
    edits = CommentEdit.objects.filter(comment__corpus=scope.corpus)
    who: Any = CastMember.objects.filter(run=scope.run) if scope.run else _approved(scope.corpus)
    return [
        scope.comments().aggregate(n=Count("pk"), last=Max("pk"), kept=Count("pk", filter=Q(state=ACTIVE))),
        edits.aggregate(n=Count("pk"), last=Max("pk")),
        who.aggregate(n=Count("pk"), last=Max("pk"), versions=Sum("version")),
        ThreadRow.objects.filter(corpus=scope.corpus).aggregate(n=Count("pk"), last=Max("pk"), **_TOPICS),
        _ended(communities.naming_of(scope.corpus, scope.topics)),
        list(CATALOGUE),
    ]


_TOPICS = {
    "topics": BitXor(
        Func(
            Concat(Cast("pk", TextField()), Cast("extra__topics", TextField())),
            function="hashtext",
            output_field=IntegerField(),
        ),
        filter=Q(extra__has_key="topics"),
    )
}
"""What threads name themselves, as one number."""


def _ended(run: Run | None) -> list[Any]:
    return [run.pk, run.ended_at] if run else []


def _approved(corpus: Corpus) -> QuerySet[Profile]:
    return Profile.objects.filter(corpus=corpus, state=Profile.APPROVED)


class Written(NamedTuple):
    """A comment as it is read."""

    pk: int
    thread: int
    parent: int | None
    profile: int | None
    author: str
    username: str
    text: str
    depth: int


def threads(scope: Scope) -> Iterator[Thread]:
    """Every thread with its comments in the order in which they came, roots first. One query, streamed; in
    memory is one thread."""
    rows = scope.written().order_by("thread_id", "sequence", "pk")
    kept: list[Written] = []
    fields = ("pk", "thread_id", "parent_id", "profile_id", "author", "username", "text", "depth")
    for values in rows.values_list(*fields).iterator(chunk_size=CHUNK):
        row = Written(*values)
        if kept and kept[0].thread != row.thread:
            yield _thread(kept)
            kept = []
        kept.append(row)
    if kept:
        yield _thread(kept)


def thread_names(scope: Scope) -> dict[str, str]:
    """Key of each thread of `threads` -> its name in the source. One query."""
    return {str(pk): name for pk, name in scope.threads().order_by().values_list("pk", "external_id")}


def _thread(rows: list[Written]) -> Thread:
    known = {row.pk for row in rows}
    nodes = [
        Node(
            key=str(row.pk),
            parent=str(row.parent) if row.parent in known else None,
            author=author_of(row.profile, row.author, row.username),
            username=row.username,
            text=row.text,
            depth=row.depth,
        )
        for row in sorted(rows, key=lambda one: one.depth > 0)
    ]
    return Thread(str(rows[0].thread), tuple(nodes))


def author_of(profile: int | None, author: str, username: str) -> str:
    """What tells authors apart: the profile, else the source's id, else the name."""
    return f"profile {profile}" if profile else author or username


def facts(scope: Scope) -> Iterator[dict[str, Any]]:
    """The facts of the approved profiles, or of the run's cast as it was. One query, streamed."""
    rows: Any = (
        CastMember.objects.filter(run=scope.run).order_by("pk")
        if scope.run
        else _approved(scope.corpus).order_by("pk")
    )
    yield from rows.values_list("facts", flat=True).iterator(chunk_size=CHUNK)


def writing(scope: Scope) -> int:
    """How many of these profiles wrote a comment. One query."""
    authors = scope.written().filter(profile__isnull=False).order_by()
    if scope.run:
        members = CastMember.objects.filter(run=scope.run, profile__isnull=False)
        authors = authors.filter(profile__in=members.values("profile"))
    else:
        authors = authors.filter(profile__state=Profile.APPROVED)
    return authors.aggregate(n=Count("profile", distinct=True))["n"]


def assigned(scope: Scope, run: Run | None) -> Iterator[tuple[str, list[str]]]:
    """Target and topics of each thread; an empty target where nothing says it. One query, streamed.

    Topics are those that `run` named, as published (`/r/Name`); without one what threads name themselves.
    """
    named = ThreadTopics.objects.filter(run=run, thread=OuterRef("pk")).values("topics")
    fields = ("external_id", "target_phrase", "run_thread__target", "named" if run else "extra__topics")
    rows = scope.threads().order_by("pk")
    rows = rows.annotate(named=Subquery(named[:1])) if run else rows
    for name, phrase, planned, given in rows.values_list(*fields).iterator(chunk_size=CHUNK):
        topics = communities.topics_in(given)
        yield planned or target_of(phrase, name), written(topics) if run else topics


def visible_corpora(person: User) -> QuerySet[Corpus]:
    """Corpora whose profiles the person may see."""
    return Corpus.objects.with_right(person, Right.SEE_PROFILES)


def written_by(scope: Scope) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each author with the number of comments that have a text, and of their characters. One query."""
    rows = scope.written().exclude(text="").order_by().values_list("profile_id", "author", "username")
    found: dict[str, tuple[int, int]] = {}
    sizes = rows.annotate(n=Count("pk"), characters=Sum(Length("text")))
    for profile, author, username, n, characters in sizes:
        name = author_of(profile, author, username)
        before = found.get(name, (0, 0))
        found[name] = (before[0] + n, before[1] + characters)
    yield from found.items()


def comparison(corpus: Corpus, person: User, key: str) -> Report | None:
    """The listed one whose key begins so."""
    if not KEY.fullmatch(key):
        return None
    return next((one for one in comparisons(corpus, person) if one.key.startswith(key)), None)


def comparisons(corpus: Corpus, person: User) -> list[Report]:
    """Reports that compare the corpus with others, latest first; those with a corpus that the person may not
    see are left out, since they name its words. Two queries."""
    seen = set(visible_corpora(person).values_list("public_id", flat=True))
    rows = Report.objects.filter(corpus=corpus, kind=Report.DIVERSITY, parameters__has_key="against")
    rows = rows.filter(Q(parameters__against="texts") | Q(parameters__other__in=seen))
    return list(rows.select_related("corpus").order_by("-pk")[:MOST_COMPARED])
