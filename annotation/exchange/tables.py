"""The tables of a queue's overview as CSV, with the very numbers of the page.

A cell that begins like a formula gets an apostrophe (see `spreadsheets.guarded`); shares are in percent,
times in the form of ISO 8601, and what cannot be said stays empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Queue
from annotation.selectors import overview, overview_holds
from annotation.selectors.overview_gold import gold_of
from annotation.selectors.overview_labels import all_corrections, corrections, label_counts
from annotation.selectors.overview_people import OUTCOMES, REASONS, PersonRow
from annotation.selectors.overview_truth import Share, against_profiles
from simulation.domain.spreadsheets import guarded
from simulation.models import User

Row = Sequence[Any]


@dataclass(frozen=True)
class Table:
    """Columns by name, and rows of as many cells."""

    columns: Sequence[str]
    rows: Sequence[Row]


def as_csv(table: Table) -> str:
    """The table as a file of UTF-8 text with one line of names first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(guarded([_cell(value) for value in row]) for row in table.rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, bool):
        return int(value)
    return value


def progress(queue: Queue, now: datetime) -> Table:
    """One row: the queue."""
    slots, items = overview.progress_of(queue), overview.items_of(queue)
    numbers = {
        "queue": queue.name,
        "done": slots.done,
        "skipped": slots.skipped,
        "left": slots.left,
        "total": slots.total,
        "comments": items.all,
        "gold": items.gold,
        "complete": items.complete,
        "flagged": items.flagged,
        "differing": items.differing,
        "settled": items.settled,
        "agreed": items.agreed,
        "blind": items.blind,
        "blind_percent": items.blind_percent,
        "blind_percent_asked": queue.blind_percent,
    }
    return Table(list(numbers), [list(numbers.values())])


PEOPLE = (
    "person",
    "done",
    "skipped",
    *(f"skipped_{reason}" for reason in REASONS),
    "skipped_no_reason",
    "kept_beside",
    "holds_now",
    "active_ms",
    "active_hours",
    "median_active_seconds",
    "comments_per_active_hour",
    "last_submitted",
    "fast",
    *OUTCOMES,
    "confirmed_in_bulk",
    "confirmed_in_bulk_percent",
    "gold_judged",
    "gold_slips",
    "gold_slips_percent",
    "gold_less_precise",
)


def people(queue: Queue, now: datetime) -> Table:
    """A row for each person, and “All”."""
    found = overview.people_of(queue, now)
    return Table(PEOPLE, [_person(row) for row in [*found.rows, found.all]])


def _person(row: PersonRow) -> Row:
    return [
        row.name,
        row.done,
        row.skipped,
        *(n for _, n in row.reason_numbers),
        row.beside,
        row.holds,
        row.active_ms,
        row.hours,
        row.median_seconds,
        row.per_hour,
        row.last,
        row.fast,
        *(n for _, n in row.outcome_numbers),
        row.bulk,
        row.bulk_percent,
        row.gold.n,
        row.gold.slips,
        row.gold.rate,
        row.gold.less_precise,
    ]


def pace(queue: Queue, now: datetime) -> Table:
    """A row for each of the last days with work."""
    days = overview.pace(queue)
    return Table(
        ("day", "done", "people", "active_ms", "active_hours"),
        [(one.day.isoformat(), one.done, one.people, one.active_ms, one.hours) for one in days],
    )


def corrected(queue: Queue, now: datetime) -> Table:
    """A row for each attribute, tagger and prompt, and “All”."""
    rows = corrections(label_counts(queue))
    columns = (
        "attribute",
        "tagger",
        "prompt",
        "n",
        "confirmed",
        "corrected",
        "rejected",
        "unsure",
        "in_bulk",
        "correction_rate_percent",
        "low_95_percent",
        "high_95_percent",
        "hardness_shift",
        "hardness_n",
        "certainty_shift",
        "certainty_n",
    )
    return Table(
        columns,
        [
            (
                one.attribute or "All",
                one.tagger,
                one.prompt,
                one.n,
                one.confirmed,
                one.corrected,
                one.rejected,
                one.unsure,
                one.bulk,
                one.rate,
                *(one.interval or (None, None)),
                one.hardness_shift,
                one.hardness_n,
                one.certainty_shift,
                one.certainty_n,
            )
            for one in [*rows, all_corrections(rows)]
        ],
    )


def gold(queue: Queue, now: datetime) -> Table:
    """A row for each person with an answer on gold, and “All”."""
    found = gold_of(queue)
    names = _names(found.people)
    rows = sorted((names[key], one) for key, one in found.people.items())
    return Table(
        ("person", "judged", "slips", "slips_percent", "less_precise"),
        [(name, one.n, one.slips, one.rate, one.less_precise) for name, one in [*rows, ("All", found.all)]],
    )


def slips(queue: Queue, now: datetime) -> Table:
    """All labels that are not as the known answer, latest first."""
    found = gold_of(queue).slips
    names = _names(one.person for one in found)
    return Table(
        ("at", "person", "comment", "excerpt", "attribute", "gold", "said", "what"),
        [
            (
                one.at,
                names[one.person],
                one.comment_id,
                one.excerpt,
                one.attribute,
                one.gold,
                one.said,
                "slip" if one.is_slip else one.match.value,
            )
            for one in found
        ],
    )


def held(queue: Queue, now: datetime) -> Table:
    """What people hold at this moment."""
    return Table(
        ("person", "comment", "excerpt", "seen", "until", "ended"),
        [
            (one.person.username, one.comment_id, one.excerpt, one.seen, one.until, one.ended)
            for one in overview_holds.holds(queue, now)
        ],
    )


MATCHED = ("labels", "same", "less_precise", "different", "same_percent", "low_95_percent", "high_95_percent")


def _matched(share: Share) -> Row:
    judged = share.judged
    counts = (judged.n, judged.same, judged.less_precise, judged.different)
    return (*counts, share.percent, *(share.interval or (None, None)))


def truth(queue: Queue, now: datetime) -> Table:
    """Labels against the profiles: a row for each attribute that is known of an author."""
    return Table(
        ("attribute", "authors_known", "authors_found", "recall_percent", *MATCHED),
        [
            (one.label, one.authors, one.right, one.recall, *_matched(one.same))
            for one in against_profiles(queue).attributes
        ],
    )


def calibration(queue: Queue, now: datetime) -> Table:
    """The same labels, a row for each hardness."""
    rows = against_profiles(queue).hardness
    return Table(("hardness", *MATCHED), [(one.number, *_matched(one.same)) for one in rows])


def leakage(queue: Queue, now: datetime) -> Table:
    """Comments whose text contains the profile's value, a row for each attribute."""
    return Table(
        ("attribute", "labelled_comments", "outright", "outright_percent", "outright_hardness_1"),
        [
            (one.label, one.leak.comments, one.leak.outright, one.outright_percent, one.leak.hardness_1)
            for one in against_profiles(queue).attributes
        ],
    )


def _names(people: Iterable[int]) -> dict[int, str]:
    return {key: one.username for key, one in User.objects.in_bulk(set(people)).items()}


TABLES: dict[str, Callable[[Queue, datetime], Table]] = {
    "progress": progress,
    "people": people,
    "pace": pace,
    "corrections": corrected,
    "gold": gold,
    "slips": slips,
    "holds": held,
    "truth": truth,
    "calibration": calibration,
    "leakage": leakage,
}
OF_PROFILES = frozenset({"truth", "calibration", "leakage"})
"""Tables with the persona's truth: only for those who may see the profiles of the queue's corpus."""
