"""Profiles to rows, and comments to their authors' profiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from django.db.models import Q

from annotation.exchange.copying import reserve_ids
from annotation.exchange.problems import Place
from annotation.exchange.profiles import profile_json, read_profile
from annotation.exchange.records import CommentRecord, ProfileRecord
from annotation.exchange.sameness import alike
from annotation.exchange.upsert import Job, adopt, batches
from simulation.models import Profile

CONTENT = ("username", "facts", "style", "extra")
NEW = ("id", "corpus_id", "external_id", *CONTENT)
REMEMBERED = 10_000


def store_profiles(records: Iterable[ProfileRecord], job: Job) -> None:
    for batch in batches(records):
        mine = Profile.objects.filter(corpus_id=job.corpus.pk)
        ids, names = [one.external_id for one in batch], [one.username for one in batch]
        stored = {profile.external_id: profile for profile in mine.filter(external_id__in=ids)}
        holders = dict(mine.filter(username__in=names).values_list("username", "external_id"))
        new, changed = [], []
        for record in batch:
            holder = holders.get(record.username, record.external_id)
            if holder != record.external_id:
                message = f"“{record.username}” is {holder} in this corpus; a username is one author's"
                record.place.problem("username", message)
                job.problems.invalid["profiles"] += 1
                continue
            profile = stored.get(record.external_id)
            if profile is None:
                new.append(record)
            elif adopt(profile, _content(record)):
                profile.version += 1
                changed.append(profile)
            else:
                job.tallies["profiles"].same += 1
        _insert(new, job)
        job.update(changed, [*CONTENT, "version"], "profiles")


def _content(record: ProfileRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in CONTENT}


def _insert(records: list[ProfileRecord], job: Job) -> list[int]:
    """Writes new profiles; returns their keys."""
    keys = reserve_ids(Profile, len(records))
    rows = [
        (key, job.corpus.pk, record.external_id, *_content(record).values())
        for key, record in zip(keys, records, strict=True)
    ]
    job.insert(Profile, NEW, rows, "profiles")
    return keys


class Named(Protocol):
    """What says whose a comment is."""

    @property
    def username(self) -> str: ...
    @property
    def author(self) -> str: ...


class Authors:
    """The profiles that comments are linked to: by username, else by the author's id.

    An author whom the corpus does not know yet gets the profile that the comment carries. A comment whose
    profile is another than the stored one keeps its own in `extra["profile"]`.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Profile] = {}
        self._by_id: dict[str, Profile] = {}
        self._contents: dict[int, dict[str, Any]] = {}
        self._counted: set[int] = set()

    def link(self, batch: list[CommentRecord], job: Job) -> list[int | None]:
        """The key of each comment's profile, None where there is none."""
        self._look_up(batch, job)
        self._create(batch, job)
        found = [self._find(record) for record in batch]
        for record, profile in zip(batch, found, strict=True):
            self._refuse_two(record)
            if profile and record.profile is not None:
                self._compare(record, record.profile, profile, job)
        return [profile.pk if profile else None for profile in found]

    def again(self, batch: Sequence[Named], job: Job) -> list[int | None]:
        """As `link`, for comments without a profile at first: a later one may have brought it."""
        self._look_up(batch, job)
        found = [self._find(one) for one in batch]
        return [profile.pk if profile else None for profile in found]

    def _look_up(self, batch: Sequence[Named], job: Job) -> None:
        """Remembers the profiles of new names; a missing one is asked for again, as others may add it."""
        if len(self._by_id) > REMEMBERED:
            for known in (self._by_name, self._by_id, self._contents):
                known.clear()
        names = {record.username for record in batch} - self._by_name.keys()
        ids = {record.author or record.username for record in batch} - self._by_id.keys()
        if names or ids:
            wanted = Q(username__in=names) | Q(external_id__in=ids)
            for profile in Profile.objects.filter(wanted, corpus_id=job.corpus.pk):
                self._remember(profile)

    def _remember(self, profile: Profile) -> None:
        self._by_name[profile.username] = profile
        self._by_id[profile.external_id] = profile

    def _find(self, one: Named) -> Profile | None:
        return self._by_name.get(one.username) or self._by_id.get(one.author or one.username)

    def _refuse_two(self, record: CommentRecord) -> None:
        """Reports a comment whose username is one author's, and whose author is another."""
        named = self._by_name.get(record.username)
        known = self._by_id.get(record.author)
        if named and known and named.external_id != known.external_id:
            message = f"in this corpus {known.external_id} is “{known.username}”, and “{named.username}” is"
            record.place.problem("author", f"{message} {named.external_id}; correct author or username")
            record.place.problems.invalid["comments"] += 1

    def _create(self, batch: list[CommentRecord], job: Job) -> None:
        """Makes the profiles of unknown authors; the first comment of an author that has one brings it."""
        new: list[ProfileRecord] = []
        made: list[Profile] = []
        for record in batch:
            if not record.profile or self._find(record):
                continue
            place = Place(job.problems, record.place.line)
            read = read_profile(
                record.author or record.username, record.profile, place, known_as=record.username
            )
            if read:
                profile = Profile(external_id=read.external_id, **_content(read))
                self._remember(profile)
                new.append(read)
                made.append(profile)
        for profile, key in zip(made, _insert(new, job), strict=True):
            profile.pk = key
            self._counted.add(key)

    def _compare(self, record: CommentRecord, given: dict[str, Any], profile: Profile, job: Job) -> None:
        content = self._contents.get(profile.pk)
        if content is None:
            content = profile_json(profile.facts, profile.style, profile.username, profile.extra)
            self._contents[profile.pk] = content
        if not alike(content, given):
            record.extra["profile"] = given
        if profile.pk not in self._counted:
            self._counted.add(profile.pk)
            job.tallies["profiles"].same += 1
