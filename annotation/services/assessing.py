"""Whether the answers to an item agree: written down after every change of them."""

from collections import defaultdict

from annotation.domain.adjudication import differing, settled_by
from annotation.domain.labels import State
from annotation.models import Annotation, Item, Queue


class _Said:
    """A stored label as far as the comparison needs it."""

    __slots__ = ("state", "value")

    def __init__(self, state: str, value: str) -> None:
        self.state, self.value = state, value


def assess(item: Item) -> None:
    """Writes down whether the answers to `item` agree, once as many people answered as were wanted.

    Called within the transaction of a submission; the item's row is locked by the caller. One query for the
    answers, one for how many are wanted (it may have changed before the lock), one more where something
    changed. One answer alone is not compared; where a lead asked somebody else as well, the two are. A
    settled item stays so while its decisions cover all that differs. Gold is not compared: it is known.
    """
    if item.gold:
        return
    wanted = max(2, Queue.objects.values_list("people_per_item", flat=True).get(pk=item.queue_id))
    rows = Annotation.objects.filter(item=item, person__isnull=False, over_quota=False).values_list(
        "pk", "item__agreement", "item__differing", "labels__attribute", "labels__state", "labels__value"
    )
    answers: dict[int, dict[str, _Said]] = defaultdict(dict)
    agreement, stored = item.agreement, item.differing
    for annotation, item_agreement, item_differing, attribute, state, value in rows:
        agreement, stored = item_agreement, item_differing  # `item` may have been read before the lock
        answers[annotation][attribute or ""] = _Said(state or State.UNTOUCHED, value or "")
    if len(answers) < wanted:
        found, differs = (agreement if agreement == Item.SETTLED else ""), []
    else:
        differs = differing(list(answers.values()))
        found = Item.DIFFERS if differs else Item.AGREED
        if agreement == Item.SETTLED and (not differs or _covered(item, differs)):
            found = Item.SETTLED
    if (found, differs) != (agreement, stored):
        Item.objects.filter(pk=item.pk).update(agreement=found, differing=differs)
    item.agreement, item.differing = found, differs


def _covered(item: Item, differs: list[str]) -> bool:
    return settled_by(item.decisions.values_list("attribute", flat=True), differs)
