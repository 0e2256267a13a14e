"""Threads, comments and profiles of a corpus, and the story of a run, as rows for programs to go through."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, RowNumber

from simulation.domain.roles import Right
from simulation.models import Comment, CommentEdit, Corpus, Happening, Profile, Run, Thread, User

WORDS = SearchVector("text", config="english")
"""The very expression of the index `comment_words`."""
SETTLED = timedelta(seconds=2)
"""A line of a story is shown when it is so old: whoever was writing one before it has done so by then."""


def threads_in(corpus: Corpus, asked: Mapping[str, Any]) -> QuerySet[Thread]:
    """With the number of their comments. `asked`: source, target_phrase, since."""
    rows = counted(corpus.threads.all())
    if source := asked.get("source"):
        rows = rows.filter(source=source)
    if phrase := asked.get("target_phrase"):
        rows = rows.filter(target_phrase=phrase)
    if since := asked.get("since"):
        rows = rows.filter(created_at__gte=since)
    return rows


def counted(threads: QuerySet[Thread]) -> QuerySet[Thread]:
    """Each with its number of comments and its corpus."""
    inside = Comment.objects.filter(thread=OuterRef("pk")).order_by().values("thread")
    number = Coalesce(Subquery(inside.annotate(n=Count("pk")).values("n")), 0)
    return threads.select_related("corpus").annotate(n_comments=number)


def whole(thread: Thread) -> list[Comment]:
    """All comments of a thread in the order in which they came, each with its parent; one query."""
    return list(related(thread.comments.all()).order_by("sequence", "id"))


def related(comments: QuerySet[Comment]) -> QuerySet[Comment]:
    """With the public ids around them, and nothing else of those rows."""
    return comments.select_related("corpus", "thread", "parent", "profile").only(
        "public_id",
        "external_id",
        "author",
        "username",
        "text",
        "original_text",
        "depth",
        "position",
        "sequence",
        "state",
        "created_at",
        "corpus__public_id",
        "thread__public_id",
        "parent__public_id",
        "profile__public_id",
    )


def comments_in(corpus: Corpus, asked: Mapping[str, Any]) -> QuerySet[Comment]:
    """`asked`: thread (public id), author (user name), state, text (words, as a search engine takes them),
    since (made or edited from then on)."""
    rows = related(Comment.objects.filter(corpus=corpus))
    if (state := asked.get("state", "active")) != "both":
        rows = rows.filter(state=state)
    if thread := asked.get("thread"):
        rows = rows.filter(thread__public_id=thread)
    if author := asked.get("author"):
        rows = rows.filter(username=author)
    if since := asked.get("since"):
        edited = CommentEdit.objects.filter(comment=OuterRef("pk"), at__gte=since)
        rows = rows.filter(Q(created_at__gte=since) | Exists(edited))
    if text := asked.get("text"):
        query = SearchQuery(text, config="english", search_type="websearch")
        rows = rows.alias(words=WORDS).filter(words=query)
    return rows


def profiles_in(person: User, corpus: Corpus, asked: Mapping[str, Any]) -> QuerySet[Profile]:
    """`asked`: state, source, username, and attribute with value (equal but for capitals)."""
    rows = Profile.objects.visible_to(person).filter(corpus=corpus).select_related("corpus", "run")
    for name in ("state", "source", "username"):
        if wanted := asked.get(name):
            rows = rows.filter(**{name: wanted})
    if attribute := asked.get("attribute"):
        rows = rows.alias(fact=KeyTextTransform(attribute, "facts")).filter(fact__iexact=asked["value"])
    return rows.defer("run__plan")


def sees_profiles(person: User, corpus: Corpus) -> bool:
    return Corpus.objects.with_right(person, Right.SEE_PROFILES).filter(pk=corpus.pk).exists()


def story(run: Run, *, after: int, limit: int, now: datetime) -> list[Happening]:
    """Lines of a run behind number `after`, oldest first, each with its `number` in the run, from 1 on."""
    lines = Happening.objects.filter(run=run, at__lte=now - SETTLED)
    numbered = lines.annotate(number=Window(RowNumber(), order_by=F("id").asc()))
    return list(numbered.order_by("id")[after : after + limit])
