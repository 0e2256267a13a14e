"""What the base template needs on every page."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from simulation.domain.roles import Right
from simulation.models import User
from simulation.selectors.access import rights_of, roles_of


@dataclass(frozen=True)
class Place:
    """One entry of the bar. `names` are the url names under which it is the current one."""

    label: str
    url: str
    right: Right | None
    section: str


# The same order for everybody; each sees the places they have a right to.
PLACES = (
    Place("Home", "home", None, "home"),
    Place("Review", "queues", Right.REVIEW, "review"),
    Place("Adjudicate", "adjudication", Right.ADJUDICATE, "adjudication"),
    Place("Corpora", "corpora", Right.BROWSE, "corpora"),
    Place("Runs", "runs", Right.SEE_RUNS, "runs"),
    Place("Models", "models", Right.SEE_PROFILES, "models"),
    Place("People", "people", Right.MANAGE_PEOPLE, "people"),
)


def page(request: HttpRequest) -> dict[str, Any]:
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return {"places": (), "rights": frozenset(), "role": None, "theme": "system"}
    # A part of a page has no bar: what the bar needs is asked when it is drawn.
    return {
        "places": SimpleLazyObject(lambda: _places(person)),
        "rights": SimpleLazyObject(lambda: {right.name.lower(): True for right in rights_of(person)}),
        "role": SimpleLazyObject(lambda: next((role.value for role in roles_of(person)), "")),
        "theme": person.theme,
    }


def _places(person: User) -> list[Place]:
    rights = rights_of(person)
    return [place for place in PLACES if place.right is None or place.right in rights]
