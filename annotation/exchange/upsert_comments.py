"""Comments to rows, with what hangs on them."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.db import connection

from annotation.exchange.copying import reserve_ids
from annotation.exchange.outline import Stored
from annotation.exchange.records import CommentRecord
from annotation.exchange.upsert import Job, Threads, adopt, batches
from annotation.exchange.upsert_labels import store_annotations
from annotation.exchange.upsert_profiles import Authors
from annotation.exchange.upsert_suggestions import Received, store_suggestions
from simulation.models import Comment
from simulation.selectors.sequences import next_sequence

CONTENT = ("thread_id", "parent_id", "profile_id", "author", "username", "text", "depth", "position", "extra")
NEW = ("id", "corpus_id", "external_id", "sequence", *CONTENT)
UPDATED = ("parent", "profile", "author", "username", "text", "original_text", "depth", "position", "extra")
ABOVE = """
WITH RECURSIVE above AS (
    SELECT id, external_id, thread_id, parent_id, extra FROM simulation_comment
    WHERE corpus_id = %s AND external_id = ANY(%s)
  UNION
    SELECT c.id, c.external_id, c.thread_id, c.parent_id, c.extra
    FROM simulation_comment c JOIN above ON c.id = above.parent_id
)
SELECT above.id, above.external_id, t.external_id, p.external_id, above.extra -> 'children'
FROM above
    JOIN simulation_thread t ON t.id = above.thread_id
    LEFT JOIN simulation_comment p ON p.id = above.parent_id
"""


NO_PROFILE = "comments whose author has no profile in the corpus (import the profiles, then this file again)"


class _Writer(NamedTuple):
    """Whose profile has not been found."""

    username: str
    author: str


class CommentStore:
    """Writes the comments of one file, batch by batch; their ids and their parents' are registered first."""

    def __init__(
        self,
        job: Job,
        authors: Authors,
        threads: Threads,
        next_position: Callable[[CommentRecord], int],
    ) -> None:
        self._job = job
        self._authors = authors
        self._threads = threads
        self._next_position = next_position
        self.keys: dict[str, int] = {}
        """External id -> key, of the comments that are registered and those they reply to."""
        self.stored: set[int] = set()
        """Those keys whose comments are in the corpus already."""
        self._unlinked = array("q")
        """Keys of comments without a profile."""
        self._whose = array("q")
        """The place of the writer of each of them among `_writers`."""
        self._writers: dict[_Writer, int] = {}
        self._sequence = next_sequence(job.corpus)

    def register(self, external_ids: Iterable[str], *, all_new: bool = False) -> None:
        """Finds or reserves the keys, so that a reply can be written before its parent.

        `all_new` saves the look-up where the ids cannot be there: those of a tree begin with its thread's.
        """
        mine = Comment.objects.filter(corpus_id=self._job.corpus.pk)
        for batch in batches(external_ids):
            known: dict[str, int] = {}
            if not all_new:
                known = dict(mine.filter(external_id__in=batch).values_list("external_id", "pk"))
            new = [one for one in batch if one not in known] if known else batch
            self.stored.update(known.values())
            self.keys |= known
            self.keys.update(zip(new, reserve_ids(Comment, len(new)), strict=True))

    def forget(self) -> None:
        """The comments registered so far are written, and no later one refers to them."""
        self.keys.clear()
        self.stored.clear()

    def stored_above(self, external_ids: list[str]) -> Iterator[Stored]:
        """Comments of the corpus with these ids, and all above them."""
        with connection.cursor() as cursor:
            cursor.execute(ABOVE, [self._job.corpus.pk, external_ids])
            for key, external_id, thread, parent, children in cursor.fetchall():
                listed = json.loads(children) if children else None
                yield Stored(external_id, thread, parent, listed if isinstance(listed, list) else [], key)

    def store(self, batch: list[CommentRecord]) -> None:
        """Writes one batch. After a problem of the file nothing is written any more, only checked."""
        keys = [self.keys[record.external_id] for record in batch]
        stored = Comment.objects.in_bulk([key for key in keys if key in self.stored]) if self.stored else {}
        profiles = self._authors.link(batch, self._job)
        new, changed, received = [], [], []
        for key, record, profile in zip(keys, batch, profiles, strict=True):
            comment = stored.get(key)
            if comment is None:
                new.append(self._row(key, record, profile))
            elif self._differs(comment, record, profile):
                changed.append(comment)
            else:
                self._job.tallies["comments"].same += 1
            received.append(Received(key, comment is None, record))
            if profile is None:
                writer = _Writer(record.username, record.author)
                self._unlinked.append(key)
                self._whose.append(self._writers.setdefault(writer, len(self._writers)))
        if not self._job.problems.total:
            self._job.insert(Comment, NEW, new, "comments")
            self._job.update(changed, UPDATED, "comments")
            store_suggestions(received, self._job)
            store_annotations(received, self._job)

    def finish(self) -> None:
        """Links comments to profiles that a later row of the file has brought, and counts those without."""
        found = [
            profile for batch in batches(self._writers) for profile in self._authors.again(batch, self._job)
        ]
        late: dict[int, list[int]] = defaultdict(list)
        for key, whose in zip(self._unlinked, self._whose, strict=True):
            if profile := found[whose]:
                late[profile].append(key)
        self._job.before(Comment, [key for keys in late.values() for key in keys])
        for profile, keys in late.items():
            Comment.objects.filter(pk__in=keys).update(profile=profile)
        missing = len(self._unlinked) - sum(len(keys) for keys in late.values())
        if missing:
            self._job.problems.warnings[NO_PROFILE] += missing

    def _content(self, record: CommentRecord, profile: int | None) -> tuple[Any, ...]:
        """The values of CONTENT."""
        return (
            self._threads.keys[record.thread],
            None if record.parent is None else self.keys[record.parent],
            profile,
            record.author,
            record.username,
            record.text,
            record.depth,
            record.position,
            record.extra,
        )

    def _row(self, key: int, record: CommentRecord, profile: int | None) -> tuple[Any, ...]:
        if record.position is None:
            record.position = self._next_position(record)
        sequence, self._sequence = self._sequence, self._sequence + 1
        return (key, self._job.corpus.pk, record.external_id, sequence, *self._content(record, profile))

    def _differs(self, comment: Comment, record: CommentRecord, profile: int | None) -> bool:
        """Brings a stored comment to what the file says; whether that changed it."""
        wanted = dict(zip(CONTENT, self._content(record, profile), strict=True))
        if wanted.pop("thread_id") != comment.thread_id:
            message = f"“{record.external_id}” is in another thread of this corpus; correct id or thread_id"
            record.place.problem("id", message)
            self._job.problems.invalid["comments"] += 1
        if record.position is None:  # the file does not fix it: where the comment is, it stays
            del wanted["position"]
        if comment.original_text:  # edited here: the edit stays, what it was made from follows the source
            wanted["original_text"] = wanted.pop("text")
        return adopt(comment, wanted)
