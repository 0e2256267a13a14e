"""A label that contradicts the author's others comes back: to the adjudicator, or to another annotator."""

from dataclasses import dataclass

from annotation.models import Flag, Item, Slot
from annotation.selectors import authors
from annotation.selectors.authors import Line
from annotation.services import flags, slots
from simulation.models import Comment, User
from simulation.services import audit

ADJUDICATOR, ANNOTATOR = "adjudicator", "annotator"
LONGEST_NOTE = 500


class Refused(Exception):
    """It cannot be done, and nothing was changed. Says why and what to do, for the lead who asked."""


@dataclass(frozen=True)
class Requeued:
    """`again`: it had been asked for before, and nothing was changed."""

    line: Line
    again: bool


@slots.whole
def requeue(*, by: User, comment: Comment, annotation: str, attribute: str, to: str) -> Requeued:
    """Asks for another look at one attribute of an odd label by the author of `comment`.

    `annotation` is the public id of the annotation to which the label belongs; `to` is ADJUDICATOR (a flag by
    `by` that says what contradicts what) or ANNOTATOR (one more open slot of the item). Raises Refused where
    the label fits by now, came with an import, or cannot be handed out.
    """
    line = _odd_line(comment, annotation, attribute)
    item = line.item
    if item is None:
        raise Refused(
            "This label came with an import and belongs to no queue. Make a queue of the comment first; its "
            "answers can then be asked for again."
        )
    held = slots.lock_of(item)
    again = _flag(by, item, line) if to == ADJUDICATOR else _open_slot(item, held)
    if not again:
        details = {"attribute": attribute, "to": to, "annotation": annotation}
        audit.record(by=by, action="label.requeued", target=item, corpus=item.queue.corpus, details=details)
    return Requeued(line, again)


def _odd_line(comment: Comment, annotation: str, attribute: str) -> Line:
    for section in authors.sections(comment):
        for line in section.lines:
            if annotation and line.annotation == annotation and line.attribute == attribute and line.against:
                return line
    raise Refused(
        "This label contradicts nothing any more: it was changed or settled since the page was made. Look at "
        "the page again."
    )


def _flag(by: User, item: Item, line: Line) -> bool:
    """True where this very flag stands already. A flag of theirs about something else keeps its words."""
    note = f"contradicts: {line.value} here, {line.against} there"[:LONGEST_NOTE]
    attribute = line.attribute
    standing = Flag.objects.filter(item=item, person=by, resolved_at=None).first()
    if standing and note in standing.note and standing.attribute in (attribute, ""):
        return True
    if standing:
        attribute = attribute if standing.attribute == attribute else ""
        note = f"{note}; {standing.note}" if standing.note else note
    flags.raise_flag(by=by, item=item, attribute=attribute, note=note)
    return False


def _open_slot(item: Item, held: list[Slot]) -> bool:
    """True where somebody else is going to answer already."""
    if item.gold:
        raise Refused("The answer to this comment is known: it is gold. Change the answer instead.")
    if item.comment.state != "active":
        raise Refused("This comment is withdrawn; nobody can work on it.")
    if item.queue.state == "closed":
        raise Refused(
            f"The queue “{item.queue.name}” is closed and hands nothing out. Open it, or ask the adjudicator."
        )
    if any(slot.state in (Slot.OPEN, Slot.LEASED) for slot in held):
        return True
    slots.another(item, held).save()
    return False
