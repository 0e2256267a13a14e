"""The labels of a corpus with all that they are compared with, as a stream; and what they are like now.

Left out: answers beyond the quota, and those of queues in the trash. Read answer by answer in chunks, each
with a fixed number of queries, so that memory does not grow with the corpus.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from annotation.domain.truth import as_text
from annotation.models import Annotation, AttributeLabel, FirstAnswer, Item, Queue, Suggestion
from evaluation.domain.quality import IMPORTED, UNRECORDED, First, Guess, Said
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Corpus, Profile

CHUNK = 2000
"""Answers read at a time."""
UNKNOWN = ""
"""The tagger of answers beside which there was none, and nobody can say which would have been."""
REVIEWER = "reviewer "
PERSON = "person "


def answers(corpus: Corpus, queue: Queue | None) -> QuerySet[Annotation]:
    """The answers that count, of one queue or of the whole corpus with what was imported."""
    found = Annotation.objects.filter(comment__corpus=corpus, over_quota=False)
    if queue is not None:
        return found.filter(item__queue=queue)
    return found.filter(Q(item=None) | Q(item__queue__trashed_at=None))


def queues_of(corpus: Corpus) -> list[Queue]:
    """The queues that can be chosen. One query."""
    return list(Queue.objects.filter(corpus=corpus, trashed_at=None).order_by("name"))


def queue_of(corpus: Corpus, public_id: str) -> Queue | None:
    """The queue of a public id; None for "", an unknown one and one in the trash."""
    if not public_id:
        return None
    return Queue.objects.filter(corpus=corpus, trashed_at=None, public_id=public_id).first()


def state_of(corpus: Corpus, queue: Queue | None) -> list[Any]:
    """What everything is counted from, in few numbers that change with it. Five queries without joins of
    labels: each change of an answer raises its version, each change of a profile that of the profile."""
    return [
        answers(corpus, queue).aggregate(n=Count("pk"), last=Max("pk"), versions=Sum("version")),
        Suggestion.objects.filter(comment__corpus=corpus).aggregate(n=Count("pk"), last=Max("pk")),
        Profile.objects.filter(corpus=corpus).aggregate(n=Count("pk"), versions=Sum("version")),
        Item.objects.filter(queue__corpus=corpus, gold=True).aggregate(n=Count("pk"), keys=Sum("pk")),
        FirstAnswer.objects.filter(item__queue__corpus=corpus).count(),
        TARGET_KEYS,
    ]


class _Answer(NamedTuple):
    pk: int
    comment: int
    profile: int | None
    person: int | None
    reviewer: str
    arm: str
    at: Any
    item: int | None
    gold: bool | None
    queue: int | None


class _Offered(NamedTuple):
    """A suggestion with its source."""

    guess: Guess
    tagger: str
    prompt: str


class _Source(NamedTuple):
    tagger: str
    prompt: str


@dataclass(frozen=True)
class _Chunk:
    """Some answers, and what was read for them."""

    answers: list[_Answer]
    labels: Mapping[int, list[tuple[Any, ...]]]
    beside: Mapping[int, Mapping[str, _Offered]]
    """Answer -> attribute -> suggestion, of answers that saw none: as made for the comment."""
    facts: Mapping[int, Mapping[str, object]]
    first: Mapping[tuple[int, int], Mapping[str, Any]]


def said(corpus: Corpus, queue: Queue | None) -> Iterator[Said]:
    """Every label that counts, in the order of the answers."""
    shared = _shared(corpus, queue)
    known = {one.pk: one for one in Queue.objects.filter(corpus=corpus)}
    only = _only_source(corpus)
    for chunk in _chunks(corpus, queue, known):
        for answer in chunk.answers:
            yield from _of_answer(answer, chunk, answer.comment in shared, only)


def _shared(corpus: Corpus, queue: Queue | None) -> set[int]:
    """Comments about which two or more people, or reviewers, answered."""
    found = (
        answers(corpus, queue)
        .order_by()
        .values("comment")
        .annotate(people=Count("person", distinct=True))
        .annotate(reviewers=Count("reviewer", distinct=True, filter=~Q(reviewer="")))
        .annotate(raters=F("people") + F("reviewers"))
        .filter(raters__gte=2)
    )
    return set(found.values_list("comment", flat=True))


def _only_source(corpus: Corpus) -> _Source:
    """Where all suggestions of the corpus are of one tagger and prompt: these."""
    found = (
        Suggestion.objects.filter(comment__corpus=corpus)
        .order_by()
        .values_list("tagger", "call__prompt__name", "call__prompt__digest")
        .distinct()[:2]
    )
    sources = [_Source(tagger, _prompt(name, digest)) for tagger, name, digest in found]
    return sources[0] if len(sources) == 1 else _Source(UNKNOWN, "")


def _prompt(name: str | None, digest: str | None) -> str:
    return f"{name} {(digest or '')[:8]}" if name else ""


def _chunks(corpus: Corpus, queue: Queue | None, known: Mapping[int, Queue]) -> Iterator[_Chunk]:
    last = 0
    while True:
        rows = (
            answers(corpus, queue)
            .filter(pk__gt=last)
            .order_by("pk")
            .values_list(
                *("pk", "comment", "comment__profile", "person", "reviewer", "arm", "submitted_at"),
                *("item", "item__gold", "item__queue"),
            )[:CHUNK]
        )
        read = [_Answer(*row) for row in rows]
        if not read:
            return
        last = read[-1].pk
        yield _Chunk(read, _labels(read), _beside(read, known), _facts(read), _first(read))


def _labels(read: list[_Answer]) -> Mapping[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    rows = AttributeLabel.objects.filter(
        annotation__in=[one.pk for one in read], attribute__in=TARGET_KEYS
    ).order_by("pk")
    for row in rows.values_list(
        *("annotation", "attribute", "state", "value", "hardness", "certainty", "bulk", "suggestion"),
        *("suggestion__guesses", "suggestion__hardness", "suggestion__certainty", "suggestion__tagger"),
        *("suggestion__call__prompt__name", "suggestion__call__prompt__digest"),
    ).iterator():
        found[row[0]].append(row[1:])
    return found


def _beside(read: list[_Answer], known: Mapping[int, Queue]) -> Mapping[int, Mapping[str, _Offered]]:
    """What a model had guessed at comments whose answers saw no guess: reviewers of a file are put beside the
    file's own suggestions, people without suggestions beside the latest (of the queue's tagger and run)."""
    unaided = [one for one in read if one.person is None or one.arm == "unassisted"]
    of_comment: dict[int, list[tuple[str, str, int | None, _Offered]]] = defaultdict(list)
    rows = Suggestion.objects.filter(
        comment__in={one.comment for one in unaided}, attribute__in=TARGET_KEYS
    ).order_by("pk")
    for comment, attribute, tagger, run, guesses, hardness, certainty, name, digest in rows.values_list(
        *("comment", "attribute", "tagger", "run", "guesses", "hardness", "certainty"),
        *("call__prompt__name", "call__prompt__digest"),
    ).iterator():
        offered = _Offered(_guess(guesses, hardness, certainty), tagger, _prompt(name, digest))
        of_comment[comment].append((attribute, tagger, run, offered))
    found: dict[int, Mapping[str, _Offered]] = {}
    for one in unaided:
        queue = known.get(one.queue or 0)
        found[one.pk] = {
            attribute: offered
            for attribute, tagger, run, offered in of_comment.get(one.comment, ())
            if _is_for(one, queue, tagger, run)
        }
    return found


def _is_for(answer: _Answer, queue: Queue | None, tagger: str, run: int | None) -> bool:
    if answer.person is None:
        return run is None and tagger == IMPORTED
    if queue is None:
        return True
    return (not queue.tagger or queue.tagger == tagger) and queue.tag_run_id in (None, run)


def _guess(guesses: list[Any], hardness: int | None, certainty: int | None) -> Guess:
    return Guess(tuple(str(guess) for guess in guesses), hardness, certainty)


def _facts(read: list[_Answer]) -> Mapping[int, Mapping[str, object]]:
    wanted = {one.profile for one in read if one.profile is not None}
    return dict(Profile.objects.filter(pk__in=wanted).order_by().values_list("pk", "facts"))


def _first(read: list[_Answer]) -> Mapping[tuple[int, int], Mapping[str, Any]]:
    items = [one.item for one in read if one.arm == "blind" and one.item is not None]
    rows = FirstAnswer.objects.filter(item__in=items).order_by().values_list("item", "person", "labels")
    return {(item, person): labels for item, person, labels in rows}


def _of_answer(answer: _Answer, chunk: _Chunk, shared: bool, only: _Source) -> Iterator[Said]:
    labels = chunk.labels.get(answer.pk, [])
    beside = chunk.beside.get(answer.pk)
    source = _source(labels, beside, only)
    facts = chunk.facts.get(answer.profile or 0, {})
    first = chunk.first.get((answer.item or 0, answer.person or 0), {})
    imported = answer.person is None
    rater = f"{REVIEWER}{answer.reviewer}" if imported else f"{PERSON}{answer.person}"
    arm = IMPORTED if imported else answer.arm or UNRECORDED
    for attribute, state, value, hardness, certainty, bulk, key, *suggestion in labels:
        offered = beside.get(attribute) if beside is not None else _offered(key, suggestion)
        yield Said(
            annotation=answer.pk,
            comment=answer.comment,
            profile=answer.profile or 0,
            rater=rater,
            at=answer.at.timestamp(),
            arm=arm,
            gold=bool(answer.gold),
            shared=shared,
            attribute=attribute,
            state=state,
            value=value,
            hardness=hardness,
            certainty=certainty,
            bulk=bulk,
            guess=offered.guess if offered else None,
            tagger=offered.tagger if offered else source.tagger,
            prompt=offered.prompt if offered else source.prompt,
            first=_first_of(first.get(attribute)),
            fact=as_text(facts.get(attribute)),
        )


def _offered(key: int | None, suggestion: list[Any]) -> _Offered | None:
    if key is None:
        return None
    guesses, hardness, certainty, tagger, name, digest = suggestion
    return _Offered(_guess(guesses, hardness, certainty), tagger, _prompt(name, digest))


def _source(labels: list[tuple[Any, ...]], beside: Mapping[str, _Offered] | None, only: _Source) -> _Source:
    """Whose suggestions an answer was given beside, as most of them say; where there was none at all, the
    only source of the corpus."""
    if beside is not None:
        seen = Counter(_Source(one.tagger, one.prompt) for one in beside.values())
    else:
        seen = Counter(_Source(row[10], _prompt(row[11], row[12])) for row in labels if row[6] is not None)
    return min(seen, key=lambda one: (-seen[one], one)) if seen else only


def _first_of(label: Mapping[str, Any] | None) -> First | None:
    if label is None:
        return None
    return First(label["state"], label.get("value", ""), label.get("hardness"))
