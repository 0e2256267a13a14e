"""How far two maskings of the same texts agree, character by character."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.domain.masking import SIGN


@dataclass(frozen=True, slots=True)
class Agreement:
    """Characters that the reference masked, that ours masked, that both did; all characters of the texts."""

    reference: int
    ours: int
    both: int
    characters: int

    @property
    def recall(self) -> float | None:
        """Share of the characters masked in the reference that ours masks too; None where it masks none."""
        return self.both / self.reference if self.reference else None

    @property
    def precision(self) -> float | None:
        """Share of the characters masked by ours that the reference masks too; None where ours masks none."""
        return self.both / self.ours if self.ours else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of the two, which is 2 both / (reference + ours); None where neither masks any."""
        masked = self.reference + self.ours
        return 2 * self.both / masked if masked else None


class AgreementTally:
    """Takes texts one by one, each with its two maskings by as many asterisks as characters."""

    def __init__(self) -> None:
        self._reference = self._ours = self._both = self._characters = 0

    def take(self, text: str, reference: str, ours: str) -> None:
        """Counts one text. An asterisk of the text itself is masked by nobody.

        Raises ValueError where the three differ in length: such a pair cannot be compared place by place.
        """
        if not len(text) == len(reference) == len(ours):
            raise ValueError(
                f"lengths differ: text {len(text)}, reference {len(reference)}, ours {len(ours)}"
            )
        for sign, one, other in zip(text, reference, ours, strict=True):
            theirs = one == SIGN != sign
            mine = other == SIGN != sign
            self._reference += theirs
            self._ours += mine
            self._both += theirs and mine
        self._characters += len(text)

    def agreement(self) -> Agreement:
        """What was counted so far."""
        return Agreement(self._reference, self._ours, self._both, self._characters)
