"""Artefacts: comments are looked through, and a person edits, withdraws or clears what was found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from simulation.domain.artefacts import RULES, Found, find, first_of_each
from simulation.models import Artefact, Comment, CommentEdit, Corpus, User
from simulation.selectors.artefacts import SCANNED, held, labelled
from simulation.services import audit

BATCH = 500
EXCERPT = 300
LONGEST_TEXT = 10_000


class Refused(ValueError):
    """Nothing was done; the text says why and what to do."""


class Conflict(Refused):
    """The comment, or the number of findings, is not what the person saw any more."""


class Labelled(Refused):
    """The comment carries labels; it is only edited when that is said expressly."""


class Held(Labelled):
    """Somebody has the comment on the screen to label it; the same."""


@dataclass
class Counts:
    comments: int = 0
    found: int = 0
    """New findings, and those that are open again because the text was changed."""
    gone: int = 0
    """Open ones whose text was changed elsewhere, so that the rule finds nothing any more."""
    open: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    """Rule -> open findings."""


def scan_corpus(
    corpus: Corpus, *, by: User | None = None, progress: Callable[[int], object] | None = None
) -> Counts:
    """Looks through all active comments of a corpus; done twice, the second finds nothing new.

    What somebody cleared is not reported again. An open finding follows its text when that was changed.
    `progress` is told after each part how many comments it had.
    """
    counts = Counts()
    comments = Comment.objects.filter(corpus=corpus, state="active").order_by("sequence", "pk")
    rows = comments.values_list("pk", "text", "username", "profile__facts").iterator(chunk_size=BATCH)
    for batch in _batches(rows):
        hits = {pk: first_of_each(find(text, facts or {}, username)) for pk, text, username, facts in batch}
        _store(hits, {pk: text for pk, text, _, _ in batch}, counts)
        counts.comments += len(batch)
        if progress:
            progress(len(batch))
    with transaction.atomic():
        still = Artefact.objects.filter(comment__corpus=corpus, state=Artefact.OPEN)
        still.filter(comment__state="withdrawn").update(state=Artefact.WITHDRAWN)
        counts.rules = dict(Counter(still.values_list("rule", flat=True)))
        counts.open = sum(counts.rules.values())
        details = {"comments": counts.comments, "found": counts.found, "open": counts.open}
        audit.record(by=by, action=SCANNED, target=corpus, corpus=corpus, details=details)
    return counts


def scan(*, corpus_id: int, by_id: int | None) -> Counts | None:
    """The same by keys, for a worker; None for a corpus that is gone or in the trash."""
    corpus = Corpus.objects.filter(pk=corpus_id, trashed_at=None).first()
    if corpus is None:
        return None
    return scan_corpus(corpus, by=User.objects.filter(pk=by_id).first() if by_id else None)


def _batches(rows: Iterator[tuple[int, str, str, Any]]) -> Iterator[list[tuple[int, str, str, Any]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


@transaction.atomic
def _store(hits: Mapping[int, Sequence[Found]], texts: Mapping[int, str], counts: Counts) -> None:
    """Brings the findings of a batch of comments in line with what the rules say of their texts."""
    known: dict[int, dict[str, Artefact]] = defaultdict(dict)
    for old in Artefact.objects.select_for_update(no_key=True).filter(comment__in=list(hits)).order_by("pk"):
        known[old.comment_id][old.rule] = old
    new, changed = [], []
    for pk, found in hits.items():
        for hit in found:
            fresh = _finding(pk, texts[pk], hit)
            old_one = known[pk].pop(hit.rule, None)
            if old_one is None:
                new.append(fresh)
            elif _follow(old_one, fresh):
                changed.append(old_one)
                counts.found += old_one.state != Artefact.OPEN
                old_one.state = Artefact.OPEN
        for rest in known[pk].values():
            if rest.state == Artefact.OPEN:
                rest.state, rest.decided_at = Artefact.EDITED, timezone.now()
                changed.append(rest)
                counts.gone += 1
    counts.found += len(new)
    Artefact.objects.bulk_create(new, ignore_conflicts=True)
    Artefact.objects.bulk_update(
        changed, ["start", "end", "excerpt", "state", "decided_at", "decided_by"], batch_size=BATCH
    )


def _finding(comment: int, text: str, hit: Found) -> Artefact:
    excerpt = text[hit.start : hit.end][:EXCERPT]
    return Artefact(comment_id=comment, rule=hit.rule, start=hit.start, end=hit.end, excerpt=excerpt)


def _follow(old: Artefact, fresh: Artefact) -> bool:
    """Moves a finding to where its rule hits now; whether anything of it changed. Cleared ones stay."""
    if old.state == Artefact.CLEARED:
        return False
    same = (old.start, old.end, old.excerpt) == (fresh.start, fresh.end, fresh.excerpt)
    if old.state == Artefact.OPEN and same:
        return False
    old.start, old.end, old.excerpt = fresh.start, fresh.end, fresh.excerpt
    if old.state != Artefact.OPEN:
        old.decided_by, old.decided_at = None, None
    return True


def scan_comment(comment: Comment, facts: Mapping[str, Any] | None = None) -> int:
    """Looks at a comment just written, with the author's `facts`; how many rules hit.

    One insert if any does, no query for clean text. For comments without findings yet: call it in the
    transaction that writes them.
    """
    hits = first_of_each(find(comment.text, facts or {}, comment.username))
    if hits:
        new = [_finding(comment.pk, comment.text, hit) for hit in hits]
        Artefact.objects.bulk_create(new, ignore_conflicts=True)
    return len(hits)


@transaction.atomic
def edit(
    *, by: User, comment: Comment, text: str, expected_text: str, reason: str = "", force: bool = False
) -> CommentEdit:
    """Gives a comment another text; the first one is kept in `original_text`, every change in its edits.

    `expected_text` is what the person had in front of them. Raises Conflict when the comment says something
    else by now, Labelled for one that people have labelled and Held for one that somebody is labelling now,
    both unless `force`, Refused for a withdrawn comment and for an empty, endless or unchanged text. Labels,
    suggestions and their quotes stay as they are.
    """
    locked = Comment.objects.select_for_update(no_key=True).get(pk=comment.pk)
    if locked.state == "withdrawn":
        raise Refused("This comment is withdrawn. Take it back first, then edit it; nothing was changed.")
    new, seen = (_lines(one).strip() for one in (text, expected_text))
    if _lines(locked.text).strip() != seen:
        raise Conflict("Somebody changed this comment meanwhile. Look at its text now, and edit it again.")
    if not new:
        raise Refused("A comment cannot be empty: withdraw it instead.")
    if len(new) > LONGEST_TEXT:
        raise Refused(f"At most {LONGEST_TEXT:,} characters; this has {len(new):,}.")
    if "\x00" in new:
        raise Refused("The text holds a sign that cannot be stored; type it again.")
    if new == seen:
        raise Refused("The text is the same as before. Clear the finding if it is fine.")
    if not force:
        _refuse_in_use(locked)
    change = CommentEdit.objects.create(
        comment=locked, before=locked.text, after=new, reason=reason.strip()[:300], by=by
    )
    locked.original_text, locked.text = locked.original_text or locked.text, new
    locked.save(update_fields=["original_text", "text"])
    found = Artefact.objects.filter(comment=locked, state=Artefact.OPEN)
    n = _decide(found, by, Artefact.EDITED)
    details = {"findings": n, "signs": len(new) - len(change.before), "labelled": force}
    audit.record(by=by, action="comment.edited", target=locked, corpus=locked.corpus, details=details)
    return change


def _refuse_in_use(comment: Comment) -> None:
    """Raises Labelled or Held where a new text would pull the old one from under somebody's labels."""
    if labelled([comment.pk]):
        raise Labelled(
            "People have labelled this comment, and the words they quoted may not be in the new text."
            " Nothing was changed. Tick the box to edit it all the same; their labels stay as they are."
        )
    if held([comment.pk]):
        raise Held(
            "Somebody has this comment open to label it, and would label the text as it was."
            " Nothing was changed. Wait until they are done, or tick the box to edit it all the same."
        )


def _lines(text: str) -> str:
    """A form sends line ends in its own way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@transaction.atomic
def withdraw(*, by: User, comments: QuerySet[Comment]) -> int:
    """Takes active comments out of the corpus' work and closes their findings; how many. Labels stay.

    No queue hands a withdrawn comment out from now on, and exports leave it out.
    """
    keys = list(comments.order_by("pk").values_list("pk", flat=True))
    done = Comment.objects.filter(pk__in=keys, state="active").update(state="withdrawn")
    _decide(Artefact.objects.filter(comment__in=keys, state=Artefact.OPEN), by, Artefact.WITHDRAWN)
    _write_down(by, "comments.withdrawn", keys, done)
    return done


@transaction.atomic
def restore(*, by: User, comments: QuerySet[Comment]) -> int:
    """Takes withdrawals back; what was found in these comments is open again."""
    keys = list(comments.filter(state="withdrawn").order_by("pk").values_list("pk", flat=True))
    done = Comment.objects.filter(pk__in=keys, state="withdrawn").update(state="active")
    closed = Artefact.objects.filter(comment__in=keys, state=Artefact.WITHDRAWN)
    closed.update(state=Artefact.OPEN, decided_by=None, decided_at=None)
    _write_down(by, "comments.restored", keys, done)
    return done


def _write_down(by: User, action: str, keys: Sequence[int], done: int) -> None:
    if not done:
        return
    corpora = Corpus.objects.filter(comments__in=keys).distinct()
    for corpus in corpora:
        details = {"comments": done, "chosen_by": "artefacts"}
        audit.record(by=by, action=action, target=corpus, corpus=corpus, details=details)


@transaction.atomic
def clear(*, by: User, artefacts: QuerySet[Artefact]) -> int:
    """Says of open findings that nothing is wrong: they are not reported again. How many."""
    return _turn(by, artefacts.filter(state=Artefact.OPEN), Artefact.CLEARED, "artefacts.cleared")


@transaction.atomic
def reopen(*, by: User, artefacts: QuerySet[Artefact]) -> int:
    """Takes clearances back."""
    return _turn(by, artefacts.filter(state=Artefact.CLEARED), Artefact.OPEN, "artefacts.reopened")


def _turn(by: User, artefacts: QuerySet[Artefact], state: str, action: str) -> int:
    rows = list(artefacts.order_by("pk").values_list("pk", "rule", "comment__corpus"))
    done = _decide(Artefact.objects.filter(pk__in=[pk for pk, _, _ in rows]), by, state)
    for corpus in Corpus.objects.filter(pk__in={corpus for _, _, corpus in rows}):
        rules = Counter(rule for _, rule, own in rows if own == corpus.pk)
        audit.record(by=by, action=action, target=corpus, corpus=corpus, details={"findings": dict(rules)})
    return done


def _decide(artefacts: QuerySet[Artefact], by: User, state: str) -> int:
    if state == Artefact.OPEN:
        return artefacts.update(state=state, decided_by=None, decided_at=None)
    return artefacts.update(state=state, decided_by=by, decided_at=timezone.now())


@transaction.atomic
def all_of_rule(*, by: User, corpus: Corpus, rule: str, act: str, expected: int) -> int:
    """Clears the open findings of one rule, or withdraws their comments (`act`); how many findings.

    `expected` is the number that the person was told. Raises Conflict when it is another by now, Refused for
    a rule or an act that is not on the list.
    """
    if rule not in RULES or act not in ("clear", "withdraw"):
        raise Refused("Choose a rule, and whether to clear or to withdraw.")
    found = Artefact.objects.filter(comment__corpus=corpus, rule=rule, state=Artefact.OPEN)
    keys = list(found.select_for_update(no_key=True, of=("self",)).values_list("pk", "comment"))
    if len(keys) != expected:
        raise Conflict(f"There are {len(keys):,} open findings of this rule now, not {expected:,}.")
    if act == "clear":
        return clear(by=by, artefacts=Artefact.objects.filter(pk__in=_first(keys)))
    withdraw(by=by, comments=Comment.objects.filter(pk__in={comment for _, comment in keys}))
    return len(keys)


def _first(pairs: Iterable[tuple[int, int]]) -> list[int]:
    return [one for one, _ in pairs]
