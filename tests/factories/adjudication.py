"""Answers of several people to one comment, and the fields of the decision page."""

import itertools
import uuid

from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label, Outcome, Quote, State
from annotation.models import Item
from annotation.services import review
from simulation.domain.attributes import TARGET_KEYS
from tests.factories.simulation import MembershipFactory

NONE = Label(State.NONE, Outcome.NONE)
UNSURE = Label(State.UNSURE, Outcome.UNSURE)
_numbers = itertools.count()
UNTOUCHED = Label(State.UNTOUCHED, Outcome.UNTOUCHED)


def value(words, hardness=2, certainty=4, quotes=()):
    return Label(
        State.VALUE, Outcome.ADDED, words, hardness, certainty, tuple(Quote(*quote) for quote in quotes)
    )


def answer(person, item, *, note="", rest=NONE, **said):
    """`person` submits an answer to `item`; attributes that are not named are `rest`. The item, read anew."""
    review.submit(
        by=person,
        item=Item.objects.select_related("queue").get(pk=item.pk),
        submission_id=uuid.uuid4(),
        labels={**dict.fromkeys(TARGET_KEYS, rest), **said},
        suggestions={},
        now=timezone.now(),
        note=note,
    )
    return Item.objects.select_related("queue__corpus", "comment__thread").get(pk=item.pk)


def labelers(number):
    """New labelers, whose names no page of adjudication may show."""
    return [MembershipFactory(person__username=f"secretname{next(_numbers)}").person for _ in range(number)]


def answered(item, *answers, **options):
    """As many new labelers as `answers` (attribute key -> label) submit one each; the item, read anew."""
    for person, said in zip(labelers(len(answers)), answers, strict=True):
        found = answer(person, item, **{**options, **said})
    return found


def address(item, name="adjudicate"):
    return reverse(name, args=[item.queue.public_id, item.public_id])


def letter_of(sheet, attribute, words):
    """The column that says `words`."""
    return next(voice.letter for voice in sheet.voices if voice.opinions[attribute].value == words)
