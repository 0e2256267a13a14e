"""What the rules for artefacts found in a corpus, as the page shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Count, QuerySet
from django.utils import timezone

from simulation.domain.artefacts import RULES, Kind, Rule, end_of_debris, without
from simulation.models import Artefact, AuditEntry, Comment, CommentEdit, Corpus

PAGE = 25
AROUND = 400
"""Code points of a long comment shown on either side of a place."""
SCANNED = "artefacts.scanned"
"""The audit's word for a scan; its latest entry says when a corpus was last looked through."""
STATES = {
    Artefact.OPEN: "open",
    Artefact.CLEARED: "cleared",
    Artefact.EDITED: "edited",
    Artefact.WITHDRAWN: "withdrawn",
    "all": "all",
}


def in_corpus(corpus: Corpus) -> QuerySet[Artefact]:
    return Artefact.objects.filter(comment__corpus=corpus)


def open_in(corpus: Corpus) -> int:
    return in_corpus(corpus).filter(state=Artefact.OPEN).count()


@dataclass(frozen=True)
class RuleCount:
    rule: Rule
    states: Mapping[str, int]

    @property
    def open(self) -> int:
        return self.states.get(Artefact.OPEN, 0)

    @property
    def all(self) -> int:
        return sum(self.states.values())


def by_rule(corpus: Corpus) -> list[tuple[Kind, list[RuleCount]]]:
    """Kind -> its rules with the numbers of findings by state, none among them; one query."""
    counted: dict[str, dict[str, int]] = defaultdict(dict)
    rows = in_corpus(corpus).order_by().values_list("rule", "state").annotate(n=Count("pk"))
    for rule, state, n in rows:
        counted[rule][state] = n
    return [
        (kind, [RuleCount(rule, counted[key]) for key, rule in RULES.items() if rule.kind is kind])
        for kind in Kind
    ]


@dataclass(frozen=True)
class Row:
    """One finding with its comment; `before`, `marked` and `after` are pieces of the text as it is now."""

    artefact: Artefact
    rule: Rule | None
    """None for a rule that is no more."""
    before: str
    marked: str
    after: str
    cut: str
    """The text without the place, as a proposal; empty where nothing would be left."""
    labelled: bool = False
    """People have labelled the comment."""
    held: bool = False
    """Somebody has the comment open to label it."""
    also: Sequence[str] = ()
    """Names of other rules with an open finding at the same place."""
    edits: Sequence[CommentEdit] = field(default_factory=tuple)

    @property
    def comment(self) -> Comment:
        return self.artefact.comment

    @property
    def name(self) -> str:
        return self.rule.name if self.rule else self.artefact.rule


@dataclass(frozen=True)
class Page:
    rows: Sequence[Row]
    after: str = ""
    """Mark to continue behind; empty on the last page."""
    before: str = ""
    """Mark to go back to; empty on the first page."""


def page(corpus: Corpus, *, rule: str = "", state: str = "open", after: str = "", before: str = "") -> Page:
    """One page of findings in the order in which they were found; seven queries at most, however long."""
    found = in_corpus(corpus)
    if rule:
        found = found.filter(rule=rule)
    if state in dict(Artefact.STATES):
        found = found.filter(state=state)
    place = _place(corpus, after or before)
    backwards = bool(before and place and not after)
    if place:
        found = found.filter(pk__lt=place) if backwards else found.filter(pk__gt=place)
    found = found.select_related("comment__thread", "comment__profile", "decided_by")
    kept = list(found.order_by("-pk" if backwards else "pk")[: PAGE + 1])
    more = len(kept) > PAGE
    kept = kept[:PAGE][::-1] if backwards else kept[:PAGE]
    has_after, has_before = (True, more) if backwards else (more, bool(place))
    return Page(
        rows=rows(kept),
        after=kept[-1].public_id if kept and has_after else "",
        before=kept[0].public_id if kept and has_before else "",
    )


def _place(corpus: Corpus, mark: str) -> int:
    if not mark:
        return 0
    found = in_corpus(corpus).filter(public_id=mark).values_list("pk", flat=True).first()
    return found or 0


def labelled(comments: Sequence[int]) -> set[int]:
    """Those of these comments that carry labels."""
    own = Comment.objects.filter(pk__in=comments, annotations__isnull=False)
    return set(own.values_list("pk", flat=True))


def held(comments: Sequence[int]) -> set[int]:
    """Those of these comments that somebody is labelling now: their lease has not ended."""
    leases = Comment.objects.filter(
        pk__in=comments, items__slots__state="leased", items__slots__leased_until__gt=timezone.now()
    )
    return set(leases.values_list("pk", flat=True))


def rows(artefacts: Sequence[Artefact]) -> list[Row]:
    """These findings as rows, in four queries."""
    comments = [one.comment_id for one in artefacts]
    edits: dict[int, list[CommentEdit]] = defaultdict(list)
    for edit in CommentEdit.objects.filter(comment__in=comments).select_related("by").order_by("pk"):
        edits[edit.comment_id].append(edit)
    others: dict[int, list[Artefact]] = defaultdict(list)
    for one in Artefact.objects.filter(comment__in=comments, state=Artefact.OPEN).order_by("start", "pk"):
        others[one.comment_id].append(one)
    with_labels, in_hand = labelled(comments), held(comments)
    return [
        replace(
            _row(one, others[one.comment_id], edits[one.comment_id]),
            labelled=one.comment_id in with_labels,
            held=one.comment_id in in_hand,
        )
        for one in artefacts
    ]


def _row(artefact: Artefact, others: Sequence[Artefact], edits: Sequence[CommentEdit]) -> Row:
    text = artefact.comment.text
    there = text[artefact.start : artefact.end]
    # Where the text was changed since, no place of it is marked.
    stands = bool(there) and there.startswith(artefact.excerpt)
    rule = RULES.get(artefact.rule)
    if not stands:
        return Row(artefact, rule, _begin(text), "", "", "", edits=edits)
    beside = [one for one in others if one.pk != artefact.pk and one.start < artefact.end]
    beside = [one for one in beside if artefact.start < one.end]
    before, after = text[: artefact.start], text[artefact.end :]
    return Row(
        artefact,
        rule,
        before=("…" + before[-AROUND:]) if len(before) > AROUND else before,
        marked=there if len(there) <= 2 * AROUND else f"{there[:AROUND]} […] {there[-AROUND:]}",
        after=_begin(after),
        cut=without(text, artefact.start, end_of_debris(text, artefact.rule, artefact.end)),
        edits=edits,
        also=[RULES[one.rule].name for one in beside if one.rule in RULES],
    )


def _begin(text: str) -> str:
    return text if len(text) <= AROUND else text[:AROUND] + "…"


def last_scan(corpus: Corpus) -> AuditEntry | None:
    """When the corpus was last looked through, by whom, and how many comments it had then."""
    scans = AuditEntry.objects.filter(action=SCANNED, corpus_id_text=corpus.public_id)
    return scans.select_related("actor").order_by("-at", "-id").first()
