"""What models guessed: how many guesses were read from their answers (section 5 of the paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from evaluation.domain.answers import Reading
from evaluation.domain.paper.labels import is_asked
from evaluation.domain.paper.records import AGAINST_TRUTH, REVISED, FullAnswer, Row
from evaluation.domain.paper.summaries import Counts
from simulation.domain.attributes import TARGET_KEYS

WANTED = 3
"""Guesses that a model is asked for."""

Reader = Callable[[str, Sequence[str]], Reading]
"""Full answer and asked attributes -> what was read from it."""
OldReader = Callable[[str, Sequence[str]], Mapping[str, tuple[str, ...]]]
"""The same, by the rules of the published scripts: attribute -> guesses."""


def asked_of(row: Row) -> tuple[str, ...]:
    """The attributes that a model was asked for: the revised label has hardness and certainty >= 1."""
    revised = row.reviews.get(REVISED, {})
    return tuple(key for key in TARGET_KEYS if key in revised and is_asked(revised[key]))


class Released(NamedTuple):
    """Of one profile: attribute asked for -> guesses in the released file."""

    guesses: Mapping[str, tuple[str, ...]]


class PredictionTally:
    """Takes the rows of one file of predictions. `profiles` is what the comparison with the answers needs."""

    def __init__(self) -> None:
        self.models: set[str] = set()
        self.profiles: dict[str, Released] = {}
        self._found: Counter[str] = Counter()

    def take(self, row: Row) -> None:
        """Counts the guesses of one profile."""
        self.models.update(row.predictions)
        asked = asked_of(row)
        guessed = {key: one.guesses for block in row.predictions.values() for key, one in block.items()}
        self._found["rows"] += 1
        self._found["asked"] += len(asked)
        self._found["extra_types"] += len(guessed.keys() - set(asked))
        for key in asked:
            n = len(guessed.get(key, ()))
            self._found["three" if n == WANTED else "other" if n else "none"] += 1
        self.profiles[row.username] = Released({key: guessed.get(key, ()) for key in asked})

    def numbers(self) -> Counts:
        """Rows, asked attributes, and how many of these have three, another number of, or no guesses.

        `extra_types` counts the attributes of the released answer that were not asked for.
        """
        found = Counts({key: n for key, n in self._found.items() if n})
        return Counts(found | {key: self._found[key] for key in ("rows", "asked", "extra_types")})


class AnswerTally:
    """Takes the raw answers of a model, reads them anew and sets them beside its released guesses.

    Two readers are asked: ours, which takes what a person would take for guesses, and the published one, with
    the faults that are in the released guesses, so that only its guesses can be equal to these.
    """

    def __init__(self, released: Mapping[str, Released], read: Reader, read_as_published: OldReader) -> None:
        self._released = released
        self._read = read
        self._read_as_published = read_as_published
        self._found: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()

    def take(self, answer: FullAnswer) -> None:
        """Counts one answer; that of a profile without predictions has nothing asked for."""
        self._found["answers"] += 1
        released = self._released.get(answer.username)
        asked = tuple(released.guesses) if released else ()
        reading = self._read(answer.text, asked)
        published = self._read_as_published(answer.text, asked)
        for key in asked:
            read = reading.answers[key]
            self._outcomes[str(read.outcome)] += 1
            self._found["three"] += len(read.guesses) == WANTED
            self._found["any"] += bool(read.guesses)
            assert released is not None
            self._found["equal"] += plain(published[key]) == plain(released.guesses[key])
            self._found["equal_ours"] += plain(read.guesses) == plain(released.guesses[key])

    def numbers(self) -> dict[str, Any]:
        """Attributes asked for, by what was read. `released_*` are of the released file; `baseline_three` and
        `baseline_any` of our reading, with three and with any guesses; `equal` guess lists of the published
        reader that are as released (both may be empty), `equal_by_our_reader` of ours, like `outcomes`."""
        guesses = [one for released in self._released.values() for one in released.guesses.values()]
        return {
            "answers": self._found["answers"],
            "asked": len(guesses),
            "released_three": sum(len(one) == WANTED for one in guesses),
            "released_any": sum(bool(one) for one in guesses),
            "baseline_three": self._found["three"],
            "baseline_any": self._found["any"],
            "equal": self._found["equal"],
            "equal_by_our_reader": self._found["equal_ours"],
            "outcomes": Counts({key: self._outcomes[key] for key in sorted(self._outcomes)}),
        }


def plain(guesses: Sequence[str]) -> list[str]:
    """Guesses as they are compared: trimmed, lower-cased, without dots at their ends."""
    return [guess.strip().lower().rstrip(".").rstrip() for guess in guesses]


class TruthTally:
    """Takes the rows of a file of scores against the profiles themselves.

    The released ones are unusable: each profile kept the scores of one attribute only, the last.
    """

    def __init__(self) -> None:
        self._profiles = 0
        self._items = 0
        self._most = 0
        self._guessed = 0

    def take(self, row: Row) -> None:
        """Counts the scores of one profile."""
        kinds = [kinds.get(AGAINST_TRUTH, {}) for kinds in row.evaluations.values()]
        items = sum(map(len, kinds))
        self._profiles += 1
        self._items += items
        self._most = max(self._most, items)
        self._guessed = max([self._guessed, *map(len, row.predictions.values())])

    def numbers(self) -> dict[str, Any]:
        """`unusable`: no profile has more than one score although more was guessed."""
        return {
            "unusable": self._most <= 1 < self._guessed,
            "surviving_items": self._items,
            "profiles": self._profiles,
        }
