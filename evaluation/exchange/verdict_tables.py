"""Verdicts and the log of answers as CSV, line by line, so that memory does not grow with them.

A cell that begins like a formula gets an apostrophe (see `spreadsheets.guarded`); times are in the form of
ISO 8601, scores 1, 0.5 or 0, empty where nothing is settled.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.models import Scoring
from evaluation.selectors import questions, verdicts
from simulation.domain.spreadsheets import guarded
from simulation.models import Corpus, User

Lines = Iterator[str]
CHUNK = 1000
OPINIONS = (
    *("question", "attribute", "truth", "guess", "source", "who", "score", "says"),
    *("resolves", "withdrawn", "note", "at", "state", "standing_score", "standing_rung"),
)
GUESSES = 3
VERDICTS = (
    *("profile", "attribute", "label", "category", "hardness", "certainty", "outcome"),
    *(
        f"{name}_{place}"
        for place in range(1, GUESSES + 1)
        for name in ("guess", "score", "rung", "reason", "question")
    ),
    "further",
)


class _Echo:
    """Gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _written(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Lines:
    writer = csv.writer(_Echo(), lineterminator="\n")
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow(guarded(["" if cell is None else cell for cell in row]))


def opinions(corpus: Corpus, person: User, asked: Mapping[str, str]) -> Lines:
    """The log as its page has it, newest first. What is hidden there is empty here."""
    return _written(OPINIONS, _opinions(corpus, person, asked))


def _opinions(corpus: Corpus, person: User, asked: Mapping[str, str]) -> Iterator[Sequence[Any]]:
    after = 0
    while True:
        found = questions.logged(corpus, asked)
        rows = list((found.filter(pk__lt=after) if after else found)[:CHUNK])
        for line in questions.lines(rows, person):
            one, asked_of = line.opinion, line.opinion.question
            yield (
                *(asked_of.public_id, asked_of.attribute, asked_of.truth, asked_of.guess, one.source),
                line.who,
                *((None, "") if line.is_hidden else (one.score, line.what)),
                *(int(one.resolves), int(one.withdrawn), "" if line.is_hidden else one.note),
                *(one.at.isoformat(timespec="seconds"), asked_of.state),
                *((None, "") if line.hides_standing else (asked_of.score, asked_of.rung)),
            )
        if len(rows) < CHUNK:
            return
        after = rows[-1].pk


def scoring(found: Scoring, asked: verdicts.Filter) -> Lines:
    """Every verdict of a scoring that the filter leaves, in the order of its page; up to three guesses each.

    `further` counts the guesses behind the third.
    """
    return _written(VERDICTS, _scoring(found, asked))


def _scoring(found: Scoring, asked: verdicts.Filter) -> Iterator[Sequence[Any]]:
    after = 0
    while True:
        page = verdicts.listed(found, asked, after, most=CHUNK)
        for one in page.rows:
            label = one.label
            cells: list[Any] = [one.profile.username, one.verdict.attribute, label.value, label.category]
            cells += [one.verdict.hardness, one.verdict.certainty, one.verdict.outcome]
            for place in range(GUESSES):
                if place < len(one.guesses):
                    guess = one.guesses[place]
                    cells += [guess.text, guess.score, guess.rung, guess.reason, guess.question]
                else:
                    cells += [None] * 5
            yield [*cells, max(0, len(one.guesses) - GUESSES)]
        if not (after := page.after):
            return
