"""One item in front of one person: what they see, what they said, and how an answer now would come about.

The page and the API hand out the same sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.domain import rows
from annotation.domain.labels import Guessed, Label
from annotation.models import Annotation, FirstAnswer, Item, Queue, Slot, Suggestion
from annotation.selectors import queue as work
from annotation.services import review
from simulation.domain.attributes import CATALOGUE
from simulation.models import User

FIRST, FINAL = "first", "final"


@dataclass(frozen=True)
class Page:
    """One item in front of one person. `stage` is FIRST while a blind item has not been answered once."""

    queue: Queue
    item: Item
    person: User
    slot: Slot | None
    mine: Annotation | None
    first: FirstAnswer | None
    suggestions: Mapping[str, Suggestion]

    @property
    def blind(self) -> bool:
        return self.item.blind and self.queue.assisted

    @property
    def stage(self) -> str:
        return FIRST if self.blind and not self.first and not self.mine else FINAL

    @property
    def arm(self) -> str:
        """How an answer given now came about."""
        if not self.suggestions and not self.queue.assisted:
            return "unassisted"
        return "blind" if self.blind else "assisted"

    def guessed(self) -> dict[str, Guessed]:
        """The suggestions that this person may see now: none before a blind item is answered."""
        if self.stage == FIRST:
            return {}
        return {key: guess_of(row) for key, row in self.suggestions.items() if key in CATALOGUE}

    def given(self) -> dict[str, rows.Given]:
        """What stands in the rows: the stored answer, else the first one of a blind item."""
        if self.mine:
            return {
                row.attribute: rows.Given.of(Label.from_json(review.as_json(row)))
                for row in self.mine.labels.all()
            }
        if self.first:
            return {key: rows.Given.of(Label.from_json(said)) for key, said in self.first.labels.items()}
        return {}


def guess_of(row: Suggestion) -> Guessed:
    return Guessed(tuple(row.words), row.hardness, row.certainty)


def page_of(
    queue: Queue,
    item: Item,
    person: User,
    slot: Slot | None,
    *,
    fresh: bool = False,
    answering: bool = False,
) -> Page:
    """Gathers the page of an item.

    `fresh`: it was just claimed, so that no answer of theirs can exist. `answering`: the form came back; the
    stored answer is looked at under its lock, and here only where the stage depends on it.
    """
    blind = item.blind and queue.assisted
    mine = None
    if not fresh and (blind or not answering):
        mine = Annotation.objects.filter(item=item, person=person).first()
    first = FirstAnswer.objects.filter(item=item, person=person).first() if blind else None
    if slot is None or slot.suggested is None:
        suggestions = work.suggestions_for(item.comment, queue)
    else:
        suggestions = {row.attribute: row for row in slot.suggested}
    return Page(queue, item, person, slot, mine, first, suggestions)
