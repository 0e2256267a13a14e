"""Labels of profiles by hardness (Fig. 6) and the agreement of labels (section 4.1: 83 % and 76 %)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from evaluation.domain.paper.records import EDUCATION_CATEGORY, HUMAN, REVISED, Mark, Row
from evaluation.domain.paper.summaries import counts
from simulation.domain.attributes import HARDNESS, TARGET_KEYS

CERTAIN = 3
"""The paper's accuracies are over labels of at least this certainty (section 5)."""
STEPS = tuple(mark.number for mark in HARDNESS)


def is_eligible(mark: Mark) -> bool:
    """Whether a label counts for the accuracies: hardness at least 1 and certainty at least 3."""
    return mark.hardness >= 1 and mark.certainty >= CERTAIN


def is_asked(mark: Mark) -> bool:
    """Whether a model is asked for the attribute of a label: hardness and certainty at least 1."""
    return mark.hardness >= 1 and mark.certainty >= 1


class LabelTally:
    """Takes the rows of the file of revised labels. A label counts from hardness 1 on."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Counter[int]]] = {
            name: {key: Counter() for key in TARGET_KEYS}
            for name in ("fig6", "human_all", "revised_certainty_ge_3")
        }
        self._truths: Counter[float] = Counter()
        self._profiles = 0
        self._categories: Counter[str] = Counter()

    def take(self, row: Row) -> None:
        """Counts the labels of one profile."""
        for key, mark in row.reviews.get(HUMAN, {}).items():
            self._take("human_all", key, mark)
        revised = row.reviews.get(REVISED, {})
        for key, mark in revised.items():
            self._take("fig6", key, mark)
            if mark.certainty >= CERTAIN:
                self._take("revised_certainty_ge_3", key, mark)
            if key in TARGET_KEYS and mark.hardness >= 1 and mark.truth is not None:
                self._truths[mark.truth] += 1
        self._profiles += any(revised[key].hardness >= 1 for key in TARGET_KEYS if key in revised)
        degree = revised.get(EDUCATION_CATEGORY)
        if degree is not None and degree.hardness >= 1:
            self._categories[degree.value] += 1

    def _take(self, table: str, key: str, mark: Mark) -> None:
        if key in TARGET_KEYS and mark.hardness in STEPS:
            self._tables[table][key][mark.hardness] += 1

    def numbers(self) -> dict[str, Any]:
        """Each table has a row an attribute, one count for each hardness from 1 to 5."""
        found: dict[str, Any] = {}
        for name, table in self._tables.items():
            found[name] = {key: {str(step): table[key][step] for step in STEPS} for key in TARGET_KEYS}
            found[f"{name}_total"] = sum(tally.total() for tally in table.values())
        return found | {
            "revised_acc_gt_1": self._truths[1],
            "revised_acc_gt_half": self._truths[0.5],
            "profiles_with_revised_label": self._profiles,
            "education_category_of_labels": counts(self._categories),
        }


class AgreementTally:
    """Takes the rows of one file of labels scored against others. Counts the first score of every entry."""

    def __init__(self) -> None:
        self._rows = 0
        self._scores: defaultdict[str, Counter[float]] = defaultdict(Counter)

    def take(self, row: Row) -> None:
        """Counts the scores of one profile, of everyone who was scored."""
        self._rows += 1
        for who, kinds in row.evaluations.items():
            for scores in kinds.values():
                self._scores[who].update(one[0] if one else 0.0 for one in scores.values())

    def numbers(self, bad_lines: list[int]) -> dict[str, Any]:
        """Of everyone: n, the share that is exactly 1, the mean, and the share above 0."""
        found: dict[str, Any] = {"rows": self._rows, "bad_lines": bad_lines}
        for who, tally in self._scores.items():
            n = tally.total()
            found[who] = {
                "n": n,
                "exact": tally[1] / n,
                "half_credit": sum(score * times for score, times in tally.items()) / n,
                "not_zero": sum(times for score, times in tally.items() if score > 0) / n,
            }
        return found
