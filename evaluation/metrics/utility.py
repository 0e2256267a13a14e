"""How much of a text masking or rewriting leaves: characters kept, edit similarity, BLEU, ROUGE-L.

All are 0 to 1, 1 for equal texts, and compare a changed text with its original, the reference. None says
whether it still reads well; a judge's rating does.

- kept: characters of the original that stand in the changed text in the same order (longest common
  subsequence) / characters of the original. For masking by as many asterisks it is 1 less the masked share.
- edit similarity: 1 - Levenshtein distance / characters of the longer text. V. Levenshtein (1966).
- BLEU of a corpus, n-grams of 1 to 4 words: exp(min(0, 1 - r / c)) times the geometric mean of the clipped
  precisions, sums over all texts, r and c the words of originals and changed texts. K. Papineni, S. Roukos,
  T. Ward, W.-J. Zhu (2002), BLEU, ACL, 311-318. It is defined for a corpus; of single short texts, whose
  4-grams seldom match, it is mostly 0, so none is given. No smoothing.
- ROUGE-L: F with equal weight of recall and precision of the longest common subsequence of words. C.-Y. Lin
  (2004), ROUGE, ACL workshop Text Summarization Branches Out, 74-81.

Words: runs of letters and digits, apostrophes inside included, letter case aside; a run of asterisks and a
placeholder such as <LOCATION> are one word each, which the original does not have.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from rapidfuzz.distance import LCSseq, Levenshtein

from evaluation.metrics.intervals import Estimate, clustered

LONGEST_GRAM = 4
_WORD = re.compile(r"<[A-Z_]+>|\*+|[^\W_]+(?:['’][^\W_]+)*")


def words(text: str) -> list[str]:
    """The words that count, in small letters."""
    return [one.casefold() for one in _WORD.findall(text)]


def kept(original: str, changed: str) -> float:
    """Share of the original's characters that are left, in order; 1 for an empty original."""
    return LCSseq.similarity(original, changed) / len(original) if original else 1.0


def edit_similarity(original: str, changed: str) -> float:
    """1 - edit distance / length of the longer text, in characters; 1 for two empty texts."""
    return float(Levenshtein.normalized_similarity(original, changed))


def rouge_l(original: Sequence[str], changed: Sequence[str]) -> float:
    """F of the longest common subsequence of words: 2 L / (m + n); 1 for two texts without words."""
    total = len(original) + len(changed)
    return 2 * LCSseq.similarity(original, changed) / total if total else 1.0


class Bleu:
    """BLEU of a corpus, its pairs taken one by one; only sums are kept."""

    def __init__(self) -> None:
        self._matches = [0] * LONGEST_GRAM
        self._possible = [0] * LONGEST_GRAM
        self._reference = self._candidate = 0

    def take(self, original: Sequence[str], changed: Sequence[str]) -> None:
        """Counts one pair of texts in words."""
        self._reference += len(original)
        self._candidate += len(changed)
        for place in range(LONGEST_GRAM):
            mine, theirs = _grams(changed, place + 1), _grams(original, place + 1)
            self._matches[place] += (mine & theirs).total()
            self._possible[place] += mine.total()

    def value(self) -> float | None:
        """0 to 1; 0 where no n-gram of some length matches, None where no text has four words."""
        if not self._possible[-1]:
            return None
        if not all(self._matches):
            return 0.0
        shares = (log(m / p) for m, p in zip(self._matches, self._possible, strict=True))
        short = min(0.0, 1 - self._reference / self._candidate)
        return exp(short + fsum(shares) / LONGEST_GRAM)


def _grams(text: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(text[place : place + n]) for place in range(len(text) - n + 1))


@dataclass(frozen=True)
class Utility:
    """What is left of `pairs` texts, of which `changed` are not equal to their original.

    `kept_characters` is over all characters together; the three estimates are means over texts with intervals
    clustered by author. Everything is None, or an estimate without value, where there are no texts.
    """

    pairs: int
    changed: int
    characters: int
    kept_characters: float | None
    kept: Estimate
    edit: Estimate
    rouge_l: Estimate
    bleu: float | None


class UtilityTally:
    """Takes originals with their changed texts one by one; three numbers a text are kept, no texts."""

    def __init__(self) -> None:
        self._kept, self._edit, self._rouge = array("d"), array("d"), array("d")
        self._authors: array[int] = array("q")
        self._seen: dict[Hashable, int] = {}
        self._bleu = Bleu()
        self._changed = self._characters = 0
        self._left = 0.0

    def take(self, original: str, changed: str, author: Hashable) -> None:
        """Compares one text with its original; `author` is the cluster of the intervals."""
        share = kept(original, changed)
        ours, theirs = words(original), words(changed)
        self._kept.append(share)
        self._edit.append(edit_similarity(original, changed))
        self._rouge.append(rouge_l(ours, theirs))
        self._authors.append(self._seen.setdefault(author, len(self._seen)))
        self._bleu.take(ours, theirs)
        self._changed += original != changed
        self._characters += len(original)
        self._left += share * len(original)

    def utility(self) -> Utility:
        """The numbers of what was taken so far."""
        return Utility(
            pairs=len(self._kept),
            changed=self._changed,
            characters=self._characters,
            kept_characters=self._left / self._characters if self._characters else None,
            kept=clustered(self._kept, self._authors),
            edit=clustered(self._edit, self._authors),
            rouge_l=clustered(self._rouge, self._authors),
            bleu=self._bleu.value(),
        )
