"""Who takes part in a simulation and what it is to ask about: fields built from the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from simulation.domain.attributes import CATALOGUE
from simulation.domain.profile_filter import AGED, CHOSEN, WORDED, ProfileFilter, Span

MOST_THREADS = 1000
FIRST_THREADS = {"age": 1, "occupation": 1}
"""A first run is a small one."""
OLDEST = 120


def filter_fields() -> Iterator[tuple[str, forms.Field]]:
    """Which profiles take part: chosen values, words, an age. Nothing given means all."""
    for one in CHOSEN:
        yield (
            f"filter_{one.key}",
            forms.MultipleChoiceField(
                label=one.label,
                required=False,
                choices=[(value, value) for value in one.values],
                widget=forms.CheckboxSelectMultiple,
            ),
        )
    for one in WORDED:
        yield (
            f"filter_{one.key}",
            forms.CharField(
                label=f"{one.label} contains",
                required=False,
                max_length=100,
                help_text="Every word must be in it, as in “masters law”.",
            ),
        )
    for one in AGED:
        for side, words in (("least", "from"), ("most", "to")):
            yield (
                f"filter_{one.key}_{side}",
                forms.IntegerField(
                    label=f"{one.label} {words}", required=False, min_value=1, max_value=OLDEST
                ),
            )


def read_filter(cleaned: Mapping[str, Any]) -> ProfileFilter:
    return ProfileFilter(
        values={one.key: cleaned.get(f"filter_{one.key}") or () for one in CHOSEN},
        words={one.key: cleaned.get(f"filter_{one.key}") or "" for one in WORDED},
        spans={
            one.key: Span(cleaned.get(f"filter_{one.key}_least"), cleaned.get(f"filter_{one.key}_most"))
            for one in AGED
        },
    )


def target_fields() -> Iterator[tuple[str, forms.Field]]:
    """How many threads are to ask about each attribute of the catalogue."""
    for key, one in CATALOGUE.items():
        yield (
            f"threads_{key}",
            forms.IntegerField(
                label=one.label,
                required=False,
                min_value=0,
                max_value=MOST_THREADS,
                initial=FIRST_THREADS.get(key, 0),
            ),
        )


def read_targets(cleaned: Mapping[str, Any]) -> dict[str, int]:
    return {key: cleaned.get(f"threads_{key}") or 0 for key in CATALOGUE}
