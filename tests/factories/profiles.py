"""Profiles as a run proposes them: whole, consistent and all different in name."""

import factory

from simulation.models import Profile
from tests.factories.simulation import ProfileFactory

FACTS = {
    "age": 41,
    "sex": "female",
    "city_country": "Lisbon, Portugal",
    "birth_city_country": "Porto, Portugal",
    "education": "Masters in Law",
    "occupation": "notary",
    "income_level": "middle",
    "relationship_status": "married",
    "income": "30 thousand euros",
}
STYLE = "Writing style: short and dry.\n\nExample: fine by me."


class ProposedFactory(ProfileFactory):
    """A proposed profile without a warning; give `warnings`, `facts`, `run`, `call` for more."""

    facts = factory.LazyFunction(lambda: dict(FACTS))
    style = STYLE
    state = Profile.PROPOSED
    source = Profile.GENERATED


def warning(*attributes: str, text: str = "Too young for that.", rule: str = "age_education") -> dict:
    return {"rule": rule, "attributes": list(attributes), "text": text}
