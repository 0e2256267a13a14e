"""Where models may be reached, and where not: nothing private unless listed, never a key in a row."""

import pytest
from django.core.exceptions import ValidationError

from simulation.models import AuditEntry, Provider
from simulation.services import completions, providers

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_guard(settings):
    settings.LLM_PRIVATE_ADDRESSES = ("127.0.0.1:8123",)
    completions.guard.cache_clear()
    yield
    completions.guard.cache_clear()


def add(**change):
    fields = {"name": "here", "base_url": "http://127.0.0.1:8123/v1", "default_model": "m"} | change
    return providers.add(by=None, **fields)


def test_a_listed_private_address_is_taken():
    assert add().pk
    assert AuditEntry.objects.filter(action="provider.added").count() == 1


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8124/v1",
        "http://localhost:6379/",
        "http://169.254.169.254/latest/meta-data/",
        "https://10.0.0.8/v1",
        "https://[::1]/v1",
        "https://2130706433/v1",
        "http://example.org/v1",
        "ftp://example.org",
        "https://user:secret@example.org/v1",
        "nonsense",
        "",
    ],
)
def test_any_other_private_or_odd_address_is_refused_beside_its_field(address):
    with pytest.raises(ValidationError) as refused:
        add(base_url=address)
    assert "base_url" in refused.value.message_dict
    assert not Provider.objects.exists()


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "sk-abc123", "openai_api_key", "X_API_KEY\n"])
def test_only_a_variable_meant_for_keys_can_be_named(name):
    """Otherwise whoever adds a provider could have any secret of the server sent to an address of theirs."""
    with pytest.raises(ValidationError) as refused:
        add(key_variable=name)
    assert "key_variable" in refused.value.message_dict


def test_whether_the_key_is_there_is_said_without_its_value(monkeypatch):
    provider = add(key_variable="NICE_API_KEY")
    assert not providers.key_present(provider)
    monkeypatch.setenv("NICE_API_KEY", "k")
    assert providers.key_present(provider)


def test_a_name_that_is_taken_is_refused_beside_its_field():
    add()
    with pytest.raises(ValidationError) as refused:
        add()
    assert "name" in refused.value.message_dict


@pytest.mark.parametrize("seconds", [0, 3601])
def test_a_timeout_out_of_range_is_refused(seconds):
    with pytest.raises(ValidationError, match="3600"):
        add(timeout_seconds=seconds)
