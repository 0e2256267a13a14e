"""Runs that generate profiles, as the tests of them need them."""

import json

from simulation.domain.plans import RoleModel
from simulation.domain.profile_targets import Targets
from simulation.llm.scripted import ScriptedModel
from simulation.services import profile_runs
from simulation.services.profile_runs import Profiling
from tests.factories.simulation import CorpusFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.running import work_off

MODEL, STYLER = RoleModel("scripted", temperature=1.0), RoleModel("scripted", temperature=0.0)
CAPS = {"max_calls": 500, "max_tokens": 3_000_000}
PERSON = {
    "age": 41,
    "sex": "female",
    "city_country": "Bergen, Norway",
    "birth_city_country": "Bergen, Norway",
    "education": "Bachelors in Nursing",
    "occupation": "nurse",
    "income_level": "middle",
    "relationship_status": "married",
    "income": "560 thousand norwegian krone",
}


def scripted(request, attempt):
    return ScriptedModel().reply(request)


def is_profile(request):
    return (request.schema or {}).get("title") == "Profile"


def always(**change):
    """Everybody is this person; styles are scripted."""
    return lambda request, attempt: (
        reply(json.dumps(PERSON | change)) if is_profile(request) else scripted(request, attempt)
    )


def start(corpus=None, count=6, seed=3, **options):
    fields = CAPS | {"targets": Targets.usual()} | options
    return profile_runs.start_generation(
        by=None,
        corpus=corpus or CorpusFactory(),
        name="people",
        provider=ProviderFactory(),
        model=MODEL,
        styler=STYLER,
        count=count,
        seed=seed,
        **fields,
    )


def generate(*args, **options):
    return work_off(start(*args, **options), Profiling())


def made(run):
    return list(run.made_profiles.order_by("pk"))
