"""What a model costs: the latest row, else nothing for the scripted model, else by the price list."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from threading import Barrier, Thread

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from simulation.domain.money import FREE, UnitPrice
from simulation.llm.price_list import listed
from simulation.models import AuditEntry, Price
from simulation.services import prices
from tests.factories.simulation import ProviderFactory

OPENAI = "https://api.openai.com/v1"
NOW = datetime.fromisoformat("2026-11-30T12:00:00+00:00")


def openai(**fields):
    return ProviderFactory(base_url=OPENAI, default_model="gpt-4o-mini", **fields)


def test_a_provider_is_known_by_its_address_not_by_its_models():
    known = listed(OPENAI, "gpt-4o-mini", NOW)
    assert known.unit == UnitPrice(Decimal("0.15"), Decimal("0.6"), Decimal("0.075"))
    assert "genai-prices" in known.note
    assert "dearest" not in known.note
    assert listed("http://127.0.0.1:8000/v1", "gpt-4o-mini", NOW) is None
    assert listed(OPENAI, "no-such-model", NOW) is None


def test_of_several_rates_the_dearest_counts():
    """By the hour (a night price), by the length of the prompt, and for input that is written to a cache."""
    night = listed("https://api.deepseek.com", "deepseek-chat", NOW)
    at_noon = listed("https://api.deepseek.com", "deepseek-chat", NOW.replace(hour=20))
    assert night == at_noon
    assert night.unit.input == Decimal("0.27")
    tiered = listed("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", NOW)
    assert tiered.unit.input >= Decimal("2.5")
    assert "dearest" in tiered.note


def test_a_price_that_begins_later_does_not_count_yet():
    before = listed(OPENAI, "o3", NOW.replace(year=2025, month=6, day=9))
    after = listed(OPENAI, "o3", NOW.replace(year=2025, month=6, day=10))
    assert before.unit.input > after.unit.input


@pytest.mark.parametrize(
    ("address", "model"),
    [
        ("https://api.perplexity.ai", "sonar"),
        (OPENAI, "text-embedding-3-small"),
    ],
)
def test_what_cannot_be_said_in_tokens_alone_has_no_list_price(address, model):
    """A fee a request, or no price of output at all."""
    assert listed(address, model, NOW) is None


@pytest.mark.django_db
def test_what_the_list_says_is_kept_as_a_row_once():
    provider = openai()
    first = prices.price_of(provider, "gpt-4o-mini")
    assert (first.source, first.unit.input) == ("package", Decimal("0.15"))
    assert "genai-prices" in first.note
    assert prices.price_of(provider, "gpt-4o-mini") == first
    assert Price.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["scripted", "gpt-4o-mini", "anything"])
def test_at_the_scripted_address_everything_is_free(model):
    price = prices.price_of(ProviderFactory(), model)
    assert (price.unit, price.source) == (FREE, "built in")


@pytest.mark.django_db
def test_a_model_that_is_none_is_free_elsewhere_too():
    assert prices.price_of(ProviderFactory(base_url="http://127.0.0.1:9000/v1"), "scripted").unit == FREE


@pytest.mark.django_db
def test_a_local_server_has_no_price_until_one_is_set():
    provider = ProviderFactory(name="room 4", base_url="http://127.0.0.1:9000/v1")
    assert prices.price_of(provider, "gpt-4o-mini") is None
    with pytest.raises(prices.UnknownPrice, match=r"gpt-4o-mini.*room 4.*page Prices") as refusal:
        prices.require([(ProviderFactory(), "scripted"), (provider, "gpt-4o-mini")])
    assert (refusal.value.provider, refusal.value.model) == (provider, "gpt-4o-mini")
    prices.set_price(by=None, provider=provider, model="gpt-4o-mini", input=Decimal(0), output=Decimal(0))
    prices.require([(provider, "gpt-4o-mini")])
    assert Price.objects.filter(provider=provider).count() == 1


@pytest.mark.django_db
def test_a_price_that_is_set_goes_first_and_former_ones_stay(admin):
    provider = openai()
    of_list = prices.price_of(provider, "gpt-4o-mini")
    mine = prices.set_price(
        by=admin, provider=provider, model="gpt-4o-mini", input=Decimal(1), output=Decimal(2), note="a deal"
    )
    assert prices.price_of(provider, "gpt-4o-mini") == mine
    assert prices.price_of(provider, "gpt-4o-mini", at=of_list.valid_from) == of_list
    assert set(Price.objects.all()) == {of_list, mine}
    entry = AuditEntry.objects.get(action="price.set")
    assert (entry.actor, entry.object_id) == (admin, mine.public_id)
    assert entry.details["input"] == "1"


@pytest.mark.django_db
def test_a_price_to_come_holds_from_its_moment_on():
    provider, soon = openai(), timezone.now() + timedelta(days=2)
    prices.price_of(provider, "gpt-4o-mini")
    amounts = {"input": Decimal(7), "output": Decimal(7)}
    prices.set_price(by=None, provider=provider, model="gpt-4o-mini", valid_from=soon, **amounts)
    assert prices.price_of(provider, "gpt-4o-mini").unit.input == Decimal("0.15")
    assert prices.price_of(provider, "gpt-4o-mini", at=soon).unit.input == 7


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"input": Decimal(-1)}, "input"),
        ({"output": Decimal("1000000.000001")}, "output"),
        ({"output": Decimal("NaN")}, "output"),
        ({"input": Decimal("0.0000001")}, "input"),
        ({"cached": Decimal("1.5")}, "cached"),
        ({"model": "  "}, "model"),
        ({"model": "m" * 101}, "model"),
        ({"note": "n" * 301}, "note"),
    ],
)
def test_a_price_that_cannot_be_is_refused_and_nothing_changes(fields, field):
    sent = {"model": "gpt-4o-mini", "input": Decimal(1), "output": Decimal(2)} | fields
    with pytest.raises(ValidationError) as problems:
        prices.set_price(by=None, provider=openai(), **sent)
    assert list(problems.value.message_dict) == [field]
    assert not Price.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_workers_that_look_at_once_keep_one_row():
    provider, together, found = openai(), Barrier(6), []

    def look():
        try:
            together.wait()
            found.append(prices.price_of(provider, "gpt-4o-mini"))
        finally:
            connection.close()

    workers = [Thread(target=look) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(found)) == 1
    assert Price.objects.count() == 1


def said(*arguments):
    out = StringIO()
    call_command("prices", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.django_db
def test_prices_from_the_command_line():
    openai(name="OpenAI")
    ProviderFactory(name="room 4", base_url="http://127.0.0.1:9000/v1", default_model="smollm2")
    unknown, known = said()
    assert (unknown["model"], unknown["input"], unknown["source"]) == ("smollm2", None, "")
    assert (known["model"], known["input"], known["source"]) == ("gpt-4o-mini", "0.15", "package")
    assert not Price.objects.exists()
    amounts = ("--input", "0.02", "--output", "0.04", "--cached", "0.01")
    (set_now,) = said("--set", "room 4", "smollm2", *amounts)
    assert (set_now["input"], set_now["cached"], set_now["source"]) == ("0.02", "0.01", "person")
    assert [row["source"] for row in said()] == ["package", "person"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (("--set", "nobody", "m", "--input", "1", "--output", "1"), "there are: room 4", 2),
        (("--set", "room 4", "m", "--input", "1"), "needs --input and --output", 2),
        (("--set", "room 4", "m", "--input", "-1", "--output", "1"), "input: From 0", 1),
        (("--set", "room 4", "m", "--input", "x", "--output", "1"), "invalid amount value", 1),
    ],
)
def test_the_command_says_what_is_wrong(arguments, words, status):
    ProviderFactory(name="room 4")
    with pytest.raises(CommandError, match=words) as refusal:
        call_command("prices", *arguments)
    assert refusal.value.returncode == status
    assert not Price.objects.exists()
