"""What happened between two releases to the labels that differ: noted from the files, asked of records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from annotation.models import DecisionEvent
from evaluation.domain import release_changes as rules
from evaluation.domain.release_changes import Known
from evaluation.exchange.release_index import Pair
from evaluation.models import Release
from simulation.models import Comment, CommentEdit, Corpus

Place = tuple[str, str]
"""A comment's external id, and an attribute."""
TEXT, TAGS, FACT = "text", "tags", "fact"
WITHDRAWN = "withdrawn"


class Notes:
    """Keeps, outside of memory, what the other tables say about labels, until the labels are compared."""

    def __init__(self, place: Path) -> None:
        self._kept = sqlite3.connect(place / "notes.sqlite3")
        self._kept.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE note (who TEXT, attribute TEXT, what TEXT);"
            "CREATE INDEX by_who ON note (who)"
        )

    def __enter__(self) -> Notes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._kept.close()

    def take(self, table: str, pair: Pair, change: str, differing: Iterable[str]) -> None:
        """What a pair of a table other than the labels means for them."""
        who, attribute = pair.key[0], pair.key[1] if len(pair.key) > 1 else ""
        if table == rules.COMMENTS:
            names = set(differing)
            if change in (rules.ADDED, rules.REMOVED):
                self._note(who, "", change)
            elif "text" in names:
                self._note(who, "", TEXT)
            if "state" in names:
                self._note(who, "", WITHDRAWN)
        elif table == rules.SUGGESTIONS:
            self._note(who, attribute, TAGS)
        elif table == rules.ANNOTATIONS:
            self._note(who, attribute, f"annotation {change}")
        elif table == rules.PROFILES:
            for name in [""] if change in (rules.ADDED, rules.REMOVED) else differing:
                self._note(who, name, FACT)

    def _note(self, who: str, attribute: str, what: str) -> None:
        self._kept.execute("INSERT INTO note VALUES (?, ?, ?)", [who, attribute, what])

    def about(self, comments: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        """Comment, or profile -> (attribute, what was noted)."""
        found: dict[str, list[tuple[str, str]]] = {}
        wanted = json.dumps(list(comments))
        rows = self._kept.execute(
            "SELECT who, attribute, what FROM note WHERE who IN (SELECT value FROM json_each(?))", [wanted]
        )
        with closing(rows):
            for who, attribute, what in rows:
                found.setdefault(who, []).append((attribute, what))
        return found


def known(places: Iterable[Place], notes: Notes, old: Release, new: Release) -> dict[Place, Known]:
    """What is known of each place; the number of queries does not depend on how many there are."""
    wanted = list(places)
    comments = {comment for comment, _ in wanted}
    noted = notes.about(comments)
    rows = Comment.objects.filter(corpus=new.corpus_id, external_id__in=comments)
    state = {
        one: (now, who) for one, now, who in rows.values_list("external_id", "state", "profile__external_id")
    }
    facts = notes.about({who for _, who in state.values() if who})
    since = old.started_at or old.created_at
    until = new.ended_at or new.created_at
    decided = _decisions(new.corpus, comments, since, until)
    edited = _edits(new.corpus, comments, since, until)
    found = {}
    for comment, attribute in wanted:
        now, who = state.get(comment, ("", ""))
        one = Known(
            withdrawn=now == WITHDRAWN,
            fact=_changed(facts.get(who, ()), attribute),
            edit=edited.get(comment, ""),
        )
        one.decision, one.reason = decided.get((comment, attribute), ("", ""))
        for about, what in noted.get(comment, ()):
            if about in ("", attribute):
                _add(one, what)
        found[comment, attribute] = one
    return found


def _changed(noted: Iterable[tuple[str, str]], attribute: str) -> bool:
    """Whether this fact of a profile is another, or the whole profile is new."""
    return any(about in ("", attribute) for about, _ in noted)


def _add(one: Known, what: str) -> None:
    if what in (rules.ADDED, rules.REMOVED):
        one.comment = what
    elif what == TEXT:
        one.text = True
    elif what == TAGS:
        one.tags = True
    elif what == WITHDRAWN:
        one.withdrawn = True
    elif what.startswith("annotation "):
        one.annotations.add(what.removeprefix("annotation "))


def _decisions(
    corpus: Corpus, comments: Iterable[str], since: datetime, until: datetime
) -> dict[Place, tuple[str, str]]:
    """Added or changed, and the reason given: of the latest act in that time."""
    events = DecisionEvent.objects.filter(
        item__comment__corpus=corpus, item__comment__external_id__in=comments, at__gt=since, at__lte=until
    )
    found: dict[Place, tuple[str, str]] = {}
    rows: Any = events.order_by("id").values_list("item__comment__external_id", "attribute", "old", "new")
    for comment, attribute, before, after in rows:
        was, _ = found.get((comment, attribute), ("", ""))
        kind = rules.ADDED if before is None or was == rules.ADDED else rules.CHANGED
        found[comment, attribute] = kind, str((after or {}).get("reason") or "")
    return found


def _edits(corpus: Corpus, comments: Iterable[str], since: datetime, until: datetime) -> dict[str, str]:
    edits = CommentEdit.objects.filter(
        comment__corpus=corpus, comment__external_id__in=comments, at__gt=since, at__lte=until
    )
    return dict(edits.order_by("id").values_list("comment__external_id", "reason"))
