"""One author's comments and labels together. Nothing of a profile is asked: the truth stays where it is."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from annotation.domain.labels import State
from annotation.domain.rollup import Claim, Rollup, roll_up
from annotation.models import AttributeLabel, Decision, Flag, Item, Slot
from simulation.domain.attributes import TARGET_KEYS, TARGETS, Attribute
from simulation.models import Comment, Corpus

AT_A_GLANCE = 8
"""So many labels of an attribute are shown at once; of more, those that matter, and the rest folded."""


def by_author(comment: Comment) -> QuerySet[Comment]:
    """All comments by the author of `comment` in its corpus, in the corpus' order."""
    same = Comment.objects.filter(corpus_id=comment.corpus_id, username=comment.username)
    return same.select_related("thread").order_by("sequence", "pk")


def page(comment: Comment, *, after: str, size: int) -> list[Comment]:
    """Up to `size` + 1 comments by the author behind the one with public id `after`; the extra one says that
    there are more. An unknown `after` is the first page."""
    found = by_author(comment)
    last = found.filter(public_id=after).first() if after else None
    if last:
        behind = Q(sequence__gt=last.sequence) | Q(sequence=last.sequence, pk__gt=last.pk)
        found = found.filter(behind, sequence__gte=last.sequence)
    return list(found[: size + 1])


def others(comment: Comment, *, size: int) -> list[Comment]:
    """Up to `size` + 1 other comments by the author."""
    return list(by_author(comment).exclude(pk=comment.pk)[: size + 1])


@dataclass(frozen=True)
class Line:
    """A label or decision about one comment. `annotation` is a public id, empty for a decision."""

    attribute: str
    comment: Comment
    item: Item | None
    state: str
    value: str
    hardness: int | None
    certainty: int | None
    who: str
    is_imported: bool = False
    annotation: str = ""
    left_out: str = ""
    """Why it does not count: "decided" (a decision stands in its place) or "extra" (came too many)."""
    is_source: bool = False
    against: str = ""
    """The value that it contradicts; empty: it fits."""
    is_flagged: bool = False
    waits: bool = False
    """A slot of its item is open or held: somebody else is going to answer."""

    @property
    def counts(self) -> bool:
        return not self.left_out and self.state == State.VALUE

    @property
    def is_decision(self) -> bool:
        return not self.annotation


@dataclass(frozen=True)
class Section:
    """What was said of an author about one attribute."""

    attribute: Attribute
    rollup: Rollup | None
    source: Line | None
    lines: tuple[Line, ...]

    @property
    def odd(self) -> int:
        return sum(bool(line.against) for line in self.lines)

    @property
    def odd_in_no_queue(self) -> int:
        """Odd labels that an import brought: they have to be put into a queue to be looked at again."""
        return sum(bool(line.against) and line.item is None for line in self.lines)

    @property
    def shown(self) -> tuple[Line, ...]:
        """The odd ones first, then the roll-up's own, then the clearest of the rest."""
        return self._ordered[: max(AT_A_GLANCE, self.odd + 1)]

    @property
    def folded(self) -> tuple[Line, ...]:
        return self._ordered[len(self.shown) :]

    @property
    def _ordered(self) -> tuple[Line, ...]:
        return tuple(
            sorted(
                self.lines,
                key=lambda line: (not line.against, not line.is_source, not line.counts, line.hardness or 6),
            )
        )


def sections(comment: Comment) -> list[Section]:
    """Everything people said about the author of `comment`, by attribute; attributes without a word are left
    out. Three queries.

    The decision on an item stands in place of the labels of that item, and an answer that came too many does
    not count; both are in the lines all the same.
    """
    lines: dict[str, list[Line]] = defaultdict(list)
    decided = set()
    for line in _decisions(comment):
        assert line.item is not None  # decisions are made on items
        decided.add((line.item.pk, line.attribute))
        lines[line.attribute].append(line)
    for line in _labels(comment):
        if line.item and (line.item.pk, line.attribute) in decided:
            line = replace(line, left_out="decided")
        lines[line.attribute].append(line)
    items = {line.item.pk for said in lines.values() for line in said if line.item}
    flagged = set(Flag.objects.filter(item__in=items, resolved_at=None).values_list("item", "attribute"))
    return [
        _section(attribute, lines[attribute.key], flagged) for attribute in TARGETS if lines[attribute.key]
    ]


def _decisions(comment: Comment) -> Iterable[Line]:
    found = _decided(comment.corpus_id, [comment.username])
    for row in found.select_related("item__queue", "item__comment", "by"):
        yield Line(
            row.attribute,
            row.item.comment,
            row.item,
            row.state,
            row.value,
            row.hardness,
            row.certainty,
            row.by.username,
        )


def _labels(comment: Comment) -> Iterable[Line]:
    waits = Slot.objects.filter(item=OuterRef("annotation__item"), state__in=(Slot.OPEN, Slot.LEASED))
    found = _values(comment.corpus_id, [comment.username]).select_related(
        "annotation__item__queue", "annotation__comment", "annotation__person"
    )
    for row in found.annotate(waits=Exists(waits)):
        one = row.annotation
        yield Line(
            row.attribute,
            one.comment,
            one.item,
            row.state,
            row.value,
            row.hardness,
            row.certainty,
            one.person.username if one.person else one.reviewer,
            is_imported=one.person is None,
            annotation=one.public_id,
            left_out="extra" if one.over_quota else "",
            waits=row.waits,
        )


def _decided(corpus: int, usernames: Sequence[str]) -> QuerySet[Decision]:
    return Decision.objects.filter(
        item__comment__corpus=corpus,
        item__comment__username__in=usernames,
        item__queue__trashed_at=None,
        attribute__in=TARGET_KEYS,
    ).order_by("pk")


def _values(corpus: int, usernames: Sequence[str]) -> QuerySet[AttributeLabel]:
    """Labels with a value, in the corpus' order."""
    return AttributeLabel.objects.filter(
        Q(annotation__item=None) | Q(annotation__item__queue__trashed_at=None),
        annotation__comment__corpus=corpus,
        annotation__comment__username__in=usernames,
        state=State.VALUE,
        attribute__in=TARGET_KEYS,
    ).order_by("annotation__comment__sequence", "annotation__comment", "annotation")


def _section(attribute: Attribute, lines: list[Line], flagged: set[tuple[int, str]]) -> Section:
    lines.sort(key=lambda line: (line.comment.sequence, line.comment.pk))
    counted = [place for place, line in enumerate(lines) if line.counts]
    found = roll_up(attribute, [Claim(lines[place].value, lines[place].hardness) for place in counted])
    if found:
        source = counted[found.source]
        lines[source] = replace(lines[source], is_source=True)
        for place, against in zip(found.odd, found.against, strict=True):
            odd = lines[counted[place]]
            asked = odd.item is not None and bool(flagged & {(odd.item.pk, attribute.key), (odd.item.pk, "")})
            lines[counted[place]] = replace(odd, against=against, is_flagged=asked)
    return Section(attribute, found, next((line for line in lines if line.is_source), None), tuple(lines))


@dataclass(frozen=True)
class Author:
    """One author in the list: `first` is the public id of a comment, `odd` the number of odd labels of each
    contradicted attribute."""

    username: str
    first: str
    comments: int
    labels: int
    odd: Sequence[tuple[Attribute, int]]


def in_corpus(corpus: Corpus, *, after: str | None, size: int) -> tuple[list[Author], bool]:
    """Up to `size` authors of a corpus behind the name `after`, and whether there are more. Four queries;
    contradictions are looked for among the labels of these authors only."""
    found = Comment.objects.filter(corpus=corpus).values("username")
    if after is not None:
        found = found.filter(username__gt=after)
    rows = list(found.annotate(n=Count("pk"), first=Min("pk")).order_by("username")[: size + 1])
    shown = rows[:size]
    firsts = dict(
        Comment.objects.filter(pk__in=[row["first"] for row in shown]).values_list("pk", "public_id")
    )
    said = _claims(corpus, [row["username"] for row in shown])
    authors = [
        Author(
            row["username"],
            firsts[row["first"]],
            row["n"],
            sum(len(claims) for claims in said[row["username"]].values()),
            _odd(said[row["username"]]),
        )
        for row in shown
    ]
    return authors, len(rows) > size


def _odd(claims: dict[str, list[Claim]]) -> list[tuple[Attribute, int]]:
    rolled = ((attribute, roll_up(attribute, claims.get(attribute.key, []))) for attribute in TARGETS)
    return [(attribute, len(found.odd)) for attribute, found in rolled if found and found.odd]


def _claims(corpus: Corpus, usernames: Sequence[str]) -> dict[str, dict[str, list[Claim]]]:
    """Author -> attribute key -> what counts of what was said, in the order of `sections`."""
    decided: set[tuple[int, str]] = set()
    found: list[tuple[tuple[int, int], str, str, Claim]] = []
    comment = ("comment__sequence", "comment", "comment__username")
    of_item = [f"item__{field}" for field in comment]
    fields = ("attribute", "value", "hardness")
    for *place, username, attribute, value, hardness, item, state in _decided(
        corpus.pk, usernames
    ).values_list(*of_item, *fields, "item", "state"):
        decided.add((item, attribute))
        if state == State.VALUE:
            found.append(((place[0], place[1]), username, attribute, Claim(value, hardness)))
    of_label = [f"annotation__{field}" for field in comment]
    counted = _values(corpus.pk, usernames).filter(annotation__over_quota=False)
    for *place, username, attribute, value, hardness, item in counted.values_list(
        *of_label, *fields, "annotation__item"
    ):
        if (item, attribute) not in decided:
            found.append(((place[0], place[1]), username, attribute, Claim(value, hardness)))
    found.sort(key=lambda one: one[0])
    said: dict[str, dict[str, list[Claim]]] = defaultdict(lambda: defaultdict(list))
    for _, username, attribute, claim in found:
        said[username][attribute].append(claim)
    return said
