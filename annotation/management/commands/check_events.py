"""Rebuilds labels and decisions from the append-only events and compares them with what is stored."""

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.selectors import consistency

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Rebuilds every label and decision from its append-only events, and every queue's counts from its"
        " slots; exit 1 where the stored state is another one. Changes nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        rows: Counter[str] = Counter()
        events: Counter[str] = Counter()
        found: list[consistency.Deviation] = []
        for checked in consistency.everything():
            rows[checked.kind] += checked.rows
            events[checked.kind] += checked.events
            found.extend(checked.deviations)
        for kind, of in (("annotation", "events"), ("decision", "events"), ("queue", "slots")):
            self.stdout.write(f"{rows[kind]} {kind}s rebuilt from {events[kind]} {of}")
        for deviation in found[:SHOWN]:
            self.stderr.write(f"{deviation.kind} {deviation.which}: {deviation.what}")
        if found:
            raise CommandError(f"{len(found)} deviations; the events are the record.")
        self.stdout.write("The stored state is what the record says.")
