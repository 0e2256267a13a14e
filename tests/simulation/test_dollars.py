"""Amounts in dollars that people type, in every form that takes one: kept exactly, or said to be wrong."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.forms.tagging import CapsForm as TagCaps
from simulation.domain.money import MOST_NANO, NANO
from simulation.forms.budget import BudgetForm
from simulation.forms.dollars import AmountField, DollarsField
from simulation.forms.profile_generation import StylesForm
from simulation.forms.runs import AgainForm, CapsForm
from simulation.forms.simulation import SimulationForm
from simulation.models import Workspace
from tests.factories.simulation import CorpusFactory, ProviderFactory, RunFactory
from tests.running import start

pytestmark = pytest.mark.django_db
NO_AMOUNTS = ["NaN", "sNaN", "Infinity", "-Infinity", "-0", "-0.0", "1e400", "-1", "9000000001", "9" * 5000]
NO_AMOUNTS += ["1e-400", "two", "0.0000000001"]


def forms(name, value):
    """Every form with a field for dollars, with this value in it."""
    run = RunFactory(max_cost=NANO)
    providers = [ProviderFactory()]
    yield CapsForm({name: value}, run=run)
    yield StylesForm({name: value}, providers=providers)
    yield SimulationForm({name: value}, corpus=CorpusFactory(), providers=providers)
    yield TagCaps({name: value})
    if name == "max_cost":
        yield AgainForm({name: value}, run=run)


@pytest.mark.parametrize("value", NO_AMOUNTS)
@pytest.mark.parametrize("name", ["max_cost", "soft_cost"])
def test_what_is_no_amount_is_said_beside_the_field(name, value):
    for form in forms(name, value):
        assert form.errors.get(name), (form, value)
        assert len(form.errors[name]) == 1


@pytest.mark.parametrize("value", NO_AMOUNTS)
def test_the_budget_keeps_none_of_them(value):
    form = BudgetForm({"hard_cap": value, "soft_cap": value}, budget=Workspace())
    assert set(form.errors) == {"hard_cap", "soft_cap"}


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("", None), ("0", 0), ("0.000001", 1000), ("2.50", 2_500_000_000), ("9000000000", MOST_NANO)],
)
def test_an_amount_is_kept_in_nano_dollars(typed, kept):
    assert DollarsField().clean(typed) == kept


def test_how_fine_an_amount_may_be():
    assert AmountField().clean("0.0000001") * NANO == 100
    with pytest.raises(ValidationError, match="6 decimal places"):
        DollarsField().clean("0.0000001")


@pytest.mark.parametrize(
    ("nano", "shown"), [(NANO, "1"), (0, "0"), (1, "0.000001"), (1_234_567_891, "1.234568"), (None, None)]
)
def test_a_cap_is_shown_so_that_it_can_be_sent_back(nano, shown):
    field = DollarsField()
    assert field.prepare_value(nano) == shown
    assert nano is None or field.clean(shown) >= nano


@pytest.mark.parametrize("value", ["9000000001", "NaN", "1e400", "-0"])
def test_pages_of_runs_answer_with_the_error(gateway, client_of, admin, value):
    run = start()
    browser = client_of(admin)
    sent = {"max_cost": value, "max_calls": "1000", "max_tokens": "9000000"}
    for name in ("run_caps", "run_rerun"):
        answer = browser.post(reverse(name, args=[run.public_id]), sent)
        assert answer.status_code == 422, name
    run.refresh_from_db()
    assert (run.max_cost, type(run).objects.count()) == (None, 1)
