"""Starting runs of profiles and styles: what is planned, what is refused, who takes whose place."""

import pytest

from simulation.domain.plans import BadPlan
from simulation.domain.profile_targets import Targets
from simulation.models import Profile, Run
from simulation.services import engine, profile_runs
from simulation.services.profile_runs import Profiling
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import reply
from tests.inventing import CAPS, MODEL, PERSON, STYLER, generate, is_profile, made, scripted, start
from tests.running import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def model(gateway):
    gateway.answers = scripted
    return gateway


def test_without_a_style_the_profile_stays_and_a_run_of_styles_writes_it(model):
    model.answers = lambda request, attempt: (
        scripted(request, attempt) if is_profile(request) else reply("", refusal="no")
    )
    run = generate(count=2)
    one, other = made(run)
    assert (one.style, one.version) == ("", 1)
    assert "style_missing" in [said["rule"] for said in one.warnings]
    assert set(run.steps.filter(kind="style").values_list("reason", flat=True)) == {"refused"}
    model.answers = scripted
    fields = {"by": None, "corpus": run.corpus, "provider": ProviderFactory(), "styler": STYLER, "seed": 1}
    styles = profile_runs.start_styles(**fields, **CAPS, profiles=[one], name="styles")
    assert work_off(styles, Profiling()).state == "done"
    one.refresh_from_db()
    other.refresh_from_db()
    assert (bool(one.style), one.version, other.style) == (True, 2, "")
    assert "style_missing" not in [said["rule"] for said in one.warnings]
    again = profile_runs.start_styles(**fields | {"seed": 2}, **CAPS, profiles=[one], name="styles again")
    work_off(again, Profiling())
    assert Profile.objects.get(pk=one.pk).version == 3
    assert one.versions.get(version=2).style == one.style


def test_a_profile_that_was_deleted_meanwhile_has_its_style_skipped(model):
    run = start(count=1)
    engine.advance(run_id=run.pk, work=Profiling())
    Profile.objects.all().delete()
    work_off(run, Profiling())
    step = run.steps.get(kind="style")
    assert (step.state, step.reason) == ("skipped", "gone")


def test_another_in_place_of_a_rejected_one_has_the_same_wishes(model):
    old = made(generate(count=1))[0]
    fields = {"by": None, "provider": ProviderFactory(), "model": MODEL, "styler": STYLER, "seed": 77}
    run = profile_runs.regenerate(profile=old, **fields, **CAPS)
    old.refresh_from_db()
    assert old.state == "rejected"
    assert run.steps.get().asks["wishes"] == old.call.step.asks["wishes"]
    assert work_off(run, Profiling()).state == "done"
    (new,) = made(run)
    assert (new.external_id, new.state) == ("pers2", "proposed")
    assert new.facts["age"] == run.steps.get(kind="profile").asks["wishes"]["age"]


def test_in_place_of_one_that_nobody_asked_for_somebody_alike_is_asked_for(model):
    typed = ProfileFactory(external_id="p7", facts=PERSON)
    fields = {"by": None, "provider": ProviderFactory(), "model": MODEL, "styler": STYLER, "seed": 7}
    run = profile_runs.regenerate(profile=typed, **fields, **CAPS)
    wishes = run.steps.get().asks["wishes"]
    assert (wishes["age"], wishes["city_country"]) == (41, "Norway")
    assert (wishes["education"], wishes["occupation"]) == ("College Degree", "health and care")
    assert run.steps.get().asks["external_id"] == "p8"


def test_ids_go_on_as_the_corpus_has_them_and_names_stay_unique(model):
    corpus = CorpusFactory()
    for number in range(8, 11):
        ProfileFactory(corpus=corpus, external_id=f"p{number:02d}")
    one, other = start(corpus, count=2), start(corpus, count=2)
    planned = [step.asks for run in (one, other) for step in run.steps.order_by("number")]
    assert [asks["external_id"] for asks in planned] == ["p11", "p12", "p13", "p14"]
    assert len({asks["username"].casefold() for asks in planned}) == 4
    ProfileFactory(corpus=corpus, external_id="p11", username=planned[0]["username"].upper())
    work_off(one, Profiling())
    first = one.made_profiles.order_by("pk").first()
    assert first.external_id == "p11_2"
    assert first.username.casefold() != planned[0]["username"].casefold()


def test_those_of_the_same_country_are_named_to_be_stayed_away_from(model):
    corpus = CorpusFactory()
    ProfileFactory(corpus=corpus, facts=PERSON)
    targets = Targets.from_dict({"city_country": {"Norway": 1}, "country_cap": 1})
    run = generate(corpus, count=1, targets=targets)
    text = run.model_calls.filter(purpose="profile").first().request["messages"][1]["content"]
    assert "there already: nurse in Bergen, Norway" in text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": 0}, "count"),
        ({"count": 5001}, "count"),
        ({"seed": -1}, "seed"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_cost": -1}, "max_cost"),
        ({"soft_cost": 5, "max_cost": 4}, "soft_cost"),
        ({"twin_from": 1}, "twin_from"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_by_field(model, change, field):
    corpus = CorpusFactory()
    with pytest.raises(BadPlan) as refused:
        start(corpus, **change)
    assert refused.value.field == field
    assert not Run.objects.exists()


def test_styles_are_for_profiles_of_the_corpus_alone(model):
    fields = {"by": None, "name": "s", "provider": ProviderFactory(), "styler": STYLER, "seed": 1, **CAPS}
    for profiles in ([], [ProfileFactory()]):
        with pytest.raises(BadPlan, match=r"no profile|of this corpus"):
            profile_runs.start_styles(corpus=CorpusFactory(), profiles=profiles, **fields)
