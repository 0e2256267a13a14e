"""What annotators see differently, and the adjudicator's word on it."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from annotation.domain.adjudication import NOTHING
from annotation.domain.labels import Problem
from annotation.domain.rulings import Choice, Ruling, rule
from annotation.models import Decision, DecisionEvent, Flag, Item
from annotation.selectors import adjudication_sheet as sheets
from annotation.services import decision_notices, slots
from annotation.services.assessing import assess
from simulation.domain.attributes import TARGETS
from simulation.models import User
from simulation.services import audit

__all__ = ["NotDecided", "Stale", "Undecided", "assess", "decide", "open_model", "open_truth"]
REASONS = dict(Decision.REASONS)


class Undecided(Exception):
    """Choices cannot be taken; nothing was changed. `problems` say what is wrong."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} things to settle")
        self.problems = problems


class Stale(Exception):
    """Somebody decided, or an annotator changed an answer, since the page was made; nothing was changed.

    `answers_changed`: the columns are others than those on the page, so their letters mean nothing any more.
    """

    def __init__(self, *, answers_changed: bool) -> None:
        super().__init__("the page is not up to date")
        self.answers_changed = answers_changed


@slots.whole
def decide(
    *,
    by: User,
    item: Item,
    choices: Mapping[str, Choice],
    seen: str,
    now: datetime,
    saw_model: bool = False,
) -> int:
    """Settles `item` as `choices` (attribute key -> choice) say; the number of decisions made or changed.

    Attributes that were left alone and on which the annotators agree are settled as unanimous. `seen` is the
    stamp of the page (`Sheet.stamp`). One event for each decision that is new or another than before; a press
    that changes nothing is no conflict. Flags are answered with it. Raises Stale and Undecided.
    """
    slots.lock([item.pk])
    item = Item.objects.select_related("queue__corpus", "comment").get(pk=item.pk)
    sheet = sheets.sheet(item, by)
    answers, _, events = seen.partition("-")
    if answers != sheet.answers:
        raise Stale(answers_changed=True)
    rulings, problems = _rulings(sheet, choices)
    stored = sheet.rulings
    changed = {key: ruling for key, ruling in rulings.items() if stored.get(key) != ruling}
    if events != str(sheet.events) and (changed or problems):
        raise Stale(answers_changed=False)
    if not rulings and not problems:
        problems = [Problem("", "take", "nobody answered this comment yet: decide at least one attribute")]
    if problems:
        raise Undecided(problems)
    was_opened = sheets.opened(by, item)
    marks = {
        "bulk": False,
        "saw_model": saw_model or sheets.MODEL_OPENED in was_opened,
        "saw_truth": sheets.TRUTH_OPENED in was_opened,
    }
    _write(by, item, sheet, changed, marks)
    Item.objects.filter(pk=item.pk).update(agreement=Item.SETTLED, flagged=False)
    Flag.objects.filter(item=item, resolved_at=None).update(resolved_at=now)
    decision_notices.tell(corpus=item.queue.corpus, items=[item.pk])
    return len(changed)


def _rulings(sheet: sheets.Sheet, choices: Mapping[str, Choice]) -> tuple[dict[str, Ruling], list[Problem]]:
    rulings: dict[str, Ruling] = {}
    problems: list[Problem] = []
    for attribute in TARGETS:
        voices = {letter: said.get(attribute.key, NOTHING) for letter, said in sheet.columns}
        ruling = rule(attribute, choices.get(attribute.key, Choice()), voices, REASONS)
        if isinstance(ruling, list):
            problems += ruling
        elif ruling is not None:
            rulings[attribute.key] = ruling
    return rulings, problems


def _write(
    by: User, item: Item, sheet: sheets.Sheet, changed: Mapping[str, Ruling], marks: Mapping[str, bool]
) -> None:
    """The changed decisions of one item, and their events."""
    events = []
    for key, ruling in changed.items():
        before = sheet.decisions.get(key)
        old = None if before is None else {**sheets.ruling_of(before).as_json(), **marks_of(before)}
        decision = before or Decision(item=item, attribute=key)
        for name, value in ruling.as_json().items():
            setattr(decision, name, value)
        decision.by, decision.bulk, decision.saw_model = by, marks["bulk"], marks["saw_model"]
        decision.save()
        new = {**ruling.as_json(), **marks}
        events.append(DecisionEvent(item=item, person=by, attribute=key, old=old, new=new))
    DecisionEvent.objects.bulk_create(events)


def marks_of(decision: Decision) -> dict[str, bool]:
    """How a stored decision was made, in the form of its events."""
    return {"bulk": decision.bulk, "saw_model": decision.saw_model}


class NotDecided(Exception):
    """The truth stays sealed: the item is not settled."""


@transaction.atomic
def open_model(*, by: User, item: Item) -> None:
    """Writes down that `by` opened the model's column of `item`, the first time that they do."""
    if sheets.MODEL_OPENED not in sheets.opened(by, item):
        audit.record(by=by, action=sheets.MODEL_OPENED, target=item, corpus=item.queue.corpus)


@transaction.atomic
def open_truth(*, by: User, item: Item) -> list[sheets.Fact] | None:
    """The true attributes of the author beside the decisions, and an entry that says who looked.

    None where the comment has no profile. Raises NotDecided as long as the item is not settled.
    """
    slots.lock([item.pk])
    sheet = sheets.sheet(Item.objects.select_related("queue", "comment").get(pk=item.pk), by)
    if not sheet.is_decided:
        raise NotDecided(item.public_id)
    audit.record(by=by, action=sheets.TRUTH_OPENED, target=item, corpus=item.queue.corpus)
    return sheets.facts(item, sheet.decisions)
