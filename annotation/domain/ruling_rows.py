"""The rows of the decision page: what each column says, how it relates, what is chosen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.domain.adjudication import NOTHING, Opinion, agreed, relation, spread, standing
from annotation.domain.labels import Guessed, Problem, as_offered
from annotation.domain.rulings import Choice, Ruling, choice_of
from simulation.domain.attributes import TARGETS, Attribute
from simulation.domain.matching import Match


@dataclass(frozen=True)
class Cell:
    """What one column says, and how that relates to what most say."""

    letter: str
    opinion: Opinion
    match: Match


@dataclass(frozen=True)
class Row:
    """One attribute of the decision page."""

    attribute: Attribute
    cells: tuple[Cell, ...]
    match: Match
    """The strongest difference among the columns."""
    choice: Choice
    is_open: bool
    """Whether it has to be decided, and is not folded away with what is agreed."""
    decided: Ruling | None = None
    guessed: Guessed | None = None
    problems: tuple[Problem, ...] = field(default=())

    @property
    def differs(self) -> bool:
        return self.match is not Match.SAME

    @cached_property
    def common(self) -> Opinion:
        """What the columns say together, where they do not differ."""
        return agreed([cell.opinion for cell in self.cells])

    @property
    def others(self) -> tuple[str, ...]:
        """The other ways in which the columns write what they say together."""
        values = dict.fromkeys(cell.opinion.value for cell in self.cells if cell.opinion.said)
        return tuple(value for value in values if value != self.common.value)

    @property
    def hardness(self) -> tuple[int, int] | None:
        return spread(cell.opinion.hardness for cell in self.cells)

    @property
    def certainty(self) -> tuple[int, int] | None:
        return spread(cell.opinion.certainty for cell in self.cells)

    @property
    def model_says(self) -> tuple[str, ...]:
        """The guesses of the model, best first."""
        return tuple(as_offered(self.attribute, one) for one in self.guessed.guesses) if self.guessed else ()


def rows(
    columns: Sequence[tuple[str, Mapping[str, Opinion]]],
    *,
    choices: Mapping[str, Choice],
    decided: Mapping[str, Ruling],
    asked: Iterable[str],
    guessed: Mapping[str, Guessed],
    problems: Iterable[Problem] = (),
) -> list[Row]:
    """One row an attribute, in the catalogue's order. Open are those that differ, those that somebody
    flagged (`asked`), those with a choice or a problem; all of them where nobody answered."""
    wanted, wrong, made = set(asked), list(problems), []
    for attribute in TARGETS:
        key = attribute.key
        voices = {letter: said.get(key, NOTHING) for letter, said in columns}
        opinions = list(voices.values())
        match = relation(attribute, opinions)
        own = tuple(problem for problem in wrong if problem.attribute == key)
        ruling = decided.get(key)
        choice = choices.get(key) or (choice_of(attribute, ruling, voices) if ruling else Choice())
        cells = zip(voices.items(), standing(attribute, opinions), strict=True)
        made.append(
            Row(
                attribute=attribute,
                cells=tuple(Cell(letter, opinion, mark) for (letter, opinion), mark in cells),
                match=match,
                choice=choice,
                is_open=match is not Match.SAME or key in wanted or bool(own or choice.take) or not columns,
                decided=ruling,
                guessed=guessed.get(key),
                problems=own,
            )
        )
    return made
