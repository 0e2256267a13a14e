"""A person's own keys of the review page."""

from collections.abc import Mapping

from django.db import transaction

from annotation.domain.keys import CHANGEABLE, Clash, problems
from simulation.models import User


class KeysRefused(Exception):
    """The keys that cannot be taken; nothing was changed."""

    def __init__(self, clashes: list[Clash]) -> None:
        super().__init__("; ".join(clash.message for clash in clashes))
        self.clashes = clashes


@transaction.atomic
def set_keys(*, by: User, changes: Mapping[str, str], on: bool) -> User:
    """Stores which keys `by` uses (action -> key, "" for none) and whether any key works at all.

    Only what differs from the defaults is kept, so that a default that changes later reaches everybody
    who had not chosen otherwise. Raises KeysRefused.
    """
    own = {action: key for action, key in changes.items() if CHANGEABLE.get(action, ("\0",))[0] != key}
    clashes = problems(own)
    if clashes:
        raise KeysRefused(clashes)
    person = User.objects.select_for_update(no_key=True).get(pk=by.pk)
    person.review_keys, person.review_keys_on = own, on
    person.save(update_fields=["review_keys", "review_keys_on"])
    return person
