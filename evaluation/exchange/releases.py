"""A release is asked for: what it would hold, and every reason for which it cannot be made so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from evaluation.domain.releasing import BadQuery, Query
from evaluation.exchange import release_files
from evaluation.models import Release
from evaluation.services.releases import Refused
from simulation.models import Corpus, User
from simulation.services import audit

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
LONGEST_NAME, LONGEST_TITLE, LONGEST_LICENCE, LONGEST_DESCRIPTION = 40, 120, 80, 20_000
MOST_PEOPLE = 100
WORDS = {
    "include_withdrawn": "withdrawn comments, too",
    "sources": "only some sources",
    "threads": "only some threads",
    "profiles": "only some authors",
    "queues": "only comments of some queues",
    "reviewed_only": "only comments that somebody has reviewed",
    "min_words": "only comments of so many words",
    "attributes": "only some attributes",
}
"""What the filters of a query do, in words, in the order in which a preview applies them."""
LEFT = "left:"
"""Before a filter's name: how many comments it leaves."""


@dataclass(frozen=True)
class Stage:
    """How many comments are left when one more filter is applied."""

    words: str
    comments: int


@dataclass(frozen=True)
class Preview:
    """What a release would hold, and what each filter leaves: all first, then filter by filter."""

    counts: Mapping[str, int]
    stages: Sequence[Stage]
    unlabelled_by: str = ""
    """The filter that took the last label, where comments are left but no label."""

    @property
    def is_empty(self) -> bool:
        return not self.counts.get("comments")

    @property
    def emptied_by(self) -> str:
        """The first filter behind which no comment was left; "" where some are, or none ever was."""
        if not self.is_empty or not self.stages[0].comments:
            return ""
        return next((stage.words for stage in self.stages if not stage.comments), "")


def preview(corpus: Corpus, *, query: Mapping[str, Any], policy: str, agreeing: int | None = None) -> Preview:
    """Counts, and what each filter leaves. Raises Refused."""
    wanted, people = _query(query), _people(policy, agreeing)
    found = release_files.counts(corpus, wanted, policy, people)
    held = {name: n for name, n in found.items() if not name.startswith(LEFT)}
    set_ = [name for name in WORDS if getattr(wanted, name) != getattr(Query(), name)]
    stages = [Stage("everything", found.get(f"{LEFT}all", held["comments"]))]
    kept = found.get(f"{LEFT}include_withdrawn", stages[0].comments)
    if kept < stages[0].comments:
        stages.append(Stage("without withdrawn comments", kept))
    stages += [Stage(WORDS[name], found[LEFT + name]) for name in set_ if LEFT + name in found]
    unlabelled = ""
    if set_ and held["comments"] and not held["labels"]:
        unlabelled = _unlabelled(corpus, wanted, set_, policy, people)
    return Preview(held, stages, unlabelled)


def _unlabelled(corpus: Corpus, wanted: Query, set_: list[str], policy: str, people: int | None) -> str:
    """The first filter behind which no label is left, in words; "" where there never was one."""
    so_far = Query()
    if not release_files.counts(corpus, so_far, policy, people)["labels"]:
        return ""
    for name in set_:
        so_far = replace(so_far, **{name: getattr(wanted, name)})
        if not release_files.counts(corpus, so_far, policy, people)["labels"]:
            return WORDS[name]
    return ""


def ask(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    title: str = "",
    description: str = "",
    licence: str = "",
    query: Mapping[str, Any] | None = None,
    policy: str = Release.ADJUDICATED,
    agreeing: int | None = None,
) -> Release:
    """A release in state queued; the caller tells the worker (`tasks.make_release`).

    `query` is as `Query.to_json` writes it. Raises Refused, which names the field; nothing is changed then.
    """
    given = {"title": title.strip(), "description": _lines(description), "licence": licence.strip()}
    name = _name(name)
    for field, most in (
        ("title", LONGEST_TITLE),
        ("description", LONGEST_DESCRIPTION),
        ("licence", LONGEST_LICENCE),
    ):
        _check(field, given[field], most)
    found = preview(corpus, query=query or {}, policy=policy, agreeing=agreeing)
    if found.is_empty:
        raise Refused("", empty_words(found))
    with transaction.atomic():
        Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)  # who presses twice waits here
        if there := Release.objects.filter(corpus=corpus, name=name).first():
            raise Refused("name", _taken(there))
        made = Release.objects.create(
            corpus=corpus,
            by=by,
            name=name,
            title=given["title"] or corpus.name,
            description=given["description"] or corpus.description,
            licence=given["licence"] or corpus.licence,
            query=_query(query or {}).to_json(),
            policy=policy,
            agreeing=_people(policy, agreeing),
        )
        details = {"policy": policy, "query": made.query}
        audit.record(by=by, action="release.asked", target=made, corpus=corpus, details=details)
    return made


def empty_words(found: Preview) -> str:
    """Why a release would be empty."""
    if filter_ := found.emptied_by:
        return f"No comment is left: the filter “{filter_}” took the last. Choose less narrowly."
    return "There is no comment to release: import or simulate comments first."


def again(release: Release, *, by: User | None) -> Release:
    """A failed release, queued once more; the caller tells the worker. Raises Refused for any other."""
    with transaction.atomic():
        now = _failed(release)
        now.state, now.reason, now.attempts, now.started_at, now.ended_at = Release.QUEUED, "", 0, None, None
        now.save(update_fields=["state", "reason", "attempts", "started_at", "ended_at"])
        audit.record(by=by, action="release.asked_again", target=now, corpus=now.corpus)
    return now


def discard(release: Release, *, by: User | None) -> None:
    """Removes a failed release: its name is free again. Raises Refused for any other."""
    with transaction.atomic():
        now = _failed(release)
        audit.record(by=by, action="release.discarded", target=now, corpus=now.corpus)
        now.delete()


def _failed(release: Release) -> Release:
    locked = Release.objects.select_for_update(of=("self",)).select_related("corpus")
    now = locked.filter(pk=release.pk).first()
    if now is None or now.state != Release.FAILED:
        said = now.state if now else "gone"
        raise Refused(
            "", f"Release {release.name} is {said}: this can be done only with one that has failed."
        )
    return now


def _name(name: str) -> str:
    plain = name.strip()
    if not plain:
        raise Refused("name", "Say under which name it is cited, such as 1.0 or 2026-12.")
    if len(plain) > LONGEST_NAME or not NAME.fullmatch(plain):
        raise Refused(
            "name",
            f"A name has at most {LONGEST_NAME} letters, digits, and . _ + - between them, such as 1.0: it is"
            " part of file names.",
        )
    return plain


def _taken(there: Release) -> str:
    if there.state == Release.FAILED:
        return f"Release {there.name} was asked for and failed: try that one again, or discard it."
    return f"There is a release {there.name} of this corpus already; choose another name."


def _check(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Refused(field, f"It has {len(text)} characters; at most {most} are kept.")
    allowed = "\n\t" if field == "description" else ""
    if any(not sign.isprintable() for sign in text if sign not in allowed):
        raise Refused(field, "It contains a sign that cannot be printed; remove it.")


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _query(given: Mapping[str, Any]) -> Query:
    try:
        return Query.from_json(dict(given))
    except BadQuery as error:
        raise Refused(f"query.{error.field}" if error.field else "query", str(error)) from None


def _people(policy: str, agreeing: int | None) -> int | None:
    """How many people the policy asks for. Raises Refused."""
    if policy not in dict(Release.POLICIES):
        raise Refused(
            "policy",
            f"There is no policy “{policy[:40]}”: choose one of {', '.join(dict(Release.POLICIES))}.",
        )
    if policy != Release.AGREEING:
        if agreeing is not None:
            raise Refused("agreeing", f"The policy {policy} asks for no number of people; leave it empty.")
        return None
    if agreeing is None:
        raise Refused("agreeing", "Say how many people must say the same.")
    if not 1 <= agreeing <= MOST_PEOPLE:
        raise Refused("agreeing", f"A number from 1 to {MOST_PEOPLE}.")
    return agreeing
