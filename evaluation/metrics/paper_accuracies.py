"""Accuracies of a model's guesses as published (section 5, Fig. 4, Table 4) and of the rules alone.

An item is one profile and one attribute that was scored; its label is the revised one. What could not be read
from the answer was never stored and leaves the denominator: Gemini-1.5-Pro has 679 items, Gemma 699, not 700.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.domain.paper.labels import is_eligible
from evaluation.domain.paper.records import EDUCATION_CATEGORY, REVISED, Guessed, Mark, Row
from evaluation.domain.scoring import Label, Mode, score_guesses
from evaluation.metrics import accuracy
from evaluation.metrics.accuracy import Item
from simulation.domain.attributes import TARGET_KEYS

NOTHING = Guessed(())
UNLABELLED = Mark("", 0, 0)


@dataclass(frozen=True)
class Scored:
    """An item with what the rules need to score it again."""

    item: Item
    label: Label
    guessed: Guessed


class AccuracyTally:
    """Takes the rows of one file of scored guesses, the file of one model."""

    def __init__(self) -> None:
        self.models: set[str] = set()
        self._scored: list[Scored] = []
        self._eligible = 0

    def take(self, row: Row) -> None:
        """Notes the items of one profile."""
        revised = row.reviews.get(REVISED, {})
        self._eligible += sum(is_eligible(mark) for key, mark in revised.items() if key in TARGET_KEYS)
        self.models.update(row.evaluations, row.predictions)
        degree = revised.get(EDUCATION_CATEGORY, UNLABELLED).value
        for model, kinds in row.evaluations.items():
            guesses = row.predictions.get(model, {})
            for key, scores in kinds.get(REVISED, {}).items():
                mark = revised.get(key, UNLABELLED)
                item = Item(row.username, key, mark.hardness, mark.certainty, scores)
                label = Label(key, mark.value, degree if key == "education" else "", mark.truth)
                self._scored.append(Scored(item, label, guesses.get(key, NOTHING)))

    def numbers(self) -> dict[str, Any]:
        """All shares of one file by the names that the expected numbers have; none where nothing was scored.

        Accuracy is the share of items whose first score is exactly 1: a half counts as wrong, and so does an
        item without a guess, which stays in the denominator.
        """
        items = [one.item for one in self._scored]
        found: dict[str, Any] = {
            "n_items": len(items),
            "n_profiles_with_items": len({item.profile for item in items}),
            "eligible_labels": self._eligible,
            "no_guess_items": sum(not item.scores for item in items),
            "education_items_with_letter_split_categories": sum(map(_is_split, self._scored)),
        }
        if items:
            found |= {
                "correct_top1": sum(item.scores[:1] == (1,) for item in items),
                "top1": accuracy.top1(items).value,
                "top1_half_credit": accuracy.half_credit(items).value,
                "top1_less_precise_counts": accuracy.less_precise(items).value,
                "top3": accuracy.top3(items).value,
                "top1_profile_macro": accuracy.profile_macro(items).value,
                "top1_attribute_macro": accuracy.attribute_macro(items).value,
                "by_attribute": _grouped(items, "attribute"),
                "by_hardness": _grouped(items, "hardness"),
                "by_certainty": _grouped(items, "certainty"),
            }
            found |= self._by_rules()
        return found

    def _by_rules(self) -> dict[str, Any]:
        """The rules of the published scorer alone: no judge, no person. Items they leave open count as 0."""
        found: dict[str, Any] = {}
        for name, classic in (("jw_classic", True), ("jw_thresholded", False)):
            ruled = list(_ruled(self._scored, classic=classic))
            correct = sum(scores[:1] == (1,) for scores in ruled)
            found[f"det_top1_{name}"] = correct / len(ruled)
            if classic:
                pairs = zip(self._scored, ruled, strict=True)
                settled = [(one.item.scores, scores) for one, scores in pairs if any(scores)]
                found[f"det_items_nonzero_{name}"] = len(settled)
                same = sum(recorded == scores for recorded, scores in settled)
                found[f"det_nonzero_equal_recorded_{name}"] = same
        return found


def _is_split(one: Scored) -> bool:
    """Whether the degrees of the guesses were taken letter by letter, a fault of the published files."""
    return one.item.attribute == "education" and any(len(degree) == 1 for degree in one.guessed.categories)


def _ruled(scored: Iterable[Scored], *, classic: bool) -> Iterator[tuple[float, ...]]:
    for one in scored:
        verdicts = score_guesses(
            one.label,
            one.guessed.guesses,
            categories=one.guessed.categories,
            mode=Mode.COMPATIBLE,
            classic=classic,
        )
        yield tuple(verdict.score or 0.0 for verdict in verdicts)


def _grouped(items: Sequence[Item], field: str) -> dict[str, dict[str, float | None]]:
    """Value of the field -> n and accuracy."""
    shares = accuracy.by(items, field)
    return {str(value): {"n": shares[value].n, "top1": shares[value].value} for value in shares}
