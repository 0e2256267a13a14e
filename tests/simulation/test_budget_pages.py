"""The pages of money: prices, the budget, what was spent on what, and who may do what."""

import json
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from simulation.domain.money import NANO
from simulation.domain.roles import Role
from simulation.models import AuditEntry, Price, Run, RunPreset, Workspace
from simulation.selectors import budget as selectors
from simulation.selectors import ledger_sums
from simulation.services import budget, prices
from synthpai_web.templatetags.run_parts import per_million, usd
from tests.factories.simulation import (
    AttemptFactory,
    MembershipFactory,
    ModelCallFactory,
    ProviderFactory,
    RunFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db


def costing(run, dollars, *, model="scripted", ended=None):
    """A call of `run` that came back and cost so much."""
    call = ModelCallFactory(step=StepFactory(run=run), model=model, cost=int(dollars * NANO))
    return AttemptFactory(call=call, cost=call.cost, ended_at=ended or timezone.now())


def spent(amount, **fields):
    budget.workspace()
    Workspace.objects.update(spent=int(amount * NANO), **fields)


def shown(answer):
    """The words of a page, without its markup's line breaks."""
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (None, ""),
        (0, "$0.00"),
        (1, "<$0.0001"),
        (99_999, "<$0.0001"),
        (100_000, "$0.0001"),
        (3_100_000, "$0.0031"),
        (54_000_000, "$0.054"),
        (270_000_000, "$0.27"),
        (3_180_000_000, "$3.18"),
        (1_204 * NANO, "$1,204.00"),
        (-2 * NANO, "−$2.00"),
    ],
)
def test_money_is_said_in_the_digits_that_matter(amount, words):
    assert usd(amount) == words


@pytest.mark.parametrize(
    ("price", "words"),
    [("0.15", "$0.15"), ("2.5", "$2.50"), ("0.075000", "$0.075"), ("0", "$0.00"), ("10000", "$10,000.00")],
)
def test_a_unit_price_is_said_exactly(price, words):
    assert per_million(Decimal(price)) == words


def test_caps_are_set_and_written_down(admin, client_of):
    answer = client_of(admin).post(reverse("budget"), {"soft_cap": "20.5", "hard_cap": "25"}, follow=True)
    row = Workspace.objects.get()
    assert (row.soft_cap, row.hard_cap) == (20_500_000_000, 25 * NANO)
    assert "The caps are set." in shown(answer)
    entry = AuditEntry.objects.get(action="budget.caps_set")
    assert (entry.actor, entry.details) == (admin, {"soft_cap": row.soft_cap, "hard_cap": row.hard_cap})
    client_of(admin).post(reverse("budget"), {"soft_cap": "", "hard_cap": ""})
    row.refresh_from_db()
    assert (row.soft_cap, row.hard_cap) == (None, None)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"soft_cap": "30", "hard_cap": "25"}, "cannot be above it"),
        ({"soft_cap": "", "hard_cap": "-1"}, "greater than or equal to 0"),
        ({"soft_cap": "", "hard_cap": "9000000001"}, "less than or equal to 9000000000"),
        ({"soft_cap": "x", "hard_cap": "25"}, "Enter a number"),
    ],
)
def test_caps_that_cannot_be_are_refused_and_nothing_changes(admin, client_of, sent, words):
    budget.set_caps(by=None, soft_cap=1, hard_cap=2)
    answer = client_of(admin).post(reverse("budget"), sent)
    assert answer.status_code == 422
    assert words in shown(answer)
    assert Workspace.objects.values_list("soft_cap", "hard_cap").get() == (1, 2)


def test_a_cap_below_what_is_spent_is_set_and_said(admin, client_of):
    spent(3, held=NANO)
    answer = client_of(admin).post(reverse("budget"), {"soft_cap": "", "hard_cap": "3.5"}, follow=True)
    assert "below what is spent and set aside" in shown(answer)
    assert Workspace.objects.get().hard_cap == 3_500_000_000


def test_the_service_refuses_caps_that_no_column_holds():
    with pytest.raises(ValidationError):
        budget.set_caps(by=None, soft_cap=-1, hard_cap=10**19)


def test_a_new_period_is_typed_and_counts_anew(admin, client_of):
    spent(3, held=NANO, counted_from=timezone.now() - timedelta(days=30))
    browser = client_of(admin)
    refused = browser.post(reverse("budget_period"), {"typed": "yes"})
    assert refused.status_code == 422
    assert "“yes” is not the name" in shown(refused)
    assert Workspace.objects.get().spent == 3 * NANO
    browser.post(reverse("budget_period"), {"typed": "new period"})
    row = Workspace.objects.get()
    assert (row.spent, row.held) == (0, NANO)
    assert timezone.now() - row.counted_from < timedelta(minutes=1)
    assert AuditEntry.objects.get(action="budget.period_begun").details == {"spent": 3 * NANO}


def test_what_was_spent_is_shown_by_run_corpus_and_model(admin, corpus, client_of):
    spent(10)
    first, second = RunFactory(corpus=corpus, name="first"), RunFactory(name="second")
    costing(first, 4, model="gpt-4o")
    costing(first, 2)
    costing(second, 3)
    tables = ledger_sums.tables(
        ledger_sums.since(budget.workspace().counted_from), total=10 * NANO, person=admin
    )
    assert [(line.of, line.calls, line.cost // NANO) for line in tables["runs"].lines] == [
        (first, 2, 6),
        (second, 1, 3),
        (None, 0, 1),
    ]
    assert [line.of for line in tables["corpora"].lines] == [corpus, second.corpus, None]
    assert [(line.of[1], line.cost // NANO) for line in tables["models"].lines[:1]] == [("gpt-4o", 4)]
    page = shown(client_of(admin).get(reverse("budget")))
    for words in ("first", "winter", "gpt-4o", "$6.00", "everything else", "$10.00"):
        assert words in page


def test_what_ended_before_the_period_is_not_in_it(corpus):
    begun = timezone.now() - timedelta(days=1)
    run = RunFactory(corpus=corpus)
    costing(run, 5, ended=begun - timedelta(seconds=1))
    costing(run, 2, ended=begun)
    over = RunFactory(corpus=corpus, ended_at=begun - timedelta(hours=1))
    costing(over, 7, ended=begun - timedelta(hours=1))
    assert [(one.run, one.cost) for one in ledger_sums.since(begun)] == [(run, 2 * NANO)]


def test_sums_of_a_run_that_is_over_follow_its_counters():
    begun = timezone.now() - timedelta(days=1)
    run = RunFactory(ended_at=timezone.now(), calls=1)
    costing(run, 2)
    assert [one.cost for one in ledger_sums.since(begun)] == [2 * NANO]
    costing(run, 3)
    assert [one.cost for one in ledger_sums.since(begun)] == [2 * NANO], "kept"
    Run.objects.update(calls=2)
    assert [one.cost for one in ledger_sums.since(begun)] == [5 * NANO]
    assert ledger_sums.since(timezone.now()) == []


def test_runs_of_corpora_that_a_person_does_not_see_are_not_named(corpus, client_of):
    spent(9)
    costing(RunFactory(corpus=corpus, name="seen"), 4)
    costing(RunFactory(name="hidden one"), 5)
    person = MembershipFactory(corpus=corpus, role=Role.RESEARCHER.value).person
    page = shown(client_of(person).get(reverse("budget")))
    assert "seen" in page
    assert "hidden one" not in page
    assert "everything else" in page
    assert "Set the caps" not in page


@pytest.mark.parametrize("name", ["prices", "budget"])
def test_who_sees_no_runs_sees_no_money(labeler, client_of, name):
    assert client_of(labeler).get(reverse(name)).status_code == 403


def test_only_who_starts_runs_everywhere_acts(corpus, researcher, client_of):
    local = MembershipFactory(corpus=corpus, role=Role.ADMIN.value).person
    budget.workspace()
    provider = ProviderFactory()
    price = {"provider": provider.public_id, "model": "m", "input": "1", "output": "1"}
    for person in (local, researcher):
        browser = client_of(person)
        assert browser.get(reverse("budget")).status_code == 200
        assert browser.get(reverse("prices")).status_code == 200
        assert browser.post(reverse("budget"), {"hard_cap": "1"}).status_code == 403
        assert browser.post(reverse("budget_period"), {"typed": "new period"}).status_code == 403
        assert browser.get(reverse("price_new")).status_code == 403
        assert browser.post(reverse("price_new"), price).status_code == 403
    assert Workspace.objects.get().hard_cap is None
    assert not Price.objects.exists()
    assert not AuditEntry.objects.exists()


def test_models_without_a_price_stand_first(admin, client_of):
    known = ProviderFactory(name="A", base_url="https://api.openai.com/v1", default_model="gpt-4o-mini")
    local = ProviderFactory(name="Z", base_url="http://127.0.0.1:9000/v1", default_model="smollm2")
    RunPreset.objects.create(
        name="night", values={"provider": local.public_id, "tagger_model": "qwen", "model": ""}
    )
    answer = client_of(admin).get(reverse("prices"))
    assert [row.model for row in answer.context["rows"]] == ["qwen", "smollm2", "gpt-4o-mini"]
    page = shown(answer)
    assert "Named by preset “night”" in page
    assert f"?provider={local.public_id}&amp;model=qwen" in page
    assert not Price.objects.exists(), "a look at a page keeps nothing"
    prices.price_of(known, "gpt-4o-mini")
    assert "$0.60" in shown(client_of(admin).get(reverse("prices")))


def test_runs_name_models_in_every_role(admin, client_of):
    other = ProviderFactory(base_url="http://127.0.0.1:9000/v1", default_model="scripted")
    run = RunFactory()
    run.plan["models"]["user"] |= {"model": "own", "provider": other.public_id}
    run.plan["tagger"] = run.plan["models"]["tagger"] | {"model": "gpt-4o"}
    run.save()
    rows = client_of(admin).get(reverse("prices")).context["rows"]
    found = {(row.provider, row.model): row for row in rows}
    assert found[other, "own"].is_unknown
    assert found[other, "own"].named_by == f"run “{run.name}”"
    assert not found[run.provider, "gpt-4o"].is_unknown  # at the scripted address all is free


def test_a_price_is_set_on_its_page_and_former_ones_are_folded(admin, client_of):
    provider = ProviderFactory(base_url="https://api.openai.com/v1", default_model="gpt-4o-mini")
    prices.price_of(provider, "gpt-4o-mini")
    browser, form = client_of(admin), f"{reverse('price_new')}?provider={provider.public_id}"
    assert 'value="0.15"' in shown(browser.get(form))
    sent = {"provider": provider.public_id, "model": "gpt-4o-mini", "input": "1.25", "output": "10"}
    page = shown(browser.post(reverse("price_new"), sent, follow=True))
    for words in ("is set.", "$1.25", "$10.00", "1 other", "$0.15 in"):
        assert words in page


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"input": "-1"}, "greater than or equal to 0"),
        ({"output": "1000001"}, "less than or equal to 1000000"),
        ({"cached": "3"}, "No more than the price of input"),
        ({"valid_from": "2020-01-01T00:00"}, "Now or later"),
        ({"provider": "nobody"}, "Select a valid choice"),
        ({"model": " "}, "required"),
    ],
)
def test_a_wrong_price_is_said_beside_its_field(admin, client_of, wrong, words):
    sent = {"provider": ProviderFactory().public_id, "model": "m", "input": "1", "output": "1"} | wrong
    answer = client_of(admin).post(reverse("price_new"), sent)
    assert answer.status_code == 422
    assert words in shown(answer)
    assert not Price.objects.exists()


def test_calls_and_money_of_the_period_stand_beside_a_price(admin, client_of):
    budget.workspace()
    run = RunFactory()
    costing(run, 2, model="dear")
    costing(run, 1, model="dear")
    rows = client_of(admin).get(reverse("prices")).context["rows"]
    row = next(row for row in rows if row.model == "dear")
    assert (row.calls, row.cost) == (2, 3 * NANO)


def test_the_list_of_prices_asks_no_more_for_more_models(admin, client_of, django_assert_max_num_queries):
    budget.workspace()
    for number in range(30):
        run = RunFactory()
        costing(run, 1, model=f"m{number}")
        prices.set_price(
            by=admin, provider=run.provider, model=f"m{number}", input=Decimal(1), output=Decimal(1)
        )
    browser = client_of(admin)
    for name in ("prices", "budget"):
        with django_assert_max_num_queries(14):
            browser.get(reverse(name))


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, None),
        ({"soft_cap": 4 * NANO}, None),
        ({"soft_cap": 3 * NANO}, "warned"),
        ({"hard_cap": 4 * NANO, "soft_cap": 2 * NANO}, "warned"),
        ({"hard_cap": 3 * NANO, "soft_cap": 2 * NANO}, "full"),
        ({"hard_cap": 3 * NANO}, "full"),
    ],
)
def test_who_sees_runs_is_told_that_the_soft_cap_is_passed(researcher, labeler, client_of, fields, state):
    spent(3, **fields)
    told = selectors.notice(researcher)
    assert (told and ("full" if told.is_full else "warned")) == state
    assert selectors.notice(labeler) is None
    page = shown(client_of(researcher).get(reverse("runs")))
    assert ("soft cap is passed" in page) is (state == "warned")
    assert ("is used up" in page) is (state == "full")


def test_without_a_budget_nothing_is_told(researcher):
    assert selectors.notice(researcher) is None


def said(*arguments):
    out = StringIO()
    call_command("budget", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_budget_from_the_command_line():
    assert said() | {"counted_from": ""} == {
        "spent": "0",
        "set_aside": "0",
        "soft_cap": None,
        "hard_cap": None,
        "counted_from": "",
    }
    spent(3)
    row = said("--soft", "20.5", "--hard", "25")
    assert (row["spent"], row["soft_cap"], row["hard_cap"]) == ("3", "20.5", "25")
    row = said("--soft", "none", "--new-period")
    assert (row["spent"], row["soft_cap"], row["hard_cap"]) == ("0", None, "25")
    with pytest.raises(CommandError, match="cannot be above it"):
        said("--soft", "30")
    assert Workspace.objects.get().soft_cap is None
