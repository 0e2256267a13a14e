"""What the commands about tags share: a filter and money from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.core.management.base import CommandError

from annotation.domain import comment_filter
from annotation.domain.comment_filter import CommentFilter
from simulation.models import Corpus, Run
from simulation.services import terminal


def add_money(parser: ArgumentParser) -> None:
    parser.add_argument("--max-cost", metavar="USD", help="cap in dollars; default: calls and tokens alone")
    parser.add_argument("--soft-cost", metavar="USD", help="from here on the page of the run warns")


def money(options: Mapping[str, Any]) -> dict[str, Any]:
    """`max_cost` and `soft_cost` in nano-dollars. Raises CommandError (status 2)."""
    asked = {"max_cost": "--max-cost", "soft_cost": "--soft-cost"}
    return {name: terminal.money(option, options[name]) for name, option in asked.items()}


def read_filter(given: str) -> CommentFilter:
    """A filter as it stands in the address of the browse page, behind the question mark or whole.

    Raises CommandError (status 2) with what is wrong.
    """
    known = {key for key, _ in comment_filter.FIELDS.values()}
    fields = dict(parse_qsl(given.partition("?")[2] if "?" in given else given))
    problems = [f"there is no field {key!r}" for key in fields.keys() - known]
    if given.strip() and not fields:
        problems.append("write fields as in the address of the comments' page: attribute=age&said=suggested")
    asked, wrong = comment_filter.read(fields)
    problems += wrong
    if problems:
        raise CommandError(f"--filter: {'; '.join(problems)}", returncode=terminal.USAGE)
    return asked


def tagging_runs(corpus: Corpus, ids: list[str]) -> list[Run]:
    """Tagging runs by public id. Raises CommandError (status 2) that lists what there is."""
    there = {run.public_id: run for run in Run.objects.filter(corpus=corpus, kind=Run.TAG)}
    if missing := [one for one in ids if one not in there]:
        known = ", ".join(f"{run.public_id} ({run.name})" for run in there.values()) or "none"
        raise CommandError(
            f"There is no tagging run {', '.join(missing)}; there are: {known}.", returncode=terminal.USAGE
        )
    return [there[one] for one in dict.fromkeys(ids)]
