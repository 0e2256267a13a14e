"""To which table, figure or part a counted number belongs, by its path."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.domain.paper.found import Route
from evaluation.domain.paper.printed import GPT4

STARTS: tuple[tuple[Route, str], ...] = (
    (("comments", "length_chars"), "Table 1"),
    (("comments", "per_profile"), "Table 1"),
    (("comments",), "Comments"),
    (("models", GPT4, "evaluated", "by_attribute"), "Table 4"),
    (("fig3_profile_overlap",), "Fig. 3"),
    (("labels", "fig6"), "Fig. 6"),
    (("labels", "fig6_total"), "Fig. 6"),
    (("labels",), "Labels of profiles"),
    (("label_agreement",), "Agreement (section 4.1)"),
    (("anonymised",), "Anonymised comments"),
    (("threads",), "Thread trees"),
    (("profiles",), "A.3"),
    (("topics",), "A.4"),
)
FILES = {
    "evaluated": "accuracies (Figs. 13, 15-19)",
    "revised_human_evaluated": "accuracies of the earlier scoring",
    "gt_evaluated": "scores against the profiles",
    "predicted": "guesses in the files",
    "answers": "answers read anew",
}


def table_of(path: Route) -> str:
    """The heading under which a number is shown."""
    for start, table in STARTS:
        if path[: len(start)] == start:
            return table
    if path[0] == "models" and path[2:] == ("evaluated", "top1"):
        return "Fig. 4"
    if path[0] == "models" and len(path) > 2:
        return f"{path[1]}: {FILES.get(path[2], path[2])}"
    return path[0]


ORDER = (
    "Counts of the paper",
    *(f"Table {number}" for number in range(1, 5)),
    "Agreement (section 4.1)",
    *(f"Fig. {number}" for number in range(3, 8)),
    *(f"A.{number}" for number in range(2, 5)),
    "Thread trees",
    "Comments",
    "Labels of profiles",
    "Anonymised comments",
)
"""Headings as in the paper, then what it does not print; those of models follow."""


def in_order(tables: Iterable[str]) -> list[str]:
    """Headings as they are shown, each once; those of models in the order in which they come."""
    places = {table: place for place, table in enumerate(ORDER)}
    return sorted(dict.fromkeys(tables), key=lambda table: places.get(table, len(ORDER)))
