"""Maskings of a corpus: how they stand, what they hold, and the texts one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import CharField, Count, Exists, F, Func, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Cast, Concat

from evaluation.models import MaskedText, Masking
from simulation.models import Comment, Corpus

LISTED = 100
PAGE = 25
CHUNK = 1000


class Sha256(Func):
    """SHA-256 of a text's UTF-8 bytes in hexadecimal, as `MaskedText.original` has it."""

    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


def current(masking: Masking) -> QuerySet[MaskedText]:
    """The masked texts whose comments are active and were not edited since."""
    rows = MaskedText.objects.filter(masking=masking, comment__state="active")
    return rows.filter(original=Sha256("comment__text"))


def unmasked(masking: Masking) -> QuerySet[Comment]:
    """Active comments without a masked text, or edited since theirs was made; in the corpus' order."""
    there = MaskedText.objects.filter(masking=masking, comment=OuterRef("pk"))
    comments = Comment.objects.filter(corpus=masking.corpus_id, state="active")
    left = comments.filter(~Exists(there.filter(original=Sha256(OuterRef("text")))))
    return left.order_by("sequence", "pk")


@dataclass(frozen=True)
class Counts:
    """Over the texts of active comments; characters are those of the texts before."""

    texts: int
    changed: int
    characters: int
    masked_characters: int


_COUNTS = """
SELECT count(*), count(*) FILTER (WHERE masked.text <> comment.text), coalesce(sum(length(comment.text)), 0),
    coalesce(sum((SELECT sum((span->>'end')::int - (span->>'start')::int)
        FROM jsonb_array_elements(masked.spans) span)), 0)
FROM evaluation_maskedtext masked JOIN simulation_comment comment ON comment.id = masked.comment_id
WHERE masked.masking_id = %s AND comment.state = 'active'
    AND masked.original = encode(sha256(convert_to(comment.text, 'UTF8')), 'hex')
"""
_CATEGORIES = """
SELECT span->>'category', count(*), sum((span->>'end')::int - (span->>'start')::int)
FROM evaluation_maskedtext masked, jsonb_array_elements(masked.spans) span
WHERE masked.masking_id = %s GROUP BY 1 ORDER BY 3 DESC, 1
"""


def counts(masking: Masking) -> Counts:
    """What stands in the rows as they are now; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [masking.pk])
        return Counts(*map(int, cursor.fetchone()))


@dataclass(frozen=True)
class Found:
    """A category: how many spans, how many characters. The category is "" where the masker names none."""

    category: str
    spans: int
    characters: int


def categories(masking: Masking) -> list[Found]:
    """The categories of what was masked, that of the most characters first; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_CATEGORIES, [masking.pk])
        return [Found(category or "", spans, characters) for category, spans, characters in cursor]


def sample(masking: Masking, most: int, *, seed: str) -> list[int]:
    """Keys of `most` current masked texts, or of all where there are fewer, drawn by `seed`: the same seed
    and rows give the same sample. One query; the database holds no more than `most` of them at a time."""
    drawn = MD5(Concat(Cast("comment_id", CharField()), Value(seed)))
    return list(current(masking).order_by(drawn, "pk").values_list("pk", flat=True)[:most])


def maskings(corpus: Corpus) -> Sequence[Masking]:
    """The newest hundred, newest first."""
    return list(
        Masking.objects.filter(corpus=corpus).select_related("created_by", "run").order_by("-pk")[:LISTED]
    )


def ready(corpus: Corpus) -> QuerySet[Masking]:
    """Those that texts can be taken from."""
    return Masking.objects.filter(corpus=corpus, state=Masking.DONE).order_by("name")


@dataclass(frozen=True)
class Piece:
    """A part of a text; with a category, or “masked”, where it was or is masked."""

    text: str
    category: str = ""


@dataclass(frozen=True)
class Pair:
    """A comment and what became of it. Without marks where it was rewritten, or edited since."""

    comment: Comment
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    rounds: int
    is_edited: bool
    is_changed: bool


@dataclass(frozen=True)
class Texts:
    """A page of texts. `after`: public id of the comment behind which the next begins, "" on the last."""

    rows: Sequence[Pair]
    after: str = ""


@dataclass(frozen=True)
class Narrowed:
    """Which texts of a masking are asked for."""

    changed: bool = False
    author: str = ""

    @property
    def asked(self) -> dict[str, str]:
        """As an address carries it."""
        fields = {"changed": "1" if self.changed else "", "author": self.author}
        return {key: value for key, value in fields.items() if value}


def texts(masking: Masking, narrowed: Narrowed, *, after: str = "") -> Texts:
    """One page in the order of masking; an unknown `after` is the first page. Two queries at most."""
    rows = _rows(masking, narrowed)
    if after:
        marker = MaskedText.objects.filter(masking=masking, comment__public_id=after).values_list("pk")
        rows = rows.filter(pk__gt=marker[:1]) if marker.exists() else rows
    found = list(rows[: PAGE + 1])
    more = str(found[PAGE - 1].comment.public_id) if len(found) > PAGE else ""
    return Texts([pair(masking, row) for row in found[:PAGE]], more)


def everything(masking: Masking, narrowed: Narrowed) -> Iterator[MaskedText]:
    """All of them, as a stream; to be read within a transaction."""
    yield from _rows(masking, narrowed).iterator(chunk_size=CHUNK)


def _rows(masking: Masking, narrowed: Narrowed) -> QuerySet[MaskedText]:
    rows = MaskedText.objects.filter(masking=masking).select_related("comment")
    rows = rows.annotate(is_current=Q(original=Sha256("comment__text"))).order_by("pk")
    if narrowed.changed:
        rows = rows.exclude(text=F("comment__text"))
    return rows.filter(comment__username=narrowed.author) if narrowed.author else rows


def pair(masking: Masking, row: Any) -> Pair:
    """Both texts in pieces, what was masked apart from the rest. `row` comes from this module."""
    before, spans = row.comment.text, row.spans if row.is_current else []
    pieces: list[Piece] = []
    masked: list[Piece] = []
    done = at = 0
    for span in spans:
        start, end, category = span["start"], span["end"], span["category"] or "masked"
        shown = end - start if masking.style == Masking.STARS else _shown(row.text, at + start - done)
        pieces += (Piece(before[done:start]), Piece(before[start:end], category))
        masked += (Piece(row.text[at : at + start - done]),)
        at += start - done
        masked.append(Piece(row.text[at : at + shown], category))
        at, done = at + shown, end
    pieces.append(Piece(before[done:]))
    masked.append(Piece(row.text[at:]))
    return Pair(
        row.comment,
        tuple(one for one in pieces if one.text),
        tuple(one for one in masked if one.text),
        row.rounds,
        not row.is_current,
        row.text != before,
    )


def _shown(text: str, at: int) -> int:
    """How many characters the placeholder has that begins there."""
    end = text.find(">", at)
    return end + 1 - at if end >= 0 else 0


def edited(masking: Masking) -> int:
    """Masked texts that do not belong to their comments any more: edited or withdrawn since; one query."""
    return masking.rows.count() - (current(masking).aggregate(n=Count("pk"))["n"] or 0)
