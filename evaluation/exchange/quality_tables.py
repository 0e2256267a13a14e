"""The tables of label quality as CSV, with the very numbers of the report, unrounded.

Shares are from 0 to 1, `low` and `high` the ends of 95 % intervals; what cannot be said stays empty, and the
column `words` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotation.exchange.tables import Row, Table
from evaluation.domain.quality import OUTCOMES
from evaluation.selectors.quality_page import Counts, names_of, sources
from simulation.domain.attributes import HARDNESS

Content = Mapping[str, Any]
ESTIMATE = ("value", "low", "high", "n", "clusters")
AGREEMENT = ("value", "low", "high", "units", "raters", "values", "answers", "undefined", "words")
RATES = ("first", "top3", "recall", "found", "hardness", "certainty")
MARKS = tuple(f"hardness_{mark.number}" for mark in HARDNESS)


def _columns(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for name in names for part in ESTIMATE)


def _cells(*found: Mapping[str, Any] | None) -> Row:
    return [one[part] if one else None for one in found for part in ESTIMATE]


def suggestions(content: Content) -> Table:
    """A row for each tagger, prompt, cut ("" everything) and attribute ("" all)."""
    return Table(
        ("tagger", "prompt", "cut", "attribute", *OUTCOMES, "in_bulk", *_columns(*RATES)),
        [
            (
                *(row["tagger"], row["prompt"], row["cut"], row["attribute"]),
                *(row["counts"][word] for word in OUTCOMES),
                row["bulk"],
                *_cells(*(row[name] for name in RATES)),
            )
            for row in content["suggestions"]
        ],
    )


def table3(content: Content) -> Table:
    """Two rows for each tagger and prompt, as in the paper's Table 3."""
    return Table(
        ("tagger", "prompt", "model", "value", "none", "unsure", "left_with_value", "untouched"),
        [
            (
                one.tagger,
                one.prompt,
                *(line.name, line.value, line.none),
                line.unsure,
                line.left,
                line.untouched,
            )
            for one in sources(content)
            for line in one.margins
        ],
    )


def anchoring(content: Content) -> Table:
    """Blind against assisted; `answers` says whether those set in bulk are in it."""
    return Table(
        ("answers", "attribute", *_columns("assisted", "blind", "shift"), "left_out", "words"),
        [
            (
                *(row["answers"], row["attribute"]),
                *_cells(row["assisted"], row["blind"], row["shift"]),
                *(row["left_out"], row["shift"]["words"]),
            )
            for row in content["shifts"]
        ],
    )


def moves(content: Content) -> Table:
    """Before and after the suggestion was seen."""
    return Table(
        ("attribute", *_columns("before", "after", "shift"), "words"),
        [
            (row["attribute"], *_cells(row["before"], row["after"], row["shift"]), row["shift"]["words"])
            for row in content["moves"]
        ],
    )


def agreement(content: Content) -> Table:
    """A row for each part (ordinary or gold comments), attribute and measure."""
    return Table(
        ("part", "attribute", "measure", *AGREEMENT),
        [
            (row["part"], row["attribute"], row["measure"], *(row[name] for name in AGREEMENT))
            for row in content["agreement"]
        ],
    )


def pairs(content: Content) -> Table:
    """Every two people; empty where they have too few comments in common."""
    names = names_of([row["person"] for row in content["people_compared"]])
    kappa = ("value", "low", "high", "units", "words")
    return Table(
        ("one", "other", "common_comments", *(f"kappa_{part}" for part in kappa), *_columns("same")),
        [
            (
                *(names[row["one"]], names[row["other"]], row["comments"]),
                *(row["kappa"][part] if row["kappa"] else None for part in kappa),
                *_cells(row["same"]),
            )
            for row in content["pairs"]
        ],
    )


def hardness(content: Content) -> Table:
    """A row for each hardness of the model, with the counts by the person's."""
    return Table(
        ("which", "model_hardness", *(f"person_{name}" for name in MARKS)),
        [
            (one["which"], mark.number, *counts)
            for one in content["hardness"]
            for mark, counts in zip(HARDNESS, one["table"], strict=True)
        ],
    )


def hardness_agreement(content: Content) -> Table:
    """Weighted kappas of the tables of hardness."""
    return Table(
        ("which", "measure", *AGREEMENT),
        [
            (one["which"], f"kappa_{weights}", *(one[weights][name] for name in AGREEMENT))
            for one in content["hardness"]
            for weights in ("linear", "quadratic")
        ],
    )


def truth(content: Content) -> Table:
    """Labels against facts and suggestions against labels, by attribute ("" all) and hardness (0: any)."""
    return Table(
        ("compared", "attribute", "hardness", "same", "less_precise", "different", *_columns("share_same")),
        [
            (
                "labels with profiles" if row["side"] == "labels" else "suggestions with labels",
                *(row["attribute"], row["hardness"]),
                *(row["counts"][word] for word in ("same", "less precise", "different")),
                *_cells(row["same"]),
            )
            for row in content["truth"]
        ],
    )


def comments(content: Content) -> Table:
    """Labels of comments by attribute and hardness."""
    return Table(("attribute", *MARKS), [(row["attribute"], *row["hardness"]) for row in content["counts"]])


def profiles(rows: list[Counts]) -> Table:
    """Labels of profiles by attribute and hardness."""
    return Table(("attribute", *MARKS), [(row.name, *row.counts) for row in rows])


TABLES: dict[str, Callable[[Content], Table]] = {
    "suggestions": suggestions,
    "table3": table3,
    "anchoring": anchoring,
    "moves": moves,
    "agreement": agreement,
    "people": pairs,
    "hardness": hardness,
    "hardness-agreement": hardness_agreement,
    "truth": truth,
    "comments": comments,
}
PROFILES = "profiles"
"""The table that is not counted by the worker: it is of a chosen label set."""
