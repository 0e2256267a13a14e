"""Reports: asked for by pages and by what changes rows, counted by a worker, read by pages.

A maker knows how to count one kind of report and how to say whether one is out of date. It is registered by
the module that holds it, at import: see `boards` and `quality`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from django.db import connection, transaction
from django.utils import timezone

from evaluation.domain.report_keys import key_of, stamp_of
from evaluation.models import Report
from simulation.models import Corpus

__all__ = [
    "MAKERS",
    "STOPPED",
    "Maker",
    "ask_again",
    "ask_for",
    "find",
    "is_current",
    "key_of",
    "make",
    "make_asked",
    "stamp_of",
]

STOPPED = "It could not be counted because of an error of ours. The server's log has the details."
LOCKS = 0x5E_B0_AD
"""The family of advisory locks that reports use."""
log = logging.getLogger("synthpai.reports")


class Maker(Protocol):
    """How one kind of report is made."""

    def stamp(self, corpus: Corpus, parameters: Mapping[str, Any]) -> str:
        """What the rows are like that it is counted from; another stamp: count again. Few, cheap queries."""
        ...

    def content(self, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers, as JSON holds them."""
        ...


MAKERS: dict[str, Maker] = {}


def find(corpus: Corpus, kind: str, parameters: Mapping[str, Any]) -> Report | None:
    """The report, however old, or None. One query."""
    return Report.objects.filter(corpus=corpus, kind=kind, key=key_of(parameters)).first()


def ask_for(corpus: Corpus, kind: str, parameters: Mapping[str, Any]) -> None:
    """Puts the report on the worker's list; the caller tells the worker (`tasks.make_reports`)."""
    Report.objects.update_or_create(
        corpus=corpus,
        kind=kind,
        key=key_of(parameters),
        defaults={"asked_at": timezone.now()},
        create_defaults={"parameters": dict(parameters), "asked_at": timezone.now()},
    )


def ask_again(corpus: Corpus, kind: str) -> None:
    """Puts all reports of a kind that anybody has ever asked for on the worker's list."""
    Report.objects.filter(corpus=corpus, kind=kind).update(asked_at=timezone.now())


def make_asked(*, most: int = 20) -> int:
    """Counts what was asked for, each report by one worker at a time; how many it looked at."""
    done = 0
    while done < most and _make_next():
        done += 1
    return done


def make(corpus: Corpus, kind: str, parameters: Mapping[str, Any]) -> Report:
    """Counts a report now, in this process; for commands and tests."""
    ask_for(corpus, kind, parameters)
    one = Report.objects.get(corpus=corpus, kind=kind, key=key_of(parameters))
    _count(one)
    return one


def is_current(report: Report) -> bool:
    """Whether it says what the rows say now."""
    maker = MAKERS[report.kind]
    return report.content is not None and report.stamp == maker.stamp(report.corpus, report.parameters)


@transaction.atomic
def _make_next() -> bool:
    """Counts the next report that nobody else is counting. Its row is not locked meanwhile: whoever answers a
    question and asks for the report again does not wait."""
    for pk in Report.objects.filter(asked_at__isnull=False).order_by("asked_at").values_list("pk", flat=True):
        if _is_mine(pk):
            one = Report.objects.select_related("corpus").get(pk=pk)
            if one.asked_at is not None:  # it was counted between the two queries
                _count(one)
                return True
    return False


def _is_mine(pk: int) -> bool:
    """Takes the lock of a report to the end of the transaction, unless somebody has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCKS, pk % 2**31])
        return cursor.fetchone() == (True,)


def _count(one: Report) -> None:
    """A fault of ours ends the report with words, and is not tried for ever."""
    maker = MAKERS[one.kind]
    try:
        with transaction.atomic():
            stamp = maker.stamp(one.corpus, one.parameters)
            if one.content is None or one.stamp != stamp or one.problem:
                one.content = maker.content(one.corpus, one.parameters)
                one.stamp, one.made_at, one.problem = stamp, timezone.now(), ""
    except Exception:  # a fault of ours has no name yet; the page says so, whatever it is
        log.exception("report %s could not be counted", one.pk)
        one.problem = STOPPED
    one.save(update_fields=["content", "stamp", "made_at", "problem"])
    # Who asked meanwhile may have rows that came too late for it: their wish stays.
    Report.objects.filter(pk=one.pk, asked_at=one.asked_at).update(asked_at=None)
