"""What is forgotten by itself, after how long, and why: one table, run every night.

Labels, events, decisions, calls, comments and what is in the trash are never among it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.sessions.models import Session
from django.db import transaction

from annotation.exchange import uploads
from simulation.services import invitations, kept_answers, webhooks

log = logging.getLogger("synthpai.retention")


@dataclass(frozen=True)
class Rule:
    """`forget` takes away what is due at a moment and says how much that was."""

    key: str
    days: int
    what: str
    why: str
    forget: Callable[[datetime], int]


def _sessions(now: datetime) -> int:
    return Session.objects.filter(expire_date__lt=now).delete()[0]


RULES: tuple[Rule, ...] = (
    Rule(
        "uploads",
        30,
        "files of imports that have ended",
        "they hold texts and labels of people; the rows stay in the corpus",
        lambda now: uploads.forget_files(now=now),
    ),
    Rule(
        "deliveries",
        30,
        "messages to webhooks that were sent or given up",
        "they are of use only while a receiver is mended",
        lambda now: webhooks.forget_deliveries(now=now),
    ),
    Rule(
        "answers",
        1,
        "answers kept for requests with an Idempotency-Key",
        "whoever repeats a request does so within a day",
        lambda now: kept_answers.sweep_answers(now=now),
    ),
    Rule("sessions", 0, "sessions that have ended", "nobody can use them any more", _sessions),
    Rule(
        "invitations",
        90,
        "addresses in invitations that have ended",
        "an address is personal; who invited whom stays",
        lambda now: invitations.forget_addresses(now=now),
    ),
)


@dataclass(frozen=True)
class Outcome:
    rule: Rule
    count: int


def run(*, now: datetime, dry: bool = False) -> list[Outcome]:
    """Every rule in a transaction of its own. `dry`: counts, and takes nothing away from the database.

    Files cannot be taken back: a dry run leaves their rule out.
    """
    done = []
    for rule in RULES:
        if dry and rule.key == "uploads":
            continue
        with transaction.atomic():
            count = rule.forget(now)
            transaction.set_rollback(dry)
        done.append(Outcome(rule, count))
        if not dry:
            log.info("retention", extra={"rule": rule.key, "count": count})
    return done
