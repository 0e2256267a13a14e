"""Forgets what is due, as the clock does every night."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from synthpai_web import retention


class Command(BaseCommand):
    help = "Forgets what is due by the rules of docs/operators.md, as the clock does every night."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and take nothing away")

    def handle(self, *args: Any, **options: Any) -> None:
        dry = options["dry_run"]
        for one in retention.run(now=timezone.now(), dry=dry):
            days = f"after {one.rule.days} days" if one.rule.days else "at once"
            verb = "would go" if dry else "went"
            self.stdout.write(f"{one.rule.key}: {one.count} {verb} ({one.rule.what}, {days})")
