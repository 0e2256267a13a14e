"""Whether a machine tells the comments of a corpus from those of another one, or from texts of a file."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction

from evaluation.domain.boards import from_json
from evaluation.domain.corpus_diversity import Realism, Side, Telling
from evaluation.metrics.realism import realism as measured
from evaluation.metrics.realism_model import Feature
from evaluation.models import Report
from evaluation.selectors import diversity as selectors
from evaluation.selectors.diversity import Scope
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from evaluation.services.diversity_areas import Said, areas_of, in_words
from evaluation.services.diversity_texts import Received
from simulation.models import Corpus, User
from simulation.services import audit

__all__ = ["AGAINST", "CORPUS", "TEXTS", "ask", "found_in", "measure", "parameters_of", "stamp", "state"]

AGAINST, CORPUS, TEXTS = "against", "corpus", "texts"
VERSION = 1
COUNTED = 2
"""Grows with every number that is added: what was counted without it is counted again when asked for."""
MOST = 2_000
"""Comments of one side, at most; whole authors are drawn by the seed."""
MOST_CHARACTERS = 1_000_000
"""Their characters together: what is learned from takes some twenty times their room in memory."""
GONE = "The texts were removed after counting. Upload the file once more to compare it again."
NO_CORPUS = "The other corpus is gone, or in the trash."


class Wrote(NamedTuple):
    """A text, who wrote it and in which thread; an empty one where nothing says it."""

    text: str
    author: str
    thread: str


class Size(NamedTuple):
    """What one author wrote."""

    texts: int
    characters: int


@dataclass(frozen=True)
class _Source:
    """One side: how much everybody wrote, and the texts anew at each call."""

    name: str
    sizes: Mapping[str, Size]
    read: Callable[[], Iterable[Wrote]]


def parameters_of(
    *, other: Corpus | None = None, received: Received | None = None, seed: int = 0
) -> dict[str, Any]:
    """Of the report that compares with a corpus or with texts. Raises ValueError unless one is given."""
    if other is not None and received is None:
        return {AGAINST: CORPUS, "other": other.public_id, "seed": seed}
    if received is not None and other is None:
        return {AGAINST: TEXTS, "other": received.digest, "name": received.name, "seed": seed}
    raise ValueError("compare with a corpus or with texts, one of both")


@transaction.atomic
def ask(corpus: Corpus, parameters: Mapping[str, Any], *, by: User | None) -> None:
    """Puts the comparison on the worker's list; the caller tells the worker."""
    reports.ask_for(corpus, Report.DIVERSITY, parameters)
    details = {key: parameters[key] for key in (AGAINST, "other", "seed")}
    audit.record(by=by, action="realism.asked", target=corpus, corpus=corpus, details=details)


def found_in(report: Report) -> Realism | None:
    """What a report of this sort says; None where nothing was counted yet."""
    if report.content is None:
        return None
    found: Realism = from_json(report.content, Realism)
    return found


def state(corpus: Corpus) -> str:
    """How the corpus is now; equal ones mean that a comparison still holds. Four queries."""
    return reports.stamp_of(VERSION, *selectors.state_of(Scope(corpus)))


def stamp(corpus: Corpus, parameters: Mapping[str, Any]) -> str:
    """Of a comparison with texts that are gone: the one it has, since it cannot be counted anew."""
    if parameters[AGAINST] == CORPUS:
        other = _other(parameters)
        return reports.stamp_of(COUNTED, state(corpus), state(other) if other else "gone")
    if texts.path_of(corpus, parameters["other"]).exists():
        return reports.stamp_of(COUNTED, state(corpus), parameters["other"])
    before = reports.find(corpus, Report.DIVERSITY, parameters)
    return before.stamp if before and before.content is not None else reports.stamp_of(COUNTED, "gone")


def measure(corpus: Corpus, parameters: Mapping[str, Any]) -> Realism:
    """Draws whole authors of both sides by the seed and measures. Equal rows give equal numbers.

    Texts of a file are removed once the transaction is through: until then, whatever happens, it can be
    done again.
    """
    ours = _of_corpus(corpus)
    theirs = _theirs(corpus, parameters)
    if isinstance(theirs, str):
        return _nothing(ours, parameters, theirs)
    seed = parameters["seed"]
    sides: list[Side] = []
    said: list[Said] = []
    for is_synthetic, source in ((True, ours), (False, theirs)):
        authors = drawn(source.sizes, seed=seed)
        kept = [
            Said(one.text, is_synthetic, one.author, one.thread)
            for one in source.read()
            if one.author in authors
        ]
        said += kept
        sides.append(replace(_side(source), drawn=len(kept), drawn_authors=len(authors)))
    made = measured([one.by_author for one in said], seed=seed, unit="authors")
    groupings, threads = areas_of(said, made, seed=seed)
    if parameters[AGAINST] == TEXTS:
        transaction.on_commit(partial(texts.forget, corpus, parameters["other"]))
    return Realism(
        ours=sides[0],
        theirs=sides[1],
        auc=made.auc,
        low=made.low,
        high=made.high,
        folds=made.folds,
        seed=seed,
        our_words=tuple(map(_telling, made.synthetic_words)),
        their_words=tuple(map(_telling, made.real_words)),
        words=in_words(made.words),
        state=state(corpus),
        own_groups=parameters[AGAINST] == TEXTS and all(name.startswith("line ") for name in theirs.sizes),
        groupings=groupings,
        threads=threads,
    )


def drawn(
    sizes: Mapping[str, Size], *, seed: int, most: int = MOST, characters: int = MOST_CHARACTERS
) -> set[str]:
    """Authors in an order that hangs on the seed alone, each taken with all texts where they still fit."""
    order = sorted(sizes)
    random.Random(seed).shuffle(order)  # noqa: S311 - a sample, no secret
    found = set()
    for author in order:
        size = sizes[author]
        if size.texts <= most and size.characters <= characters:
            found.add(author)
            most, characters = most - size.texts, characters - size.characters
    return found


def _side(source: _Source) -> Side:
    large = sum(one.texts > MOST or one.characters > MOST_CHARACTERS for one in source.sizes.values())
    whole = sum(one.texts for one in source.sizes.values())
    return Side(source.name, whole, len(source.sizes), 0, 0, large)


def _telling(one: Feature) -> Telling:
    return Telling(one.kind, one.text, one.synthetic, one.real, one.contribution)


def _nothing(ours: _Source, parameters: Mapping[str, Any], words: str) -> Realism:
    name = str(parameters.get("name", ""))
    return Realism(_side(ours), Side(name, 0, 0, 0, 0), None, None, None, 0, parameters["seed"], words=words)


def _other(parameters: Mapping[str, Any]) -> Corpus | None:
    return Corpus.objects.filter(trashed_at=None, public_id=parameters["other"]).first()


def _theirs(corpus: Corpus, parameters: Mapping[str, Any]) -> _Source | str:
    """The other side, or why there is none."""
    if parameters[AGAINST] == CORPUS:
        other = _other(parameters)
        return _of_corpus(other) if other else NO_CORPUS
    read = partial(_of_file, corpus, parameters["other"])
    try:
        return _Source(parameters["name"], _sizes(read()), read)
    except FileNotFoundError:
        return GONE


def _of_corpus(corpus: Corpus) -> _Source:
    sizes = {name: Size(*size) for name, size in selectors.written_by(Scope(corpus))}
    return _Source(corpus.name, sizes, partial(_comments, corpus))


def _comments(corpus: Corpus) -> Iterator[Wrote]:
    names = selectors.thread_names(Scope(corpus))
    for thread in selectors.threads(Scope(corpus)):
        name = names.get(thread.name, "")
        yield from (Wrote(node.text, node.author, name) for node in thread.nodes if node.text)


def _of_file(corpus: Corpus, digest: str) -> Iterator[Wrote]:
    """An author that is not named is one of its own."""
    for number, one in enumerate(texts.kept(corpus, digest)):
        yield Wrote(one.text, f"author {one.author}" if one.author else f"line {number}", one.thread)


def _sizes(wrote: Iterable[Wrote]) -> dict[str, Size]:
    number: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for one in wrote:
        number[one.author] += 1
        characters[one.author] += len(one.text)
    return {name: Size(count, characters[name]) for name, count in number.items()}
